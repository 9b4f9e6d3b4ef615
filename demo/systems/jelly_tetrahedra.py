# SPDX-License-Identifier: GPL-3.0-or-later
"""Jelly of tetrahedra: two overlapping balls fall onto another ball, wobble, and come to rest beside it."""

import numpy as np

import core

from . import shapes
from .run import Run


def build() -> Run:
    x, t = shapes.ball(0.2, segments=28, rings=16)
    y, s = shapes.ball(0.15, (0.0, 0.0, 0.24), segments=24, rings=14)
    mesh = core.ClothMesh(np.concatenate([x, y]) + [0.07, 0.0, 0.75], np.concatenate([t, s + len(x)]))
    fabric = core.Material.preset("cotton", damping=0.02, friction=0.4)
    jelly = core.Cloth(mesh, fabric, model="jelly", structure="tetrahedra", young_modulus=1.5e4, poisson_ratio=0.4,
                       cells=10)
    floor = core.Collider(*shapes.floor(4.0), friction=0.5)
    ball = core.Collider(*shapes.ball(0.2, (0.0, 0.0, 0.2)), friction=0.4)
    return Run(scene=core.Scene([jelly], [floor, ball]),
               solver=core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2, self_collision=False),
               pictured=(1, 10, 16, 40), eye=(0.8, -2.6, 0.95), target=(0.1, 0.0, 0.38))
