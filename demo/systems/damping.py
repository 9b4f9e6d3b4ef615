# SPDX-License-Identifier: GPL-3.0-or-later
"""Damping: five curtains are released alike. From left to right: no damping, spring damping, isotropic damping, air
drag, viscous drag."""

import numpy as np

import core

from . import shapes
from .run import Run

SIDE, WIDTH = 13, 0.5
KINDS = ({}, {"spring_damping": 0.05}, {"isotropic_damping": 0.02}, {"air_drag": 1.0}, {"viscous_drag": 1.0})


def curtain(number: int, damping: dict[str, float]) -> core.Cloth:
    """Return a curtain that hangs from its upper edge and is lifted to one side."""
    sheet = shapes.sheet(SIDE, WIDTH)
    flat = np.asarray(sheet["positions"])
    x = flat * [1.0, 1.0, 0.0] + [0.62 * (number - 2), 0.0, 0.6]
    fabric = core.Material(areal_density=0.2, stretch=800.0, shear=200.0, bend=1e-5, **damping)
    upper = np.flatnonzero(flat[:, 1] > 0.5 * WIDTH - 1e-9)
    return core.Cloth(core.ClothMesh(**{**sheet, "positions": x}), fabric, pins={int(i): None for i in upper},
                      name=next(iter(damping), "undamped"))


def build() -> Run:
    cloths = [curtain(number, damping) for number, damping in enumerate(KINDS)]
    solver = core.Solver(integrator="bdf2", steps_per_frame=2, self_collision=False)
    return Run(scene=core.Scene(cloths), solver=solver, pictured=(6, 12, 20, 60), eye=(1.6, -4.6, 1.5),
               target=(0.0, 0.1, 0.35))
