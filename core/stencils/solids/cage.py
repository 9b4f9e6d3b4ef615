# SPDX-License-Identifier: GPL-3.0-or-later
"""A closed surface in a cage: the cells of a regular lattice that overlap it, and how much of each is inside.

Cells fit the surface's bounding box, `cells` of them along its longest side and as many along the others as keep them
near cubes. Those with a part inside, and those that an edge of the surface runs through, make the cage. Each is divided
into SAMPLES^3 points, of which `solid` says what is inside: the mass of a point goes to the eight corners of
its cell by trilinear weights, which keeps its centre. So the cage weighs as much as what it encloses, and its
centre of mass is that of the points.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .inside_points import Grid, inside_points, surface_volume

SAMPLES_PER_SIDE = 4
"""Points in a cell along each direction."""
LEAST_CELL_FRACTION = 1.0 / 16.0
"""Part of a cell that counts as inside at least, so that a cell which a surface only grazes has some stiffness [-]."""
CELL_SIDE_TOLERANCE = 0.2
"""By how much a cell's sides may be longer than the first, and how short they are at least [-]: in flatter cells not
all springs of a lattice could push."""
CELL_CORNERS: IntArray = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
"""Corners (8, 3) of a cell: number 4 i + 2 j + k."""


@dataclass(frozen=True)
class Cage:
    """Cells around and inside a surface.

    Attributes:
        nodes (N, 3) [m]: corners of the cells. cells (C, 8): their corners, numbered as CORNERS; place (C, 3): which
            cell of the lattice each is. origin (3,), size (3,) [m]: of the lattice and of a cell.
        fraction (C,): part of each cell inside the surface [-], corrected so that together they are `volume`.
        share (N,): of the surface's volume that each node stands for, adding up to `volume` [m^3].
        volume [m^3]: of the surface.
    """

    nodes: FloatArray
    cells: IntArray
    place: IntArray
    origin: FloatArray
    size: FloatArray
    fraction: FloatArray
    share: FloatArray
    volume: float

    def locate(self, points: FloatArray) -> tuple[IntArray, FloatArray]:
        """Cells (P,) of points (P, 3) [m] inside the cage, and where in them, in 0..1 (P, 3)."""
        inside = (points - self.origin) / self.size
        counts = self.place.max(axis=0) + 1
        where = np.clip(np.floor(inside), 0, counts - 1).astype(np.int64)
        keys = _keys(self.place, counts)
        at: IntArray = np.searchsorted(keys, _keys(where, counts))
        return at, inside - where


def build_cage(positions: FloatArray, triangles: IntArray, edges: IntArray, cells: int) -> Cage:
    """The cage of a closed surface (V, 3) [m], (T, 3), with all its edges (E, 2), `cells` along its longest side."""
    low, extent = positions.min(axis=0), np.ptp(positions, axis=0)
    side = float(extent.max()) / cells
    counts = np.maximum(np.ceil(extent / side - CELL_SIDE_TOLERANCE), 1).astype(np.int64)
    size = np.maximum(extent / counts, (1.0 - CELL_SIDE_TOLERANCE) * side)
    origin = low - 0.5 * (counts * size - extent)
    fine = tuple(int(n) for n in SAMPLES_PER_SIDE * counts)
    grid = Grid(origin, size / SAMPLES_PER_SIDE, (fine[0], fine[1], fine[2]))
    inside = inside_points(positions, triangles, grid)
    inside = inside.reshape([n for count in counts for n in (count, SAMPLES_PER_SIDE)]).transpose(0, 2, 4, 1, 3, 5)
    points: BoolArray = inside.reshape(*counts, SAMPLES_PER_SIDE ** 3)
    there = points.any(axis=3)
    passed = np.clip(np.floor((_along(positions, edges, 0.5 * size.min()) - origin) / size), 0, counts - 1)
    there[tuple(passed.astype(np.int64).T)] = True
    place = np.argwhere(there)
    corners = (place[:, None] + CELL_CORNERS).reshape(-1, 3)
    keys, number = np.unique(_keys(corners, counts + 1), return_inverse=True)
    nodes = origin + size * np.stack(np.unravel_index(keys, tuple(counts + 1)), axis=1)
    samples = points[there].astype(np.float64)
    empty = ~samples.any(axis=1)
    weights = samples @ _sample_weights() / SAMPLES_PER_SIDE ** 3                     # (C, 8) of a cell's volume
    weights[empty] = LEAST_CELL_FRACTION / 8.0
    share = np.bincount(number.ravel(), weights.ravel(), minlength=len(nodes))
    total = surface_volume(positions, triangles, float(samples.mean(axis=1).sum() * size.prod()))
    fraction = np.maximum(samples.mean(axis=1), LEAST_CELL_FRACTION)
    return Cage(nodes, number.reshape(-1, 8), place, origin, size,
                   fraction * total / (fraction.sum() * float(size.prod())), share * total / share.sum(), total)


def trilinear(inside: FloatArray) -> FloatArray:
    """Weights (P, 8) of a cell's corners at places (P, 3) in it, in 0..1."""
    weights: FloatArray = np.where(CELL_CORNERS, inside[:, None], 1.0 - inside[:, None]).prod(axis=2)
    return weights


def _sample_weights() -> FloatArray:
    """Trilinear weights (SAMPLES^3, 8) of a cell's points."""
    along = (np.arange(SAMPLES_PER_SIDE) + 0.5) / SAMPLES_PER_SIDE
    return trilinear(np.stack(np.meshgrid(along, along, along, indexing="ij"), axis=-1).reshape(-1, 3))


def _keys(place: IntArray, counts: IntArray) -> IntArray:
    """One number for each place (n, 3) in a lattice of `counts` (3,), in lexicographic order."""
    keys: IntArray = (place[:, 0] * counts[1] + place[:, 1]) * counts[2] + place[:, 2]
    return keys


def _along(positions: FloatArray, edges: IntArray, step: float) -> FloatArray:
    """The positions, and points on the edges (E, 2) no further apart than `step` [m]."""
    ends = positions[edges]
    pieces = np.ceil(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / step).astype(np.int64)
    edge = np.repeat(np.arange(len(edges)), pieces)
    number = np.arange(len(edge)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    part = ((number + 0.5) / pieces[edge])[:, None]
    return np.concatenate([positions, (1.0 - part) * ends[edge, 0] + part * ends[edge, 1]])
