# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons: two overlapping panels hang from a rail and are closed at five points."""

import numpy as np

import core

from . import shapes
from .run import Run

COUNT, OVERLAP, APART = 25, 0.12, 0.06
"""Number of vertices along a panel's side; width of the overlap and initial distance of the panels [m]."""
BUTTONS = (2, 7, 12, 17, 22)
"""Rows of vertices with a button, counted from the top."""


def build() -> Run:
    side, step = 0.6, 0.6 / (COUNT - 1)
    flat = shapes.sheet(COUNT, side)
    panel = flat["positions"][:, [0, 2, 1]] * [1.0, 1.0, -1.0]          # vertex (i, j): column i, row j from the top
    left, right = panel + [-0.5 * (side - OVERLAP), 0.0, 0.0], panel + [0.5 * (side - OVERLAP), APART, 0.0]
    faces = np.concatenate([flat["faces"], flat["faces"] + len(panel)])
    mesh = core.ClothMesh(np.concatenate([left, right]), faces=faces.tolist())
    inner = round(0.5 * OVERLAP / step)
    buttons = [((COUNT - 1 - inner) * COUNT + row, len(panel) + inner * COUNT + row) for row in BUTTONS]
    outer = COUNT * np.arange(5)                                         # pinned vertices of the left panel
    rail = dict.fromkeys([*outer.tolist(), *(2 * len(panel) - COUNT - outer).tolist()])
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), pins=rail, buttons=buttons, sewing_time=0.6)
    return Run(scene=core.Scene([cloth]), solver=core.Solver(integrator="bdf2"), pictured=(1, 9, 18, 48),
               eye=(0.75, -1.7, 0.25), target=(0.0, 0.0, -0.05), lens=55.0)
