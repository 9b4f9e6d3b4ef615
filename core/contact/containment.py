# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points lie inside the closed parts of a surface, and where its nearest point is."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from .bvh import BVH
from .distance import PointTriangle, point_triangle


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
    triangle: IntArray = current().surface_queries.nearest(tree.order, tree.nodes, triangles, positions, points)[0]
    corner = [positions[triangles[triangle, k]] for k in range(3)]
    return triangle, point_triangle(points, corner[0], corner[1], corner[2])
