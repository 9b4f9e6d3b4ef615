# SPDX-License-Identifier: GPL-3.0-or-later
"""What a curved rest shape adds to a patch.

Columns F_1, F_2, F_3 and w_u, w_v of `patch_geometry`, rest values r_c, and the triangle's normal n:

    energy   psi = k/2 sum_c |F_c - r_c n|^2,     n = w_u x w_v / |w_u x w_v|          [J]

The rest values turn with the triangle, so that a mesh that is modelled curved is at rest as it is modelled. As n has
length one, that is

    psi = k/2 sum_c |F_c|^2 + k (rho/2 - q . n),     q = sum_c r_c F_c,     rho = sum_c r_c^2

of which the first is the flat patch's, with a tangent that is constant and the same in all directions, and the second,
the law of this file, has one column of all the patch's vertices and two of the triangle's three. With w^u, w^v dual to
w_u, w_v in their plane, dn/dw_u = -w^u n^T.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from .components import (
    TINY,
    Block,
    Columns,
    Vector,
    add_blocks,
    cross,
    dot,
    identity_block,
    length,
    outer,
    scale,
    scale_block,
    transpose,
)
from .stencil import Condition, Parameters, Tangent


class RestCurvature:
    """Columns q, w_u, w_v; parameters k [N m], rho [-]."""

    name = "rest_curvature"
    constant_tangent = False
    linear = False
    stiffness = {"bend": (0,)}
    curls = True
    completes = True

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J], without the flat patch's."""
        n, _, _ = _frame(F[1], F[2])
        return p[0] * (0.5 * p[1] - dot(F[0], n))

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """-k n, k (q . w^u) n and k (q . w^v) n."""
        n, du, dv = _frame(F[1], F[2])
        return (scale(-p[0], n), scale(p[0] * dot(F[0], du), n), scale(p[0] * dot(F[0], dv), n))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Exact."""
        n, du, dv = _frame(F[1], F[2])
        q = F[0]
        return _blocks(p, n, du, dv, ((_turn(q, n, du, du), _turn(q, n, du, dv)),
                                      (_turn(q, n, dv, du), _turn(q, n, dv, dv))))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """What J^T J, with J the derivative of F_c - r_c n, has beyond the flat patch's k I: semi-definite with that,
        not by itself."""
        n, du, dv = _frame(F[1], F[2])
        mixed = outer(p[1] * dot(du, dv), n, n)
        return _blocks(p, n, du, dv, ((outer(p[1] * dot(du, du), n, n), mixed),
                                      (mixed, outer(p[1] * dot(dv, dv), n, n))))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """One of no stiffness: the flat patch's lengths |F_c| are those that are damped."""
        zero = 0.0 * p[0]
        still = (zero, zero, zero)
        return ((zero, (still, still, still)),)


def _turn(q: Vector, n: Vector, a: Vector, b: Vector) -> Block:
    """The part of the tangent that stress and the turning of n make, for the columns that a and b are dual to."""
    return add_blocks(outer(dot(q, n) * dot(a, b), n, n), add_blocks(outer(-dot(q, b), n, a), outer(-dot(q, a), b, n)))


def _blocks(p: Parameters, n: Vector, du: Vector, dv: Vector, inner: Tangent) -> Tangent:
    """H with n-to-w coupling of q, and `inner` on (w_u, w_v); all times k."""
    k = p[0]
    zero = identity_block(0.0 * k)
    u, v = outer(k, du, n), outer(k, dv, n)                                              # d P_q / d w_u, d w_v
    return ((zero, u, v),
            (transpose(u), scale_block(k, inner[0][0]), scale_block(k, inner[0][1])),
            (transpose(v), scale_block(k, inner[1][0]), scale_block(k, inner[1][1])))


def _frame(u: Vector, v: Vector) -> tuple[Vector, Vector, Vector]:
    """The unit normal, and w^u, w^v in the plane with w^a . w_b = delta_ab."""
    normal = cross(u, v)
    over = 1.0 / np.maximum(length(normal), TINY)
    n = scale(over, normal)
    return n, scale(over, cross(v, n)), scale(over, cross(n, u))
