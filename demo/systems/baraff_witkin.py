# SPDX-License-Identifier: GPL-3.0-or-later
"""Baraff-Witkin: stretch, shear and bending of triangles, solved implicitly. A cotton sheet falls onto a ball."""

import core

from . import shapes
from .run import Run


def build() -> Run:
    mesh = core.ClothMesh(**shapes.sheet(33, 1.4, height=0.62))
    cloth = core.Cloth(mesh, core.Material.preset("cotton"))
    ball = core.Collider(*shapes.ball(0.35), friction=0.3)
    return Run(scene=core.Scene([cloth], [ball]), solver=core.Solver(integrator="bdf2"), pictured=(1, 8, 16, 40),
               eye=(1.6, -2.6, 1.4), target=(0.0, 0.0, 0.05))
