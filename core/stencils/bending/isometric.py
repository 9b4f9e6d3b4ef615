# SPDX-License-Identifier: GPL-3.0-or-later
"""Quadratic (isometric) bending: one column of four vertices per hinge, for the law `Quadratic`.

The column of a hinge (Bergou et al. 2006) is the difference of the slopes across the edge,

    F = (x2 - foot) / h_2 + (x3 - foot) / h_3

with |F| = theta for small angles, and |F| = 2 sin(theta/2) for equal heights. While a sheet keeps its lengths, its
second derivatives rotate with it. The energy then does not change in rigid motion and is exact in large rotations.

With k = B l^2 / (A0 + A1) the energy equals that of the hinge for small angles; the published factor 3 / (A0 + A1) is
three times as large. It depends on the triangulation as the hinge does (docs/bending.md), and its rest shape is flat.
"""

from __future__ import annotations

import numpy as np

from ...description.mesh import ClothMesh
from ..stencil import Parameters, Stencil
from .hinge_geometry import HingeGeometry


def isometric_stencil(mesh: ClothMesh) -> Stencil:
    """Return one column per hinge [-]: the bend across its edge, as a vector along the normal."""
    hinge = HingeGeometry(mesh)
    weights = np.zeros((len(mesh.hinges), 4, 1))
    weights[:, 2:, 0] = 1.0 / hinge.heights
    weights[:, 0, 0] = -((1.0 - hinge.feet) / hinge.heights).sum(axis=1)
    weights[:, 1, 0] = -(hinge.feet / hinge.heights).sum(axis=1)
    return Stencil(mesh.hinges, weights)


def isometric_parameters(mesh: ClothMesh, bend: tuple[float, float]) -> Parameters:
    """Return k (H,) [N m]."""
    return (HingeGeometry(mesh).rigidity(bend),)
