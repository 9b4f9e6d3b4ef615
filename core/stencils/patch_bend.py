# SPDX-License-Identifier: GPL-3.0-or-later
"""The law of a patch whose rest shape is curved.

Columns F_1, F_2, F_3 and w_u, w_v of `patch_geometry`, rest values r_c, and the triangle's normal n:

    energy   psi = k/2 sum_c |F_c - r_c n|^2,     n = w_u x w_v / |w_u x w_v|          [J]

The rest values turn with the triangle, so that a mesh that is modelled curved is at rest as it is modelled.
With w^u, w^v dual to w_u, w_v in their plane, dn/dw_u = -w^u n^T. For r = 0 this is `Quadratic`.

A triangle without area has no normal, and one that is nearly so a normal that turns with the least motion: a crease
that presses three vertices onto a line made stiffnesses of 1e20. Below an area of `THIN` times that at rest, n is
w_u x w_v / THIN, which vanishes with the area; the projected tangent there is that of its turning alone.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray
from .components import (
    TINY,
    Block,
    Columns,
    Vector,
    add,
    add_blocks,
    cross,
    cross_block,
    direction,
    dot,
    either,
    identity_block,
    length,
    outer,
    scale,
    scale_block,
    transpose,
)
from .stencil import Condition, Parameters, Tangent

THIN = 1e-3
"""Area, over that at rest, below which a triangle's normal is not of unit length any more [-]."""


class CurvedPatch:
    """Parameters: k [N m], r_1, r_2, r_3 [-]."""

    name = "curved_patch"
    constant_tangent = False
    linear = False
    stiffness = {"bend": (0,)}
    curls = True

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""
        n, _, _, part = _frame(F[3], F[4])
        a, b, c = _off(F, p, scale(part, n))
        return 0.5 * p[0] * (dot(a, a) + dot(b, b) + dot(c, c))

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """k (F_c - r_c n), k (q . w^u) n and k (q . w^v) n, with q = sum r_c F_c; of thin triangles, whose n grows with
        their area, k (r_c n - F_c) . n r_c / |n| w^u besides."""
        k = p[0]
        n, du, dv, part = _frame(F[3], F[4])
        q = _weighted(F, p)
        a, b, c = _off(F, p, scale(part, n))
        grows = -k * either(part < 1.0, dot(_weighted((a, b, c), p), n), 0.0 * k)
        return (scale(k, a), scale(k, b), scale(k, c), add(scale(k * dot(q, du), n), scale(grows, du)),
                add(scale(k * dot(q, dv), n), scale(grows, dv)))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Exact."""
        n, du, dv, part = _frame(F[3], F[4])
        q, one = _weighted(F, p), 1.0 + 0.0 * part
        thin = _thin(F, p, part < 1.0)
        u = _either(part, outer(one, du, n), thin[0])
        v = _either(part, outer(one, dv, n), thin[1])
        return _blocks(p, u, v, (
            (_either(part, _turn(q, n, du, du), thin[2]), _either(part, _turn(q, n, du, dv), thin[3])),
            (_either(part, _turn(q, n, dv, du), transpose(thin[3])), _either(part, _turn(q, n, dv, dv), thin[4]))))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """J^T J with J the derivative of F_c - r_c n: semi-definite by form."""
        n, du, dv, part = _frame(F[3], F[4])
        one = 1.0 + 0.0 * part
        size = p[1] * p[1] + p[2] * p[2] + p[3] * p[3]
        mixed = outer(size * dot(du, dv), n, n)
        return _blocks(p, outer(one, du, n), outer(one, dv, n), (
            (outer(size * dot(du, du), n, n), mixed), (mixed, outer(size * dot(dv, dv), n, n))))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """The lengths |F_c - r_c n|."""
        n, du, dv, part = _frame(F[3], F[4])
        zero = 0.0 * p[0]
        still = (zero, zero, zero)
        a, b, c = _off(F, p, scale(part, n))
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


def _thin(F: Columns, p: Parameters, thin: BoolArray) -> tuple[Block, Block, Block, Block, Block]:
    """Of thin triangles, whose n is w_u x w_v / THIN: -dn/dw_u, -dn/dw_v and the parts of the tangent of (w_u, w_u),
    (w_u, w_v), (w_v, w_v) over k; zero of others."""
    u, v, over = F[3], F[4], thin * (1.0 / THIN)
    square = (p[1] * p[1] + p[2] * p[2] + p[3] * p[3]) * (over * over)
    a, b, c = _off(F, p, scale(over, cross(u, v)))
    mixed = add_blocks(identity_block(-square * dot(u, v)), outer(square, u, v))
    return (cross_block(over, v), cross_block(-over, u),
            add_blocks(identity_block(square * dot(v, v)), outer(-square, v, v)),
            add_blocks(mixed, cross_block(over, _weighted((a, b, c), p))),
            add_blocks(identity_block(square * dot(u, u)), outer(-square, u, u)))


def _either(part: FloatArray, full: Block, thin: Block) -> Block:
    """A block of triangles whose n is of full length, and one that is zero of these."""
    return add_blocks(scale_block(1.0 * (part >= 1.0), full), thin)


def _blocks(p: Parameters, u: Block, v: Block, inner: Tangent) -> Tangent:
    """H with identity on F_c, r_c times u = -dn/dw_u and v = -dn/dw_v coupling, and `inner` on (w_u, w_v); all
    times k."""
    k = p[0]
    one, zero = identity_block(k), identity_block(0.0 * k)
    u0, u1, u2 = scale_block(k * p[1], u), scale_block(k * p[2], u), scale_block(k * p[3], u)       # d P_c / d w_u
    v0, v1, v2 = scale_block(k * p[1], v), scale_block(k * p[2], v), scale_block(k * p[3], v)       # d P_c / d w_v
    return ((one, zero, zero, u0, v0), (zero, one, zero, u1, v1), (zero, zero, one, u2, v2),
            (transpose(u0), transpose(u1), transpose(u2), scale_block(k, inner[0][0]), scale_block(k, inner[0][1])),
            (transpose(v0), transpose(v1), transpose(v2), scale_block(k, inner[1][0]), scale_block(k, inner[1][1])))


def _frame(u: Vector, v: Vector) -> tuple[Vector, Vector, Vector, FloatArray]:
    """The normal, of unit length; w^u, w^v in the plane with w^a . w_b = delta_ab; how long n is. Of a thin triangle
    w^u, w^v are as those of `THIN`."""
    normal = cross(u, v)
    area = length(normal)
    n = scale(1.0 / np.maximum(area, TINY), normal)
    over = 1.0 / np.maximum(area, THIN)
    return n, scale(over, cross(v, n)), scale(over, cross(n, u)), np.minimum(area * (1.0 / THIN), 1.0)


def _weighted(F: Columns, p: Parameters) -> Vector:
    return add(add(scale(p[1], F[0]), scale(p[2], F[1])), scale(p[3], F[2]))
