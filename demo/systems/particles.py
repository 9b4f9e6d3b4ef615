# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles: a fountain emits particles one after the other, which fall onto a ball and a floor and slide."""

import numpy as np

import core

from . import shapes
from .run import Run


def build() -> Run:
    count = 900
    x, v = core.emit("fountain", count, speed=4.5, seed=1, origin=(0.0, 0.0, 0.05))
    v[:, :2] *= 2.5
    cloth = core.Cloth(core.ClothMesh(x, points=True), core.Material.preset("cotton", friction=0.2), model="particles",
                       velocities=v, births=1.2 * np.arange(count) / count, thickness=0.012)
    floor = core.Collider(*shapes.floor(4.0), friction=0.3)
    ball = core.Collider(*shapes.ball(0.22, (0.42, 0.0, 0.22)), friction=0.2)
    return Run(scene=core.Scene([cloth], [floor, ball]), solver=core.Solver(integrator="bdf2"),
               pictured=(8, 20, 32, 56), eye=(0.7, -2.7, 1.1), target=(0.1, 0.0, 0.45), thickness=0.024)
