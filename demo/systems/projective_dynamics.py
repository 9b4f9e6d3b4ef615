# SPDX-License-Identifier: GPL-3.0-or-later
"""Projective dynamics: triangles are projected to rotations of their rest shape, with one constant matrix."""

import core

from . import shapes
from .run import Run


def build() -> Run:
    fabric = core.Material(areal_density=0.2, stretch=150.0, shear=0.0, bend=3e-5, damping=0.005, friction=0.3)
    cloth = core.Cloth(core.ClothMesh(**shapes.sheet(31, 1.4, height=0.62)), fabric, model="projective")
    ball = core.Collider(*shapes.ball(0.35), friction=0.3)
    solver = core.Solver(integrator="projective_dynamics", steps_per_frame=2)
    return Run(scene=core.Scene([cloth], [ball]), solver=solver, pictured=(1, 8, 16, 40),
               eye=(1.6, -2.6, 1.4), target=(0.0, 0.0, 0.05))
