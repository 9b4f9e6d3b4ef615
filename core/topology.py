# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges and hinges of a triangle mesh."""

from __future__ import annotations

import numpy as np

from .arrays import IntArray


class Topology:
    """What is next to what.

    Attributes:
        edges (E, 2): every edge once, smaller index first, in lexicographic order.
        hinges (H, 4): shared edge v0 v1 in the winding of its first triangle, then the vertex opposite in that
            triangle and the one in the other. An edge of n triangles gives n - 1 hinges.
    """

    def __init__(self, triangles: IntArray) -> None:
        t = len(triangles)
        if t == 0:
            self.edges: IntArray = np.zeros((0, 2), dtype=np.int64)
            self.hinges: IntArray = np.zeros((0, 4), dtype=np.int64)
            return
        directed = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
        opposite = np.roll(triangles, 1, axis=1).ravel()
        ends = np.sort(directed, axis=1)
        order = np.lexsort((np.arange(3 * t), ends[:, 1], ends[:, 0]))
        ends, directed, opposite = ends[order], directed[order], opposite[order]
        same = (ends[1:] == ends[:-1]).all(axis=1)
        self.edges = ends[np.concatenate([[True], ~same])]
        first = np.flatnonzero(same)
        self.hinges = np.column_stack([directed[first], opposite[first], opposite[first + 1]])


def join_edges(inner: IntArray, loose: IntArray) -> tuple[IntArray, IntArray]:
    """All edges (E, 2), the triangles' first, and the ones of `loose` that no triangle has (L, 2), sorted."""
    if len(loose) == 0:
        return inner, loose
    loose = np.unique(np.sort(loose, axis=1), axis=0)
    both, count = np.unique(np.concatenate([inner, inner, loose]), axis=0, return_counts=True)
    only = both[count == 1]
    return np.concatenate([inner, only]), only


def bodies(edges: IntArray, vertex_count: int) -> IntArray:
    """Which connected piece each vertex belongs to (V,), numbered from 0 in the order of their first vertices."""
    label = np.arange(vertex_count)
    while True:
        lowest = label.copy()                                      # of the vertex itself and of its neighbours
        np.minimum.at(lowest, edges[:, 0], label[edges[:, 1]])
        np.minimum.at(lowest, edges[:, 1], label[edges[:, 0]])
        lowest = lowest[lowest]                                    # and of what those point to, which halves the way
        if (lowest == label).all():
            return np.unique(label, return_inverse=True)[1]
        label = lowest
