# SPDX-License-Identifier: GPL-3.0-or-later
"""A surface as a whole, for looking at it: triangles, edges, and trees. Threads are edges without triangles."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..kernels.numpy.surface_pairs import Boxes, Leaves, Neighbours, Surface
from ..kernels.numpy.triangle_pairs import CORNER_TWICE, OWN_EDGE, OWN_VERTEX
from .bvh import element_boxes, median_order


@dataclass(frozen=True)
class TriangleSurface:
    """Triangles (T, 3), their edges and threads (E, 2) on positions (V, 3) [m], with boxes around them.

    Attributes:
        vertices (N,): those that are used, near ones next to each other. threads (K,): rows of the edges that belong to
            no triangle.
        triangle_order, edge_order (L,): leaves of trees over triangles and edges (see `bvh`).
        leaves, neighbours, boxes: what else the kernels want to know of the triangles, and of the positions.
        sewn (V,): the same number for vertices that are sewn together; None if none are. As what has a common vertex
            always touches and is no pair, so is what has vertices that are sewn together.
        joins: pairs of vertices (J, 2), in order, that are joined by an edge, or would be if what is sewn were one; and
            where those of each vertex begin (V + 1,). None if none are sewn.
    """

    positions: FloatArray
    triangles: IntArray
    edges: IntArray
    vertices: IntArray
    triangle_order: IntArray
    edge_order: IntArray
    leaves: Leaves
    neighbours: Neighbours
    boxes: Boxes
    threads: IntArray
    sewn: IntArray | None = None
    joins: tuple[IntArray, IntArray] | None = None

    @staticmethod
    def build(positions: FloatArray, triangles: IntArray, sewn: IntArray | None = None,
              threads: IntArray | None = None, points: IntArray | None = None) -> TriangleSurface:
        """The surface of triangles (T, 3), threads (K, 2) and vertices by themselves, points (N,), on positions (V, 3)
        [m]; sewn (V,) as above."""
        edges, side = _edges_of(triangles, np.zeros((0, 2), dtype=np.int64) if threads is None else threads)
        edge_order = median_order(*element_boxes(edges, positions))
        along = edges[edge_order[edge_order >= 0]].ravel()
        used, at = np.unique(along, return_index=True)
        order = median_order(*element_boxes(triangles, positions))
        leaf = order[order >= 0]
        leaves = _leaves(triangles[leaf], side[leaf], edges, len(positions))
        vertices = used[np.argsort(at)]
        if points is not None:
            vertices = np.concatenate([vertices, points])
        joins = None if sewn is None else _joins(edges, sewn)
        kernels = current().surface_pairs
        neighbours = kernels.neighbours(leaves, edges if joins is None else joins[0])
        return TriangleSurface(positions, triangles, edges, vertices, order, edge_order, leaves, neighbours,
                               kernels.boxes(positions, order, leaves, neighbours),
                               np.setdiff1d(np.arange(len(edges)), side), sewn, joins)

    def part(self, triangles: BoolArray, threads: BoolArray) -> TriangleSurface:
        """Some of the triangles (T,) and threads (K,). What an edge of the whole surface joins counts as joined."""
        part = TriangleSurface.build(self.positions, self.triangles[triangles],
                                     threads=self.edges[self.threads[threads]])
        begin = np.searchsorted(self.edges[:, 0], np.arange(len(self.positions) + 1))
        joins = (self.edges, begin) if self.joins is None else self.joins
        kernels = current().surface_pairs
        neighbours = kernels.neighbours(part.leaves, joins[0])
        return replace(part, sewn=self.sewn, joins=joins, neighbours=neighbours,
                       boxes=kernels.boxes(part.positions, part.triangle_order, part.leaves, neighbours))

    def apart(self, one: IntArray, other: IntArray) -> IntArray:
        """Rows of the pairs of primitives with vertices (P, a) and (P, b) of which none are sewn together."""
        if self.sewn is None:
            return np.arange(len(one))
        a, b = self.sewn[one], self.sewn[other]
        rows: IntArray = np.flatnonzero((a[:, :, None] != b[:, None, :]).all(axis=(1, 2)))
        return rows

    @property
    def arrays(self) -> Surface:
        """All of it as the kernels take it."""
        return (self.positions, self.edges, self.vertices, self.triangle_order, self.leaves, self.neighbours,
                self.boxes)

    def at(self, positions: FloatArray) -> TriangleSurface:
        """The same surface at other positions (V, 3) [m]."""
        boxes = current().surface_pairs.boxes(positions, self.triangle_order, self.leaves, self.neighbours)
        return replace(self, positions=positions, boxes=boxes)


def _edges_of(triangles: IntArray, threads: IntArray) -> tuple[IntArray, IntArray]:
    """Every edge (E, 2) of triangles (T, 3) and threads (K, 2) once, the smaller vertex first, in order; and each
    side's edge (T, 3)."""
    following, count = np.roll(triangles, -1, axis=1), int(max(triangles.max(initial=0), threads.max(initial=0))) + 1
    one, other = np.concatenate([triangles.ravel(), threads[:, 0]]), np.concatenate([following.ravel(), threads[:, 1]])
    edges, number = np.unique(np.minimum(one, other) * count + np.maximum(one, other), return_inverse=True)
    return np.column_stack(np.divmod(edges, count)), number[:triangles.size].reshape(-1, 3)


def _leaves(corners: IntArray, sides: IntArray, edges: IntArray, vertex_count: int) -> Leaves:
    """What the kernels want to know of triangles with these corners (T, 3) and edges at their sides (T, 3)."""
    owned = _owned(corners, sides)
    whole = np.flatnonzero(np.repeat(owned & CORNER_TWICE == 0, 3))
    star = whole[np.argsort(corners.ravel()[whole], kind="stable")]
    vertex = np.arange(vertex_count + 1)
    first, begin = np.searchsorted(edges[:, 0], vertex), np.searchsorted(corners.ravel()[star], vertex)
    return corners, sides, owned, first, star, begin


def _owned(corners: IntArray, sides: IntArray) -> npt.NDArray[np.uint8]:
    """What belongs to which of the triangles with these corners and sides (T, 3), as bits (T,)."""
    owned = np.zeros(3 * len(corners), dtype=np.uint8)
    for what, bit in ((corners, OWN_VERTEX), (sides, OWN_EDGE)):
        owned[np.unique(what, return_index=True)[1]] |= bit
    bits: npt.NDArray[np.uint8] = np.bitwise_or.reduce(
        np.left_shift(owned.reshape(-1, 3), np.arange(3, dtype=np.uint8)), axis=1, initial=0)
    twice = (corners == np.roll(corners, 1, axis=1)).any(axis=1)
    return np.where(twice, bits | CORNER_TWICE, bits).astype(np.uint8)


def _joins(edges: IntArray, sewn: IntArray) -> tuple[IntArray, IntArray]:
    """`joins` of a surface with these edges (E, 2), where vertices are sewn together as `sewn` (V,) says."""
    count = len(sewn)
    order = np.argsort(sewn, kind="stable")
    begin = np.searchsorted(sewn[order], np.arange(int(sewn.max(initial=0)) + 2))
    size = np.diff(begin)
    itself = np.repeat(np.flatnonzero(size > 1), 2).reshape(-1, 2)
    pairs = np.unique(np.concatenate([np.sort(sewn[edges], axis=1), itself]), axis=0)
    many = size[pairs[:, 0]] * size[pairs[:, 1]]                     # members of the one group with those of the other
    row = np.repeat(np.arange(len(pairs)), many)
    place = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
    one, other = pairs[row].T
    ends = np.stack([order[begin[one] + place // size[other]], order[begin[other] + place % size[other]]], axis=1)
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return ends, np.searchsorted(ends[:, 0], np.arange(count + 1))
