# SPDX-License-Identifier: GPL-3.0-or-later
"""A law quadratic in its columns, and the four-vertex column of quadratic (isometric) bending.

    energy   psi = k/2 sum_c |F_c|^2,     stress  P_c = k F_c,     tangent  H_cd = k delta_cd I

The tangent is constant and positive. While a sheet keeps its lengths, its second derivatives turn with it, so such an
energy does not change in rigid motion, and is exact in large rotations.

Column of a hinge (Bergou et al. 2006): F = (x2 - foot) / h_2 + (x3 - foot) / h_3, the difference of the two
slopes across the edge; |F| = theta for small angles, 2 sin(theta/2) for equal heights. With k = B l^2 / (A0 + A1) the
law is the hinge's for small angles; the published normalisation 3 / (A0 + A1) is three times that. It depends on the
triangulation as the hinge does (docs/bending.md), and its rest shape is flat.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..mesh import ClothMesh
from .components import Columns, direction, dot, identity_block, scale
from .hinge_geometry import HingeGeometry
from .stencil import Condition, Parameters, Stencil, Tangent


def isometric_stencil(mesh: ClothMesh) -> Stencil:
    """One column per hinge [-]: the bend across its edge as a vector along the normal."""
    hinge = HingeGeometry(mesh)
    weights = np.zeros((len(mesh.hinges), 4, 1))
    weights[:, 2:, 0] = 1.0 / hinge.heights
    weights[:, 0, 0] = -((1.0 - hinge.feet) / hinge.heights).sum(axis=1)
    weights[:, 1, 0] = -(hinge.feet / hinge.heights).sum(axis=1)
    return Stencil(mesh.hinges, weights)


def isometric_parameters(mesh: ClothMesh, bend: tuple[float, float]) -> Parameters:
    """k (H,) [N m]."""
    return (HingeGeometry(mesh).rigidity(bend),)


class Quadratic:
    """Parameter: k [J per squared unit of the columns]."""

    name = "quadratic"
    constant_tangent = True

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""
        total = dot(F[0], F[0])
        for column in F[1:]:
            total = total + dot(column, column)
        return 0.5 * p[0] * total

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """k F_c."""
        return tuple(scale(p[0], column) for column in F)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """k delta_cd I; exact and constant."""
        diagonal, zero = identity_block(p[0]), identity_block(0.0 * p[0])
        return tuple(tuple(diagonal if c == d else zero for d in range(len(F))) for c in range(len(F)))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """The tangent itself, which is positive semi-definite for k >= 0."""
        return self.tangent(F, p)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """The lengths |F_c|, which rigid motion does not change."""
        zero = 0.0 * p[0]
        still = (zero, zero, zero)
        return tuple((p[0], tuple(direction(F[c]) if c == d else still for d in range(len(F)))) for c in range(len(F)))
