# SPDX-License-Identifier: GPL-3.0-or-later
"""Flat strips in common triangulations, on which bending laws are compared. Used by static_sheet.py.

Every strip starts one row of cells before x = 0, so that pinning all vertices with x <= 0 clamps it there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.arrays import BoolArray, FloatArray, IntArray

Strip = tuple[FloatArray, IntArray]
"""Points (V, 2) [m] and triangles (T, 3), anticlockwise."""

JITTER = 0.25
"""Largest displacement of the vertices of `jittered`, over the size of a cell [-]."""


def _grid(cells: int, across: int, d: float) -> tuple[FloatArray, IntArray]:
    """Return points (V, 2) [m] and quads (Q, 4), corners anticlockwise."""
    i, j = np.meshgrid(np.arange(cells + 2), np.arange(across + 1), indexing="ij")
    points = np.stack([(i.ravel() - 1) * d, j.ravel() * d], axis=1)
    a = (np.arange(cells + 1)[:, None] * (across + 1) + np.arange(across)).ravel()
    return points, np.stack([a, a + across + 1, a + across + 2, a + 1], axis=1)


def _cut(quads: IntArray, other: BoolArray) -> IntArray:
    """Return the triangles of quads cut from first to third corner, or along the other diagonal where `other`."""
    a, b, c, d = quads.T
    first = np.where(other, np.stack([a, b, d]), np.stack([a, b, c]))
    second = np.where(other, np.stack([b, c, d]), np.stack([a, c, d]))
    triangles: IntArray = np.stack([first, second]).transpose(2, 0, 1).reshape(-1, 3)
    return triangles


def right(cells: int, across: int, d: float) -> Strip:
    """Return squares that are all cut along the same diagonal."""
    points, quads = _grid(cells, across, d)
    return points, _cut(quads, np.zeros(len(quads), dtype=np.bool_))


def alternating(cells: int, across: int, d: float) -> Strip:
    """Return squares that are cut along alternating diagonals."""
    points, quads = _grid(cells, across, d)
    return points, _cut(quads, np.rint(points[quads[:, 0]] / d).sum(axis=1) % 2 == 0)


def crossed(cells: int, across: int, d: float) -> Strip:
    """Return squares that are cut along both diagonals."""
    points, quads = _grid(cells, across, d)
    middle = len(points) + np.arange(len(quads))
    triangles = np.stack([np.stack([quads[:, i], quads[:, (i + 1) % 4], middle], axis=1) for i in range(4)], axis=1)
    return np.concatenate([points, points[quads].mean(axis=1)]), triangles.reshape(-1, 3)


def jittered(cells: int, across: int, d: float) -> Strip:
    """Return quads with displaced corners, each cut so that the two triangles are Delaunay.

    The boundary and the row at the clamp stay straight.
    """
    points, quads = _grid(cells, across, d)
    moved = np.random.default_rng(7).uniform(-JITTER, JITTER, points.shape) * d
    i, j = np.rint(points / d).astype(int).T
    moved[(i <= 0) | (i == cells), 0] = 0.0
    moved[(j == 0) | (j == across), 1] = 0.0
    points = points + moved
    corner = points[quads]
    before, after = np.roll(corner, 1, axis=1) - corner, np.roll(corner, -1, axis=1) - corner
    turn = np.arctan2(after[..., 0] * before[..., 1] - after[..., 1] * before[..., 0], (before * after).sum(axis=2))
    return points, _cut(quads, turn[:, 1] + turn[:, 3] > np.pi)


def equilateral(cells: int, across: int, d: float) -> Strip:
    """Return equilateral triangles in rows at distance d, about `across` d wide, with straight sides."""
    side = 2.0 * d / np.sqrt(3.0)
    wide = max(1, round(across * d / side))
    points: list[tuple[float, float]] = []
    columns: list[list[int]] = []
    for i in range(cells + 2):
        y = np.arange(wide + 1) * side if i % 2 == 0 else \
            np.concatenate([[0.0], (np.arange(wide) + 0.5) * side, [wide * side]])
        columns.append(list(range(len(points), len(points) + len(y))))
        points += [((i - 1) * d, float(value)) for value in y]
    triangles = []
    for i in range(cells + 1):
        even, odd = (columns[i], columns[i + 1]) if i % 2 == 0 else (columns[i + 1], columns[i])
        strip = [(even[j], odd[j], odd[j + 1]) for j in range(wide + 1)]
        strip += [(even[j], odd[j + 1], even[j + 1]) for j in range(wide)]
        triangles += [t if i % 2 == 0 else (t[0], t[2], t[1]) for t in strip]
    return np.array(points), np.array(triangles)


TRIANGULATIONS: dict[str, Callable[[int, int, float], Strip]] = {
    "right": right, "alternating": alternating, "crossed": crossed, "equilateral": equilateral, "jittered": jittered,
}
ROW_SPACING = {"crossed": 0.5}
"""Distance between rows of vertices along the strip, over the size of a cell [-], if it is not 1."""
