# SPDX-License-Identifier: GPL-3.0-or-later
"""The law of a patch whose rest shape is curved.

Columns F_1, F_2, F_3 and w_u, w_v of `patch_geometry`, rest values r_c, and the triangle's normal n:

    energy   psi = k/2 sum_c |F_c - r_c n|^2,     n = w_u x w_v / |w_u x w_v|          [J]

The rest values turn with the triangle, so that a mesh that is modelled curved is at rest as it is modelled.
With w^u, w^v dual to w_u, w_v in their plane, dn/dw_u = -w^u n^T. For r = 0 this is `Quadratic`.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from .components import (
    TINY,
    Columns,
    Vector,
    add,
    add_blocks,
    cross,
    direction,
    dot,
    identity_block,
    length,
    outer,
    scale,
    scale_block,
    transpose,
)
from .stencil import Condition, Parameters, Tangent


class CurvedPatch:
    """Parameters: k [N m], r_1, r_2, r_3 [-]."""

    name = "curved_patch"
    constant_tangent = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""
        n, _, _ = _frame(F[3], F[4])
        total = 0.0 * p[0]
        for c in range(3):
            off = add(F[c], scale(-p[1 + c], n))
            total = total + dot(off, off)
        return 0.5 * p[0] * total

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """k (F_c - r_c n), k (q . w^u) n and k (q . w^v) n, with q = sum r_c F_c."""
        k = p[0]
        n, du, dv = _frame(F[3], F[4])
        q = _weighted(F, p)
        return (*(scale(k, add(F[c], scale(-p[1 + c], n))) for c in range(3)),
                scale(k * dot(q, du), n), scale(k * dot(q, dv), n))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Exact."""
        n, du, dv = _frame(F[3], F[4])
        q = _weighted(F, p)
        high, along = dot(q, n), (dot(q, du), dot(q, dv))

        def block(i: int, j: int) -> tuple[Vector, Vector, Vector]:
            a, b = (du, dv)[i], (du, dv)[j]
            return add_blocks(outer(high * dot(a, b), n, n),
                              add_blocks(outer(-along[j], n, a), outer(-along[i], b, n)))

        return _blocks(p, n, (du, dv), tuple(tuple(block(i, j) for j in (0, 1)) for i in (0, 1)))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """J^T J with J the derivative of F_c - r_c n: semi-definite by form."""
        n, du, dv = _frame(F[3], F[4])
        size = p[1] * p[1] + p[2] * p[2] + p[3] * p[3]
        return _blocks(p, n, (du, dv), tuple(tuple(outer(size * dot(a, b), n, n) for b in (du, dv)) for a in (du, dv)))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """The lengths |F_c - r_c n|."""
        n, du, dv = _frame(F[3], F[4])
        zero = 0.0 * p[0]
        still = (zero, zero, zero)
        conditions = []
        for c in range(3):
            off = direction(add(F[c], scale(-p[1 + c], n)))
            conditions.append((p[0], (*(off if c == d else still for d in range(3)),
                                      scale(p[1 + c] * dot(off, du), n), scale(p[1 + c] * dot(off, dv), n))))
        return tuple(conditions)


def _blocks(p: Parameters, n: Vector, dual: tuple[Vector, Vector], inner: Tangent) -> Tangent:
    """H with identity on F_c, r_c n-to-w coupling, and `inner` on (w_u, w_v); all times k."""
    k = p[0]
    diagonal, zero = identity_block(k), identity_block(0.0 * k)
    coupling = tuple(tuple(outer(k * p[1 + c], a, n) for a in dual) for c in range(3))       # d P_c / d w_a
    rows = [tuple(diagonal if c == d else zero for d in range(3)) + coupling[c] for c in range(3)]
    rows += [tuple(transpose(coupling[c][a]) for c in range(3)) + tuple(scale_block(k, inner[a][b]) for b in (0, 1))
             for a in (0, 1)]
    return tuple(rows)


def _frame(u: Vector, v: Vector) -> tuple[Vector, Vector, Vector]:
    """The unit normal, and w^u, w^v in the plane with w^a . w_b = delta_ab."""
    normal = cross(u, v)
    over = 1.0 / np.maximum(length(normal), TINY)
    n = scale(over, normal)
    return n, scale(over, cross(v, n)), scale(over, cross(n, u))


def _weighted(F: Columns, p: Parameters) -> Vector:
    return add(add(scale(p[1], F[0]), scale(p[2], F[1])), scale(p[3], F[2]))
