# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points lie inside the closed parts of a surface, and where its nearest point is."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from .bvh import BVH, nearest_candidates
from .distance import PointTriangle, point_triangle

BLOCK = 1024
"""Points searched at once for their nearest triangle. Bounds the memory where all triangles are equally near."""


def inside(points: FloatArray, positions: FloatArray, triangles: IntArray, closed: BoolArray, tree: BVH) -> BoolArray:
    """Whether each point (Q, 3) [m] is inside a closed part; positions (V, 3) [m], triangles (T, 3), closed (T,)."""
    if not closed.any() or len(points) == 0:
        return np.zeros(len(points), dtype=bool)
    result: BoolArray = current().containment.inside(points, positions, triangles, closed, tree.order, tree.nodes)
    return result


def nearest(
    points: FloatArray, positions: FloatArray, triangles: IntArray, tree: BVH
) -> tuple[IntArray, PointTriangle]:
    """The nearest triangle (Q,) of each point (Q, 3) [m] and the closest point on it; the first of equals."""
    found: list[IntArray] = []
    for begin in range(0, len(points), BLOCK):
        block = points[begin : begin + BLOCK]
        pairs = nearest_candidates(tree, block)
        corner = [positions[triangles[pairs[:, 1], k]] for k in range(3)]
        close = point_triangle(block[pairs[:, 0]], corner[0], corner[1], corner[2])
        order = np.lexsort((pairs[:, 1], close.distance, pairs[:, 0]))
        first = np.searchsorted(pairs[order, 0], np.arange(len(block)))
        found.append(pairs[order[first], 1])
    triangle = np.concatenate([np.zeros(0, dtype=np.int64), *found])
    corner = [positions[triangles[triangle, k]] for k in range(3)]
    return triangle, point_triangle(points, corner[0], corner[1], corner[2])
