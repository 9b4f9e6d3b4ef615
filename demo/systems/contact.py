# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact: one cloth falls onto a ball and a floor, and a second one onto the first, without crossings."""

import core

from . import shapes
from .run import Run


def build() -> Run:
    cloths = [core.Cloth(core.ClothMesh(**shapes.sheet(25, side, height=height)), core.Material.preset(fabric))
              for side, height, fabric in ((1.1, 0.36, "cotton"), (0.7, 0.62, "wool"))]
    ball, floor = core.Collider(*shapes.ball(0.3), friction=0.3), core.Collider(
        [[-2.0, -2.0, -0.3], [2.0, -2.0, -0.3], [2.0, 2.0, -0.3], [-2.0, 2.0, -0.3]], [[0, 1, 2], [0, 2, 3]],
        friction=0.5)
    return Run(scene=core.Scene(cloths, [ball, floor]), solver=core.Solver(integrator="bdf2", steps_per_frame=1),
               pictured=(1, 8, 13, 34), eye=(1.5, -2.4, 1.3), target=(0.0, 0.0, 0.05))
