# SPDX-License-Identifier: GPL-3.0-or-later
"""Resistance of a tetrahedron to a change of its volume.

Columns F_1, F_2, F_3 of the deformation gradient; J = F_1 . (F_2 x F_3) is the volume over that at rest, and k = lambda
V [J], with the first Lame constant lambda [Pa] and the rest volume V:

    energy      psi = k/2 (J - 1)^2                               [J]
    stress      P_c = k (J - 1) G_c,   G_c = dJ/dF_c              [J]
    stiffness   H   = k (G G^T + (J - 1) d^2J/dF^2)

Together with w/2 V |F - R|^2, w = 2 mu, this is linear elasticity for small strains and any rotation. The projected
tangent is the first term alone, which is positive semi-definite, and exact at the rest volume.
"""

from __future__ import annotations

from ...arrays import FloatArray
from ..component_algebra import Block, Columns, Vector, add_blocks, cross, cross_block, dot, outer, scale
from ..stencil import Condition, Parameters, Tangent


class VolumePreserving:
    """Parameter: k = lambda V [J]."""

    name = "volume"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"volume": (0,)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        change = _ratio(F) - 1.0
        return 0.5 * p[0] * change * change

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P_c = k (J - 1) G_c."""
        push = p[0] * (_ratio(F) - 1.0)
        G = _gradient(F)
        return (scale(push, G[0]), scale(push, G[1]), scale(push, G[2]))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H."""
        k, G = p[0], _gradient(F)
        s = k * (_ratio(F) - 1.0)
        return ((outer(k, G[0], G[0]), _block(k, G[0], G[1], -s, F[2]), _block(k, G[0], G[2], s, F[1])),
                (_block(k, G[1], G[0], s, F[2]), outer(k, G[1], G[1]), _block(k, G[1], G[2], -s, F[0])),
                (_block(k, G[2], G[0], -s, F[1]), _block(k, G[2], G[1], s, F[0]), outer(k, G[2], G[2])))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return k G G^T."""
        k, G = p[0], _gradient(F)
        return ((outer(k, G[0], G[0]), outer(k, G[0], G[1]), outer(k, G[0], G[2])),
                (outer(k, G[1], G[0]), outer(k, G[1], G[1]), outer(k, G[1], G[2])),
                (outer(k, G[2], G[0]), outer(k, G[2], G[1]), outer(k, G[2], G[2])))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition J - 1."""
        return ((p[0], _gradient(F)),)


def _ratio(F: Columns) -> FloatArray:
    """Return J."""
    return dot(F[0], cross(F[1], F[2]))


def _gradient(F: Columns) -> Columns:
    """Return G_c = dJ/dF_c."""
    return (cross(F[1], F[2]), cross(F[2], F[0]), cross(F[0], F[1]))


def _block(k: FloatArray, a: Vector, b: Vector, s: FloatArray, c: Vector) -> Block:
    """Return k a b^T + s [c]x."""
    return add_blocks(outer(k, a, b), cross_block(s, c))
