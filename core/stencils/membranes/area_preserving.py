# SPDX-License-Identifier: GPL-3.0-or-later
"""The area-preserving force of Kim 2008 (000), which keeps a sheet of threads from skewing.

Columns are differences x_u and x_v along two crossing threads, over their rest lengths (see `thread_cloth`).

    area       g   = |x_u|^2 |x_v|^2 - (x_u . x_v)^2,  the squared area spanned by x_u and x_v
    energy     psi = k_a A (g - 1)^2 / 4                                           [J]
    stress     P_u = k_a A (g - 1) (|x_v|^2 x_u - (x_u . x_v) x_v),  P_v likewise  [N m]

with A [m^2] the share of the rest area that the two columns stand for, and k_a [N/m]. With the central differences of
the source, x_u = (x_(i+1) - x_(i-1)) / (2 dl), and A = dl^2, psi gives the force of the source, k_a (g - 1) dl / 2
(...). For small strains g - 1 is twice the sum of the strains: the force adds 2 k_a to the stiffness along a thread
whose crossing neighbours are held. A skew gamma has the energy k_a A gamma^4 / 4: resistance is zero at first and
strong at large skew.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..component_algebra import (
    Block,
    Columns,
    Vector,
    add,
    add_blocks,
    cross,
    direction,
    dot,
    identity_block,
    outer,
    scale,
    scale_block,
)
from ..stencil import Condition, Parameters, Tangent


class AreaPreserving:
    """Parameter: k_a A [N m]."""

    name = "area preserving"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"shear": (0,)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        away = _area(F) - 1.0
        return 0.25 * p[0] * away * away

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P_u, P_v [N m]."""
        a, b = _half_gradient(F)
        push = p[0] * (_area(F) - 1.0)
        return (scale(push, a), scale(push, b))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return k_a A (2 a b^T + (g - 1) d^2 g/dF^2 / 2), with a, b halves of dg/dF; it is indefinite where the area
        is less than at rest.
        """
        push = p[0] * (_area(F) - 1.0)
        (uu, uv), (vu, vv) = _outer_tangent(F, p[0])
        h_uu, h_uv, h_vu, h_vv = _half_second(F)
        return ((add_blocks(uu, scale_block(push, h_uu)), add_blocks(uv, scale_block(push, h_uv))),
                (add_blocks(vu, scale_block(push, h_vu)), add_blocks(vv, scale_block(push, h_vv))))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the first term, plus, where the area has grown, the resistance to rotating x_u and x_v out of their
        plane.
        """
        push = np.maximum(p[0] * (_area(F) - 1.0), 0.0 * p[0])
        (uu, uv), (vu, vv) = _outer_tangent(F, p[0])
        u, v = F
        normal = _normal(u, v)
        across, mixed = outer(push * dot(v, v), normal, normal), outer(-push * dot(u, v), normal, normal)
        other = outer(push * dot(u, u), normal, normal)
        return ((add_blocks(uu, across), add_blocks(uv, mixed)), (add_blocks(vu, mixed), add_blocks(vv, other)))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition g - 1, of stiffness k_a A / 2."""
        a, b = _half_gradient(F)
        return ((0.5 * p[0], (scale(2.0 + 0.0 * p[0], a), scale(2.0 + 0.0 * p[0], b))),)


def _area(F: Columns) -> FloatArray:
    """Return g."""
    u, v = F
    return dot(u, u) * dot(v, v) - dot(u, v) ** 2


def _half_gradient(F: Columns) -> Columns:
    """Return half of dg/dF."""
    u, v = F
    skew = dot(u, v)
    return (add(scale(dot(v, v), u), scale(-skew, v)), add(scale(dot(u, u), v), scale(-skew, u)))


def _outer_tangent(F: Columns, k: FloatArray) -> Tangent:
    """Return 2 k a b^T, with a, b halves of dg/dF."""
    a, b = _half_gradient(F)
    return ((outer(2.0 * k, a, a), outer(2.0 * k, a, b)), (outer(2.0 * k, b, a), outer(2.0 * k, b, b)))


def _half_second(F: Columns) -> tuple[Block, Block, Block, Block]:
    """Return half of d^2 g/dF^2: the blocks uu, uv, vu, vv."""
    u, v = F
    one, skew = 1.0 + 0.0 * u[0], dot(u, v)
    uu = add_blocks(identity_block(dot(v, v)), outer(-one, v, v))
    vv = add_blocks(identity_block(dot(u, u)), outer(-one, u, u))
    uv = add_blocks(add_blocks(outer(2.0 * one, u, v), outer(-one, v, u)), identity_block(-skew))
    vu = add_blocks(add_blocks(outer(2.0 * one, v, u), outer(-one, u, v)), identity_block(-skew))
    return uu, uv, vu, vv


def _normal(u: Vector, v: Vector) -> Vector:
    """Return the unit normal, or zero where u and v are parallel."""
    return direction(cross(u, v))
