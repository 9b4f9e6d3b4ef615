# SPDX-License-Identifier: GPL-3.0-or-later
"""BDF2: a cotton sheet is released and swings, one step per frame."""

import core

from . import shapes
from .run import Run

SIDE = 25


def build() -> Run:
    mesh = core.ClothMesh(**shapes.sheet(SIDE, 1.0, height=0.6))
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), pins={0: None, SIDE * (SIDE - 1): None})
    return Run(scene=core.Scene([cloth]), solver=core.Solver(integrator="bdf2", steps_per_frame=1),
               pictured=(1, 8, 13, 19), eye=(3.2, -2.6, 1.1), target=(0.0, -0.5, 0.25))
