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
    Block,
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
    linear = False
    stiffness = {"bend": (0,)}
    curls = True

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""
        n, _, _ = _frame(F[3], F[4])
        a, b, c = _off(F, p, n)
        return 0.5 * p[0] * (dot(a, a) + dot(b, b) + dot(c, c))

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """k (F_c - r_c n), k (q . w^u) n and k (q . w^v) n, with q = sum r_c F_c."""
        k = p[0]
        n, du, dv = _frame(F[3], F[4])
        q = _weighted(F, p)
        a, b, c = _off(F, p, n)
        return (scale(k, a), scale(k, b), scale(k, c), scale(k * dot(q, du), n), scale(k * dot(q, dv), n))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Exact."""
        n, du, dv = _frame(F[3], F[4])
        q = _weighted(F, p)
        return _blocks(p, n, du, dv, ((_turn(q, n, du, du), _turn(q, n, du, dv)),
                                      (_turn(q, n, dv, du), _turn(q, n, dv, dv))))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """J^T J with J the derivative of F_c - r_c n: semi-definite by form."""
        n, du, dv = _frame(F[3], F[4])
        size = p[1] * p[1] + p[2] * p[2] + p[3] * p[3]
        mixed = outer(size * dot(du, dv), n, n)
        return _blocks(p, n, du, dv, ((outer(size * dot(du, du), n, n), mixed),
                                      (mixed, outer(size * dot(dv, dv), n, n))))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """The lengths |F_c - r_c n|."""
        n, du, dv = _frame(F[3], F[4])
        zero = 0.0 * p[0]
        still = (zero, zero, zero)
        a, b, c = _off(F, p, n)
        a, b, c = direction(a), direction(b), direction(c)
        return ((p[0], (a, still, still, scale(p[1] * dot(a, du), n), scale(p[1] * dot(a, dv), n))),
                (p[0], (still, b, still, scale(p[2] * dot(b, du), n), scale(p[2] * dot(b, dv), n))),
                (p[0], (still, still, c, scale(p[3] * dot(c, du), n), scale(p[3] * dot(c, dv), n))))


def _off(F: Columns, p: Parameters, n: Vector) -> Columns:
    """F_c - r_c n."""
    return (add(F[0], scale(-p[1], n)), add(F[1], scale(-p[2], n)), add(F[2], scale(-p[3], n)))


def _turn(q: Vector, n: Vector, a: Vector, b: Vector) -> Block:
    """The part of the tangent that stress and the turning of n make, for the columns that a and b are dual to."""
    return add_blocks(outer(dot(q, n) * dot(a, b), n, n), add_blocks(outer(-dot(q, b), n, a), outer(-dot(q, a), b, n)))


def _blocks(p: Parameters, n: Vector, du: Vector, dv: Vector, inner: Tangent) -> Tangent:
    """H with identity on F_c, r_c n-to-w coupling, and `inner` on (w_u, w_v); all times k."""
    k = p[0]
    one, zero = identity_block(k), identity_block(0.0 * k)
    u0, u1, u2 = outer(k * p[1], du, n), outer(k * p[2], du, n), outer(k * p[3], du, n)      # d P_c / d w_u
    v0, v1, v2 = outer(k * p[1], dv, n), outer(k * p[2], dv, n), outer(k * p[3], dv, n)
    return ((one, zero, zero, u0, v0), (zero, one, zero, u1, v1), (zero, zero, one, u2, v2),
            (transpose(u0), transpose(u1), transpose(u2), scale_block(k, inner[0][0]), scale_block(k, inner[0][1])),
            (transpose(v0), transpose(v1), transpose(v2), scale_block(k, inner[1][0]), scale_block(k, inner[1][1])))


def _frame(u: Vector, v: Vector) -> tuple[Vector, Vector, Vector]:
    """The unit normal, and w^u, w^v in the plane with w^a . w_b = delta_ab."""
    normal = cross(u, v)
    over = 1.0 / np.maximum(length(normal), TINY)
    n = scale(over, normal)
    return n, scale(over, cross(v, n)), scale(over, cross(n, u))


def _weighted(F: Columns, p: Parameters) -> Vector:
    return add(add(scale(p[1], F[0]), scale(p[2], F[1])), scale(p[3], F[2]))
