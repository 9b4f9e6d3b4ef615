# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet of two moduli that hangs by two corners, and a floor."""

import numpy as np

import core
from tests.core.shapes import grid

FABRIC = core.Material(areal_density=0.2, stretch=(500.0, 300.0), shear=60.0, bend=(1e-4, 1e-4), damping=0.005,
                       air_drag=0.3)


def sheet(cells=5, shift=0.0, name="sheet"):
    positions, triangles = grid(cells, cells)
    return core.ClothMesh(positions + shift, triangles, name=name)


def hanging(cells=5, shift=0.0, **options):
    return core.Cloth(sheet(cells, shift), FABRIC, pins={0: None, cells: None}, **options)


def floor(height=-0.3):
    corners = np.array([[-5.0, -5, height], [5, -5, height], [5, 5, height], [-5, 5, height]])
    return core.Collider(corners, [[0, 1, 2], [0, 2, 3]])
