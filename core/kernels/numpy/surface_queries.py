# SPDX-License-Identifier: GPL-3.0-or-later
"""Nearest points on a mesh, and segments that meet one, by a tree of boxes around its triangles."""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas.segments import meets
from .distances import point_triangle
from .trees import PAIRS_PER_PIECE, nearest_candidates, touching_boxes
from .vectors import corners, split


def nearest(order: IntArray, nodes: FloatArray, triangles: IntArray, x: FloatArray, points: FloatArray
            ) -> tuple[IntArray, FloatArray]:
    """Return the nearest triangle (P,) of each point (P, 3) [m], and its nearest point (P, 3) [m].

    order, nodes: tree around triangles (T, 3) at x (V, 3) [m]. Of several nearest triangles it is the first.
    """
    found, place = np.zeros(len(points), dtype=np.int64), np.zeros_like(points)
    size = PAIRS_PER_PIECE // 256                                               # each may have many triangles
    for start in range(0, len(points), size):
        piece = points[start:start + size]
        pairs = nearest_candidates(order, nodes, piece)
        a, b, c = (x[triangles[pairs[:, 1], k]] for k in range(3))
        _, at, distance, _ = point_triangle(piece[pairs[:, 0]], a, b, c)
        best = np.lexsort((pairs[:, 1], distance, pairs[:, 0]))
        row, first = np.unique(pairs[best, 0], return_index=True)
        found[start + row], place[start + row] = pairs[best[first], 1], at[best[first]]
    return found, place


def blocked(order: IntArray, nodes: FloatArray, triangles: IntArray, x: FloatArray, starts: FloatArray,
            ends: FloatArray) -> BoolArray:
    """Return which segments, from starts to ends (P, 3) [m], meet a triangle; arguments as of `nearest`."""
    result = np.zeros(len(starts), dtype=np.bool_)
    size = PAIRS_PER_PIECE // 256                                               # each may have many triangles
    for first in range(0, len(starts), size):
        p, q = starts[first:first + size], ends[first:first + size]
        pairs = touching_boxes(order, nodes, np.minimum(p, q), np.maximum(p, q))
        hit = meets(split(p[pairs[:, 0]]), split(q[pairs[:, 0]]), *corners(x, triangles[pairs[:, 1]]))
        result[first + pairs[hit, 0]] = True
    return result
