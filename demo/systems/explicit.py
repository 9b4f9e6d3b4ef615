# SPDX-License-Identifier: GPL-3.0-or-later
"""Verlet: a soft sheet of few vertices swings from two corners, in as many short steps as its stiffness needs."""

import core

from . import shapes
from .run import Run

SIDE = 17


def build() -> Run:
    fabric = core.Material(areal_density=0.3, stretch=150.0, shear=40.0, bend=2e-5, damping=1e-4)
    mesh = core.ClothMesh(**shapes.sheet(SIDE, 1.0, height=0.6))
    cloth = core.Cloth(mesh, fabric, pins={0: None, SIDE * (SIDE - 1): None})
    return Run(scene=core.Scene([cloth]), solver=core.Solver(integrator="verlet", steps_per_frame=1),
               pictured=(1, 7, 13, 19), eye=(3.2, -2.6, 1.1), target=(0.0, -0.5, 0.25))
