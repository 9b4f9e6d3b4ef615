# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the points inside the closed parts of a surface.

NumPy tests all rays and triangles together, the compiled kernel one ray after the other. By `formulas.containment`.

Count the triangles through which a ray from the point upwards leaves, minus those through which it enters. The count is
positive exactly inside. Whether the ray meets a triangle is decided edge by edge in the plane z = 0 with the half-open
rule of the winding number, and both triangles of an edge evaluate it from its smaller vertex, so that rays through
edges and vertices are counted exactly once.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas.containment import edge_turn, is_above
from .trees import touching_boxes
from .vectors import take


def inside(points: FloatArray, positions: FloatArray, triangles: IntArray, closed: BoolArray, order: IntArray,
           nodes: FloatArray) -> BoolArray:
    """Return whether each point (Q, 3) [m] is inside a closed part.

    The surface has positions (V, 3) [m] and triangles (T, 3), of which closed (T,) belong to closed parts.
    """
    result = np.zeros(len(points), dtype=bool)
    low, high = nodes[:3, 1], nodes[3:, 1]
    maybe = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    ray_end = points[maybe].copy()
    ray_end[:, 2] = high[2]
    ray, triangle = touching_boxes(order, nodes, points[maybe], ray_end).T
    ray, triangle = ray[closed[triangle]], triangle[closed[triangle]]
    p = take(points[maybe], ray)
    a, b, c = (take(positions, triangles[triangle, k]) for k in range(3))
    turns = np.zeros(len(ray), dtype=np.int64)
    for k in range(3):
        start, end = triangles[triangle, k], triangles[triangle, (k + 1) % 3]
        first, second = np.minimum(start, end), np.maximum(start, end)
        x0, y0 = positions[first, 0], positions[first, 1]
        x1, y1 = positions[second, 0], positions[second, 1]
        turn = edge_turn(p, x0, y0, x1, y1)
        turns += np.where(start == first, turn, -turn)
    result[maybe] = np.bincount(ray, turns * is_above(turns, p, a, b, c), minlength=len(maybe)) > 0.5
    return result
