# SPDX-License-Identifier: GPL-3.0-or-later
"""A triangle surface as a whole, for looking at it: triangles, edges, and trees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..kernels.reference.surfaces import CORNER_TWICE, OWN_EDGE, OWN_VERTEX, Boxes, Leaves, Surface
from .bvh import element_boxes, median_order


@dataclass(frozen=True)
class TriangleSurface:
    """Triangles (T, 3) and their edges (E, 2) on positions (V, 3) [m], with boxes around them.

    Attributes:
        vertices (N,): those that the triangles use, near ones next to each other.
        triangle_order, edge_order (L,): leaves of trees over triangles and edges (see `bvh`).
        leaves, boxes: what else the kernels want to know of the triangles, and of the positions.
    """

    positions: FloatArray
    triangles: IntArray
    edges: IntArray
    vertices: IntArray
    triangle_order: IntArray
    edge_order: IntArray
    leaves: Leaves
    boxes: Boxes

    @staticmethod
    def build(positions: FloatArray, triangles: IntArray) -> TriangleSurface:
        """The surface of triangles (T, 3) on positions (V, 3) [m]."""
        edges, side = _edges_of(triangles)
        edge_order = median_order(*element_boxes(edges, positions))
        along = edges[edge_order[edge_order >= 0]].ravel()
        used, at = np.unique(along, return_index=True)
        order = median_order(*element_boxes(triangles, positions))
        leaf = order[order >= 0]
        leaves = _leaves(triangles[leaf], side[leaf], edges, len(positions))
        return TriangleSurface(positions, triangles, edges, used[np.argsort(at)], order, edge_order, leaves,
                               current().surfaces.boxes(positions, triangles, edges, order, edge_order, leaves))

    @property
    def arrays(self) -> Surface:
        """All of it as the kernels take it."""
        return (self.positions, self.triangles, self.edges, self.vertices, self.triangle_order, self.edge_order,
                self.leaves, self.boxes)

    def at(self, positions: FloatArray) -> TriangleSurface:
        """The same surface at other positions (V, 3) [m]."""
        boxes = current().surfaces.boxes(positions, self.triangles, self.edges, self.triangle_order, self.edge_order,
                                         self.leaves)
        return replace(self, positions=positions, boxes=boxes)


def _edges_of(triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Every edge (E, 2) of triangles (T, 3) once, the smaller vertex first, in order; and each side's edge (T, 3)."""
    following, count = np.roll(triangles, -1, axis=1), int(triangles.max(initial=0)) + 1
    keys = np.minimum(triangles, following) * count + np.maximum(triangles, following)
    edges, number = np.unique(keys, return_inverse=True)
    return np.column_stack(np.divmod(edges, count)), number.reshape(-1, 3)


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
