# SPDX-License-Identifier: GPL-3.0-or-later
"""A triangle surface as a whole, for looking at it: triangles, edges, and trees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..kernels.reference.surfaces import CORNER_TWICE, OWN_EDGE, OWN_VERTEX, Leaves, Surface
from .bvh import BVH, element_boxes


@dataclass(frozen=True)
class TriangleSurface:
    """Triangles (T, 3) and their edges (E, 2) on positions (V, 3) [m], with a tree fitted to the triangles.

    vertices (N,): those that the triangles use, near ones next to each other. edge_tree: its leaves are in order, its
    boxes those of the positions it was made from. leaves: what else the kernels want to know.
    """

    positions: FloatArray
    triangles: IntArray
    edges: IntArray
    vertices: IntArray
    triangle_tree: BVH
    edge_tree: BVH
    leaves: Leaves

    @staticmethod
    def build(positions: FloatArray, triangles: IntArray) -> TriangleSurface:
        """The surface of triangles (T, 3) on positions (V, 3) [m]."""
        edges, side = _edges_of(triangles)
        edge_tree = BVH.build(*element_boxes(edges, positions))
        along = edges[edge_tree.order[edge_tree.order >= 0]].ravel()
        used, at = np.unique(along, return_index=True)
        vertices = used[np.argsort(at)]
        tree = BVH.build(*element_boxes(triangles, positions))
        leaf = tree.order[tree.order >= 0]
        corners, sides = triangles[leaf], side[leaf]
        owned = _owned(corners, sides)
        whole = np.flatnonzero(np.repeat(owned & CORNER_TWICE == 0, 3))
        star = whole[np.argsort(corners.ravel()[whole], kind="stable")]
        places = np.arange(len(positions) + 1)
        return TriangleSurface(
            positions, triangles, edges, vertices, tree, edge_tree,
            (corners, sides, owned, np.searchsorted(edges[:, 0], places), star,
             np.searchsorted(corners.ravel()[star], places)))

    @property
    def arrays(self) -> Surface:
        """All of it as the kernels take it."""
        return (self.positions, self.triangles, self.edges, self.vertices, self.triangle_tree.order,
                self.triangle_tree.nodes, self.edge_tree.order, self.leaves)

    def at(self, positions: FloatArray) -> TriangleSurface:
        """The same surface at other positions (V, 3) [m]."""
        if positions is self.positions:
            return self
        return replace(self, positions=positions, triangle_tree=self.triangle_tree.around(self.triangles, positions))


def unique_edges(triangles: IntArray) -> IntArray:
    """Every edge (E, 2) of triangles (T, 3) once, the smaller vertex first, in order."""
    return _edges_of(triangles)[0]


def _edges_of(triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Every edge (E, 2) of triangles (T, 3) once, the smaller vertex first, in order; and each side's edge (T, 3)."""
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    edges, number = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True)
    return edges.reshape(-1, 2), number.reshape(-1, 3).astype(np.int64)


def _owned(corners: IntArray, sides: IntArray) -> npt.NDArray[np.uint8]:
    """What belongs to which of the triangles with these corners and sides (T, 3), as bits (T,)."""
    owned = np.zeros(3 * len(corners), dtype=np.uint8)
    for what, bit in ((corners, OWN_VERTEX), (sides, OWN_EDGE)):
        owned[np.unique(what, return_index=True)[1]] |= bit
    bits: npt.NDArray[np.uint8] = np.bitwise_or.reduce(
        np.left_shift(owned.reshape(-1, 3), np.arange(3, dtype=np.uint8)), axis=1, initial=0)
    twice = (corners == np.roll(corners, 1, axis=1)).any(axis=1)
    return np.where(twice, bits | CORNER_TWICE, bits).astype(np.uint8)
