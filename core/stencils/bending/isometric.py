# SPDX-License-Identifier: GPL-3.0-or-later
"""A law quadratic in its column, and the four-vertex column of quadratic (isometric) bending.

    energy   psi = k/2 |F|^2,     stress  P = k F,     tangent  H = k I

The tangent is constant and positive. While a sheet keeps its lengths, its second derivatives turn with it, so such an
energy does not change in rigid motion, and is exact in large rotations.

Column of a hinge (Bergou et al. 2006): F = (x2 - foot) / h_2 + (x3 - foot) / h_3, the difference of the two
slopes across the edge; |F| = theta for small angles, 2 sin(theta/2) for equal heights. With k = B l^2 / (A0 + A1) the
law is the hinge's for small angles; the published normalisation 3 / (A0 + A1) is three times that. It depends on the
triangulation as the hinge does (docs/bending.md), and its rest shape is flat.
"""

from __future__ import annotations

import numpy as np

from ...description.mesh import ClothMesh
from ..stencil import Parameters, Stencil
from .hinge_geometry import HingeGeometry


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
