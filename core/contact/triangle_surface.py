# SPDX-License-Identifier: GPL-3.0-or-later
"""A triangle surface as a whole, for looking at it: triangles, edges, and a tree over each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from .bvh import BVH, element_boxes


@dataclass(frozen=True)
class TriangleSurface:
    """Triangles (T, 3) and their edges (E, 2) on positions (V, 3) [m], with trees fitted to both.

    vertices (N,): those that the triangles use, near ones next to each other.
    """

    positions: FloatArray
    triangles: IntArray
    edges: IntArray
    vertices: IntArray
    triangle_tree: BVH
    edge_tree: BVH

    @staticmethod
    def build(positions: FloatArray, triangles: IntArray) -> TriangleSurface:
        """The surface of triangles (T, 3) on positions (V, 3) [m]."""
        edges = unique_edges(triangles)
        edge_tree = BVH.build(*element_boxes(edges, positions))
        along = edges[edge_tree.order[edge_tree.order >= 0]].ravel()
        used, first = np.unique(along, return_index=True)
        return TriangleSurface(
            positions,
            triangles,
            edges,
            used[np.argsort(first)],
            BVH.build(*element_boxes(triangles, positions)),
            edge_tree,
        )

    def at(self, positions: FloatArray) -> TriangleSurface:
        """The same surface at other positions (V, 3) [m]."""
        if positions is self.positions:
            return self
        return TriangleSurface(
            positions,
            self.triangles,
            self.edges,
            self.vertices,
            self.triangle_tree.refit(*element_boxes(self.triangles, positions)),
            self.edge_tree.refit(*element_boxes(self.edges, positions)),
        )


def unique_edges(triangles: IntArray) -> IntArray:
    """Every edge (E, 2) of triangles (T, 3) once, the smaller vertex first, in order."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges: IntArray = np.unique(np.sort(sides, axis=1), axis=0).reshape(-1, 2)
    return edges
