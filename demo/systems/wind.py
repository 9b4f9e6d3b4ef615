# SPDX-License-Identifier: GPL-3.0-or-later
"""Wind field: a row of flags in the stream of a fan, which falls off to its sides."""

import numpy as np

import core

from . import shapes
from .run import Run

FLAGS, SIDE, SPEED, WIDTH = 5, 0.4, 2.5, 0.45
"""Number of flags, their side [m], velocity of the air in the middle of the stream [m/s], width of the stream [m]."""


def stream(time: float, x: np.ndarray) -> np.ndarray:
    """Return the velocity of the air (V, 3) [m/s] at positions x (V, 3) [m]."""
    return np.outer(SPEED * np.exp(-((x[:, 0] / WIDTH) ** 2)), [0.0, 1.0, 0.0])


def build() -> Run:
    cloths = []
    for number in range(FLAGS):
        flat = shapes.sheet(17, SIDE)
        place = [(number - 0.5 * (FLAGS - 1)) * 1.15 * SIDE, 0.0, 0.0]
        hung = flat["positions"][:, [0, 2, 1]] * [1.0, 1.0, -1.0] + place
        mesh = core.ClothMesh(hung, faces=flat["faces"].tolist(), name=f"Flag {number}")
        top = np.flatnonzero(hung[:, 2] > 0.5 * SIDE - 1e-9)
        cloths.append(core.Cloth(mesh, core.Material.preset("silk"), pins=dict.fromkeys(top.tolist())))
    return Run(scene=core.Scene(cloths, wind=stream), solver=core.Solver(integrator="bdf2"), pictured=(1, 12, 48),
               eye=(2.1, -2.3, 0.8), target=(0.12, 0.1, -0.02))
