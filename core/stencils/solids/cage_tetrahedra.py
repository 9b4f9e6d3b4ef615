# SPDX-License-Identifier: GPL-3.0-or-later
"""Cells of a cage cut into five tetrahedra each: one in the middle and one at every other corner.

Neighbouring cells are mirror images, so their common faces are cut in the same way and no direction is preferred.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from .cage import CELL_CORNERS

CELL_CUTS: IntArray = np.array([
    [[0, 3, 5, 6], [0, 3, 5, 1], [0, 6, 3, 2], [0, 5, 6, 4], [3, 6, 5, 7]],
    [[1, 2, 7, 4], [1, 2, 4, 0], [1, 7, 2, 3], [1, 4, 7, 5], [2, 4, 7, 6]]])
"""Corners (2, 5, 4) of the tetrahedra of a cell whose coordinates have an even sum, and of one whose sum is odd.

Corners are numbered as in CELL_CORNERS.
"""


def cut_cells(cells: IntArray, coordinates: IntArray) -> IntArray:
    """Return the tetrahedra (5 C, 4) of cells (C, 8) at lattice coordinates (C, 3), cell after cell."""
    return cells[np.arange(len(cells))[:, None, None], _cell_cuts(coordinates)].reshape(-1, 4)


def barycentric(cells: IntArray, coordinates: IntArray, inside: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the nodes (P, 4) and weights (P, 4) of points, those of the tetrahedron that contains each point.

    Args:
        cells (P, 8), coordinates (P, 3): nodes and lattice coordinates of the cell of each point.
        inside (P, 3): positions of the points in their cells, in 0..1.
    """
    corner = _cell_cuts(coordinates)                                                          # (P, 5, 4)
    even, odd = (_weights(cut, inside) for cut in CELL_CUTS)
    weights = np.where((coordinates.sum(axis=1) % 2 == 1)[:, None, None], odd, even)
    best = np.argmax(weights.min(axis=2), axis=1)
    row = np.arange(len(cells))
    nodes: IntArray = cells[row[:, None], corner[row, best]]
    return nodes, weights[row, best]


def _cell_cuts(coordinates: IntArray) -> IntArray:
    """Return the corners (C, 5, 4) of the tetrahedra in cells at lattice coordinates (C, 3)."""
    return CELL_CUTS[coordinates.sum(axis=1) % 2]


def _weights(cut: IntArray, inside: FloatArray) -> FloatArray:
    """Return the weights (P, 5, 4) of points (P, 3) in all tetrahedra of a unit cell."""
    frame = np.concatenate([CELL_CORNERS[cut].astype(np.float64), np.ones((5, 4, 1))], axis=2)
    ones = np.concatenate([inside, np.ones((len(inside), 1))], axis=1)
    result: FloatArray = np.einsum("pi,tij->ptj", ones, np.linalg.inv(frame))
    return result
