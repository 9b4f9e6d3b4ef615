# SPDX-License-Identifier: GPL-3.0-or-later
"""Shrink map: a band across a curtain is painted to half its rest length, and gathers the curtain."""

import numpy as np

import core

from . import shapes
from .run import Run

BAND, SCALE = 0.05, 0.5
"""Half the width of the band [m], and scale of rest lengths in it [-]."""


def build() -> Run:
    flat = shapes.sheet(49, 1.0)
    hung = flat["positions"][:, [0, 2, 1]] * [1.0, 1.0, -1.0]
    hung[:, 1] = 0.02 * np.sin(12.0 * np.pi * hung[:, 0])                # slight waves
    mesh = core.ClothMesh(hung, faces=flat["faces"].tolist())
    top = np.flatnonzero(hung[:, 2] > 0.499)[::2]
    painted = np.where(np.abs(hung[:, 2] + 0.05) < BAND, SCALE, 1.0)
    cloth = core.Cloth(mesh, core.Material.preset("cotton", viscous_drag=0.2), pins=dict.fromkeys(top.tolist()),
                       rest_scale=painted)
    return Run(scene=core.Scene([cloth]), solver=core.Solver(integrator="bdf2"), pictured=(1, 16, 60),
               eye=(0.8, -2.2, 0.3), target=(0.0, 0.0, 0.0))
