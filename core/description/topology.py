# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges and hinges of a triangle mesh."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, IntArray


class Topology:
    """Edges of a triangle mesh, and its hinges: pairs of triangles with a common edge.

    Attributes:
        edges: (E, 2), every edge once, smaller index first, in lexicographic order.
        hinges: (H, 4), vertices v0, v1 of the common edge, in the winding of the first triangle, then the opposite
            vertex of the first and of the second triangle. An edge of n triangles has n - 1 hinges.
        hinge_corners: (H, 2), corners at the two opposite vertices, as 3 t + i for corner i of triangle t.
        hinge_branches: (H,), whether the edge of the hinge has more than two triangles.
    """

    def __init__(self, triangles: IntArray) -> None:
        t = len(triangles)
        if t == 0:
            self.edges: IntArray = np.zeros((0, 2), dtype=np.int64)
            self.hinges: IntArray = np.zeros((0, 4), dtype=np.int64)
            self.hinge_corners: IntArray = np.zeros((0, 2), dtype=np.int64)
            self.hinge_branches: BoolArray = np.zeros(0, dtype=np.bool_)
            return
        flat, n = triangles.ravel(), int(triangles.max()) + 1
        following = np.roll(triangles, -1, axis=1).ravel()         # the other end of the edge from each corner
        keys = np.minimum(flat, following) * n + np.maximum(flat, following)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        same = keys[1:] == keys[:-1]
        self.edges = np.column_stack(np.divmod(keys[np.concatenate([[True], ~same])], n))
        first = np.flatnonzero(same)
        one, two = order[first], order[first + 1]
        self.hinge_corners = np.column_stack([_opposite(one), _opposite(two)])
        self.hinges = np.column_stack([flat[one], following[one], flat[self.hinge_corners]])
        self.hinge_branches = np.concatenate([[False], same[:-1]])[first] | np.concatenate([same[1:], [False]])[first]


def _opposite(corners: IntArray) -> IntArray:
    """Return the corners (n,) opposite the edges that begin at `corners` (n,), in the same triangles."""
    return corners - corners % 3 + (corners + 2) % 3


def join_edges(inner: IntArray, loose: IntArray) -> tuple[IntArray, IntArray]:
    """Return all edges (E, 2), those of triangles first, and the loose ones among them (L, 2).

    inner: sorted edges of triangles. loose: other edges, in any order; those that are also in `inner` do not count.
    """
    if len(loose) == 0:
        return inner, loose
    loose = np.unique(np.sort(loose, axis=1), axis=0)
    both, count = np.unique(np.concatenate([inner, inner, loose]), axis=0, return_counts=True)
    only = both[count == 1]
    return np.concatenate([inner, only]), only


def bodies(edges: IntArray, vertex_count: int) -> IntArray:
    """Return the number of the connected component of each vertex (V,).

    Components are numbered from 0 in the order of their first vertices.
    """
    label = np.arange(vertex_count)
    while True:
        lowest = label.copy()                                      # of the vertex itself and of its neighbours
        np.minimum.at(lowest, edges[:, 0], label[edges[:, 1]])
        np.minimum.at(lowest, edges[:, 1], label[edges[:, 0]])
        lowest = lowest[lowest]                                    # and of the vertices with these labels, for speed
        if (lowest == label).all():
            return np.unique(label, return_inverse=True)[1]
        label = lowest


def merged(first: IntArray, second: IntArray) -> IntArray:
    """Return the number of the piece of each vertex (V,), where two numberings (V,) of pieces both connect."""
    offset = int(first.max()) + 1
    pieces: IntArray = bodies(np.column_stack([first, second + offset]), offset + int(second.max()) + 1)[first]
    return pieces
