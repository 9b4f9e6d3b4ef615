# SPDX-License-Identifier: GPL-3.0-or-later
"""Immediate buckling: a sheet of links that resist stretching and buckle under compression falls onto a ball."""

import core

from . import shapes
from .run import Run

COUNT, SIDE = 33, 1.4


def build() -> Run:
    mesh = core.ClothMesh(**shapes.sheet(COUNT, SIDE, height=0.62))
    fabric = core.Material(areal_density=0.2, stretch=1000.0, shear=150.0, bend=(4e-5, 4e-5), damping=0.01,
                           friction=0.3, air_drag=0.3)
    cloth = core.Cloth(mesh, fabric, model="immediate_buckling")
    ball = core.Collider(*shapes.ball(0.35), friction=0.3)
    return Run(scene=core.Scene([cloth], [ball]), solver=core.Solver(newton_iterations=3), pictured=(1, 8, 16, 40),
               eye=(1.6, -2.6, 1.4), target=(0.0, 0.0, 0.05))
