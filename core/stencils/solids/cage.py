# SPDX-License-Identifier: GPL-3.0-or-later
"""A cage of cubic cells around a closed surface.

The cells are those of a regular lattice over the surface's bounding box, with `cells` of them along its longest side
and as many along the others as keep the cells nearly cubic. The cage consists of the cells that have a part inside the
surface or that an edge of the surface passes through.

Each cell is sampled at SAMPLES_PER_SIDE^3 points, of which `inside_points` finds those inside. The volume of a point is
given to the eight corners of its cell by trilinear weights, which keeps its centre. The nodes of the cage therefore
have the volume of the enclosed solid, and the centre of its sample points. A cell counts with at least one row of its
points, so that a cell that the surface only touches has some mass and stiffness.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .inside_points import Grid, inside_points, surface_volume

SAMPLES_PER_SIDE = 4
"""Number of sample points of a cell along each direction [-]."""
CELL_SIDE_TOLERANCE = 0.2
"""Largest difference of a cell's side from that along the longest direction, over the latter [-]. In flatter cells some
spring stiffnesses of `cage_springs` would be negative."""
CELL_CORNERS: IntArray = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
"""Corners (8, 3) of a cell; corner (i, j, k) has the number 4 i + 2 j + k."""


@dataclass(frozen=True)
class Cage:
    """Cells around and inside a surface.

    Attributes:
        nodes (N, 3) [m]: corners of the cells.
        cells (C, 8): nodes of each cell, in the order of CELL_CORNERS.
        coordinates (C, 3): integer coordinates of each cell in the lattice.
        origin (3,) [m]: lowest corner of the lattice.
        size (3,) [m]: sides of a cell.
        fraction (C,) [-]: part of each cell inside the surface, scaled so that the parts add up to `volume`.
        node_volumes (N,) [m^3]: volume that each node stands for; they add up to `volume`.
        volume [m^3]: volume of the surface.
    """

    nodes: FloatArray
    cells: IntArray
    coordinates: IntArray
    origin: FloatArray
    size: FloatArray
    fraction: FloatArray
    node_volumes: FloatArray
    volume: float

    def locate(self, points: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the cells (P,) of points (P, 3) [m] inside the cage, and their positions (P, 3) in them, in 0..1."""
        inside = (points - self.origin) / self.size
        counts = self.coordinates.max(axis=0) + 1
        where = np.clip(np.floor(inside), 0, counts - 1).astype(np.int64)
        keys = _lexicographic_keys(self.coordinates, counts)
        at: IntArray = np.searchsorted(keys, _lexicographic_keys(where, counts))
        return at, inside - where


def build_cage(positions: FloatArray, triangles: IntArray, edges: IntArray, cells: int) -> Cage:
    """Return the cage of a closed surface.

    Args:
        positions (V, 3) [m], triangles (T, 3), edges (E, 2): the surface, with all of its edges.
        cells: number of cells along the longest side.
    """
    low, extent = positions.min(axis=0), np.ptp(positions, axis=0)
    side = float(extent.max()) / cells
    counts = np.maximum(np.ceil(extent / side - CELL_SIDE_TOLERANCE), 1).astype(np.int64)
    size = np.maximum(extent / counts, (1.0 - CELL_SIDE_TOLERANCE) * side)
    origin = low - 0.5 * (counts * size - extent)
    sample_counts = tuple(int(n) for n in SAMPLES_PER_SIDE * counts)
    grid = Grid(origin, size / SAMPLES_PER_SIDE, (sample_counts[0], sample_counts[1], sample_counts[2]))
    inside = inside_points(positions, triangles, grid)
    inside = inside.reshape([n for count in counts for n in (count, SAMPLES_PER_SIDE)]).transpose(0, 2, 4, 1, 3, 5)
    points: BoolArray = inside.reshape(*counts, SAMPLES_PER_SIDE ** 3)
    in_cage = points.any(axis=3)
    crossed = np.clip(np.floor((_points_on_edges(positions, edges, 0.5 * size.min()) - origin) / size), 0, counts - 1)
    in_cage[tuple(crossed.astype(np.int64).T)] = True
    coordinates = np.argwhere(in_cage)
    corners = (coordinates[:, None] + CELL_CORNERS).reshape(-1, 3)
    keys, number = np.unique(_lexicographic_keys(corners, counts + 1), return_inverse=True)
    nodes = origin + size * np.stack(np.unravel_index(keys, tuple(counts + 1)), axis=1)
    samples = points[in_cage].astype(np.float64)
    empty = ~samples.any(axis=1)
    weights = samples @ _sample_weights() / SAMPLES_PER_SIDE ** 3                     # (C, 8) of a cell's volume
    least_fraction = 1.0 / SAMPLES_PER_SIDE ** 2                                      # one row of sample points
    weights[empty] = least_fraction / 8.0
    node_volumes = np.bincount(number.ravel(), weights.ravel(), minlength=len(nodes))
    total = surface_volume(positions, triangles, float(samples.mean(axis=1).sum() * size.prod()),
                           float(grid.spacing.max()))
    fraction = np.maximum(samples.mean(axis=1), least_fraction)
    return Cage(nodes, number.reshape(-1, 8), coordinates, origin, size,
                fraction * total / (fraction.sum() * float(size.prod())),
                node_volumes * total / node_volumes.sum(), total)


def trilinear(inside: FloatArray) -> FloatArray:
    """Return the weights (P, 8) of a cell's corners for positions (P, 3) in it, in 0..1."""
    weights: FloatArray = np.where(CELL_CORNERS, inside[:, None], 1.0 - inside[:, None]).prod(axis=2)
    return weights


def _sample_weights() -> FloatArray:
    """Return the trilinear weights (SAMPLES_PER_SIDE^3, 8) of the sample points of a cell."""
    along = (np.arange(SAMPLES_PER_SIDE) + 0.5) / SAMPLES_PER_SIDE
    return trilinear(np.stack(np.meshgrid(along, along, along, indexing="ij"), axis=-1).reshape(-1, 3))


def _lexicographic_keys(coordinates: IntArray, counts: IntArray) -> IntArray:
    """Return one number per lattice coordinates (n, 3) in a lattice of `counts` (3,), in lexicographic order."""
    keys: IntArray = (coordinates[:, 0] * counts[1] + coordinates[:, 1]) * counts[2] + coordinates[:, 2]
    return keys


def _points_on_edges(positions: FloatArray, edges: IntArray, step: float) -> FloatArray:
    """Return the positions, and points on the edges (E, 2) at most `step` [m] apart."""
    ends = positions[edges]
    pieces = np.ceil(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / step).astype(np.int64)
    edge = np.repeat(np.arange(len(edges)), pieces)
    number = np.arange(len(edge)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    part = ((number + 0.5) / pieces[edge])[:, None]
    return np.concatenate([positions, (1.0 - part) * ends[edge, 0] + part * ends[edge, 1]])
