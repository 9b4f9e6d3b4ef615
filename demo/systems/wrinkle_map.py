# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrinkle map: a flat sheet is painted with a rest curvature of alternating sign in stripes, which fades to one end."""

import numpy as np

import core

from . import shapes
from .run import Run

STRIPES, CURVATURE = 6, 18.0
"""Number of stripes, and largest rest curvature [1/m]."""


def build() -> Run:
    mesh = core.ClothMesh(**shapes.sheet(61, 1.0))
    x, y, _ = mesh.positions.T
    painted = CURVATURE * np.sin(STRIPES * np.pi * (x + 0.5)) * np.clip(1.6 * (0.5 - y), 0.0, 1.0)
    fabric = core.Material.preset("cotton", bend=(2e-4, 2e-4), viscous_drag=0.3)
    cloth = core.Cloth(mesh, fabric, rest_curvature=painted)
    return Run(scene=core.Scene([cloth], gravity=(0.0, 0.0, 0.0)), solver=core.Solver(integrator="bdf2"),
               pictured=(1, 8, 48), eye=(1.1, -1.7, 1.1), target=(0.0, 0.0, 0.0))
