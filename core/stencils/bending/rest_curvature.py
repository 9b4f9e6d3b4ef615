# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of a patch's bending energy that a curved rest shape adds.

Columns F_1, F_2, F_3 and w_u, w_v of `patch_geometry`, rest values r_c, and the triangle's normal n:

    energy   psi = k/2 sum_c |F_c - r_c n|^2,     n = w_u x w_v / |w_u x w_v|          [J]

The rest values rotate with the triangle, so a mesh that is modelled curved has zero energy in that shape. Because n has
length one,

    psi = k/2 sum_c |F_c|^2 + k (rho/2 - q . n),     q = sum_c r_c F_c,     rho = sum_c r_c^2

The first term is the energy of the flat patch, with a constant isotropic tangent (`Quadratic`). The second term is the
law of this file. It has one column q of all vertices of the patch, and the columns w_u, w_v of the triangle's three.
With w^u, w^v dual to w_u, w_v in their plane, dn/dw_u = -w^u n^T.

A triangle without area has no normal, and the normal of a nearly degenerate one turns with the smallest motion, which
gives very large stiffnesses. Below a = LEAST_NORMAL_AREA times the area at rest, n is replaced by m = w_u x w_v / a,
which vanishes with the area, and psi = k/2 sum_c |F_c|^2 + k (rho/2 |m|^2 - q . m). The projected tangent there keeps
the part from the rotation of the normal alone.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Block,
    Columns,
    Vector,
    add,
    add_blocks,
    cross,
    cross_block,
    dot,
    either,
    identity_block,
    length,
    outer,
    scale,
    scale_block,
    transpose,
)
from ..stencil import Condition, Parameters, Tangent

LEAST_NORMAL_AREA = 1e-3
"""Area of a triangle, over that at rest, below which its normal is shorter than one [-]."""


class RestCurvature:
    """Columns q, w_u, w_v; parameters k [N m], rho [-]."""

    name = "rest_curvature"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"bend": (0,)}
    rest_kind = "curvature"
    has_rest_curvature = True
    completes_constant_law = True

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J] without the energy of the flat patch."""
        n, _, _, part = _frame(F[1], F[2])
        return p[0] * (0.5 * p[1] * (part * part) - part * dot(F[0], n))

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return -k n, k (q . w^u) n and k (q . w^v) n.

        Thin triangles, whose |m| grows with their area, add k (rho m - q) . n w^u, and the same with w^v.
        """
        n, du, dv, part = _frame(F[1], F[2])
        k, q = p[0], F[0]
        grows = k * either(part < 1.0, p[1] * part - dot(q, n), 0.0 * k)
        return (scale(-k * part, n), add(scale(k * dot(q, du), n), scale(grows, du)),
                add(scale(k * dot(q, dv), n), scale(grows, dv)))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H."""
        n, du, dv, part = _frame(F[1], F[2])
        q, one = F[0], 1.0 + 0.0 * part
        thin = _thin(F, p, part < 1.0)
        return _blocks(p, _either(part, outer(one, du, n), thin[0]), _either(part, outer(one, dv, n), thin[1]), (
            (_either(part, _turn(q, n, du, du), thin[2]), _either(part, _turn(q, n, du, dv), thin[3])),
            (_either(part, _turn(q, n, dv, du), transpose(thin[3])), _either(part, _turn(q, n, dv, dv), thin[4]))))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return J^T J minus the flat patch's k I, where J is the derivative of F_c - r_c n.

        It is positive semi-definite only together with the flat patch.
        """
        n, du, dv, part = _frame(F[1], F[2])
        one = 1.0 + 0.0 * part
        mixed = outer(p[1] * dot(du, dv), n, n)
        return _blocks(p, outer(one, du, n), outer(one, dv, n), (
            (outer(p[1] * dot(du, du), n, n), mixed), (mixed, outer(p[1] * dot(dv, dv), n, n))))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return one condition of zero stiffness: the flat patch damps the lengths |F_c|."""
        zero = 0.0 * p[0]
        still = (zero, zero, zero)
        return ((zero, (still, still, still)),)


def _turn(q: Vector, n: Vector, a: Vector, b: Vector) -> Block:
    """Return the part of the tangent from the stress and the rotation of n, for the columns that a and b are dual to.
    """
    return add_blocks(outer(dot(q, n) * dot(a, b), n, n), add_blocks(outer(-dot(q, b), n, a), outer(-dot(q, a), b, n)))


def _thin(F: Columns, p: Parameters, thin: BoolArray) -> tuple[Block, Block, Block, Block, Block]:
    """Return the parts of the tangent of thin triangles, where n is m = w_u x w_v / LEAST_NORMAL_AREA.

    These are -dm/dw_u and -dm/dw_v, and the blocks (w_u, w_u), (w_u, w_v), (w_v, w_v) of the tangent over k. They are
    zero for the other triangles.
    """
    u, v, over = F[1], F[2], thin * (1.0 / LEAST_NORMAL_AREA)
    square = p[1] * (over * over)
    off = add(F[0], scale(-p[1] * over, cross(u, v)))                                    # q - rho m
    mixed = add_blocks(identity_block(-square * dot(u, v)), outer(square, u, v))
    return (cross_block(over, v), cross_block(-over, u),
            add_blocks(identity_block(square * dot(v, v)), outer(-square, v, v)),
            add_blocks(mixed, cross_block(over, off)),
            add_blocks(identity_block(square * dot(u, u)), outer(-square, u, u)))


def _either(part: FloatArray, full: Block, thin: Block) -> Block:
    """Return `full` for triangles with a unit normal, else `thin`; `thin` is zero for the former."""
    return add_blocks(scale_block(1.0 * (part >= 1.0), full), thin)


def _blocks(p: Parameters, u: Block, v: Block, inner: Tangent) -> Tangent:
    """Return H [N m] from u = -dn/dw_u and v = -dn/dw_v, which couple q, and `inner` on (w_u, w_v), all over k."""
    k = p[0]
    u, v = scale_block(k, u), scale_block(k, v)
    return ((identity_block(0.0 * k), u, v),
            (transpose(u), scale_block(k, inner[0][0]), scale_block(k, inner[0][1])),
            (transpose(v), scale_block(k, inner[1][0]), scale_block(k, inner[1][1])))


def _frame(u: Vector, v: Vector) -> tuple[Vector, Vector, Vector, FloatArray]:
    """Return the unit normal, the dual vectors w^u, w^v in the plane with w^a . w_b = delta_ab, and the length of n or
    m.

    For thin triangles w^u and w^v are scaled as at an area of LEAST_NORMAL_AREA.
    """
    normal = cross(u, v)
    area = length(normal)
    n = scale(1.0 / np.maximum(area, SMALLEST_DIVISOR), normal)
    over = 1.0 / np.maximum(area, LEAST_NORMAL_AREA)
    return n, scale(over, cross(v, n)), scale(over, cross(n, u)), np.minimum(area * (1.0 / LEAST_NORMAL_AREA), 1.0)
