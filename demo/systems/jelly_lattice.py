# SPDX-License-Identifier: GPL-3.0-or-later
"""Jelly as a lattice of springs: a block, pinned at one end, bends and swings under its own weight."""

import numpy as np

import core

from .run import Run
from .shapes import block


def build() -> Run:
    x, faces = block((0.9, 0.22, 0.22), (36, 9, 9))
    mesh = core.ClothMesh(x - [0.45, 0.11, 0.11], faces=faces)
    held = {int(i): None for i in np.flatnonzero(mesh.positions[:, 0] < -0.449)}
    jelly = core.Cloth(mesh, core.Material.preset("cotton", damping=0.01), model="jelly", structure="lattice",
                       young_modulus=5e5, cells=16, pins=held)
    return Run(scene=core.Scene([jelly]), solver=core.Solver(integrator="bdf2", tolerance=1e-2, self_collision=False),
               pictured=(1, 5, 8, 40), eye=(0.7, -2.0, 0.5), target=(0.02, 0.0, -0.13))
