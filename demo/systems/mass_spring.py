# SPDX-License-Identifier: GPL-3.0-or-later
"""Mass-spring: two sheets of soft springs hang from their corners; the stretch of the right one is limited to 10 %."""

import numpy as np

import core

from . import shapes
from .run import Run


def build() -> Run:
    fabric = core.Material(areal_density=0.2, stretch=30.0, shear=8.0, bend=(1e-5, 1e-5), damping=0.02, air_drag=0.3)
    cloths = []
    for name, shift, limit in (("free", -0.65, None), ("limited", 0.65, 0.1)):
        sheet = shapes.sheet(25, 1.0)
        mesh = core.ClothMesh(sheet["positions"] + np.array([shift, 0.0, 1.0]), faces=sheet["faces"], name=name)
        cloths.append(core.Cloth(mesh, fabric, model="mass_spring", pins={24: None, 25 * 25 - 1: None},
                                 max_elongation=limit))
    return Run(scene=core.Scene(cloths), solver=core.Solver(), pictured=(1, 12, 24, 60),
               eye=(0.3, -4.6, 1.2), target=(0.0, 0.0, 0.35))
