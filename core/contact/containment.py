# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points lie inside the closed parts of a surface, and where its nearest point is.

Inside: count the triangles that a ray from the point upwards leaves through, less those it enters through. The count
is above zero exactly inside. Whether the ray meets a triangle is decided edge by edge in the plane z = 0 with the
half-open rule of the winding number, and each edge is evaluated from its smaller vertex by both of its triangles, so
that rays through edges and vertices are counted neither twice nor not at all.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .bvh import BVH, nearest_candidates, touching_boxes
from .distance import PointTriangle, point_triangle
from .vectors import cross, dot, subtract, take

BLOCK = 1024
"""Points searched at once for their nearest triangle. Bounds the memory where all triangles are equally near."""


def inside(points: FloatArray, positions: FloatArray, triangles: IntArray, closed: BoolArray, tree: BVH) -> BoolArray:
    """Whether each point (Q, 3) [m] is inside a closed part; positions (V, 3) [m], triangles (T, 3), closed (T,)."""
    result = np.zeros(len(points), dtype=bool)
    low, high = tree.box
    maybe = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
    if len(maybe) == 0 or not closed.any():
        return result
    ray_end = points[maybe].copy()
    ray_end[:, 2] = high[2]
    ray, triangle = touching_boxes(tree, points[maybe], ray_end).T
    ray, triangle = ray[closed[triangle]], triangle[closed[triangle]]
    p = take(points[maybe], ray)
    a, b, c = (take(positions, triangles[triangle, k]) for k in range(3))
    turns = np.zeros(len(ray), dtype=np.int64)
    for k in range(3):
        start, end = triangles[triangle, k], triangles[triangle, (k + 1) % 3]
        first, second = np.minimum(start, end), np.maximum(start, end)
        x0, y0 = positions[first, 0], positions[first, 1]
        x1, y1 = positions[second, 0], positions[second, 1]
        rising = (y0 <= p[1]) & (y1 > p[1])
        falling = (y1 <= p[1]) & (y0 > p[1])
        side = (x1 - x0) * (p[1] - y0) - (p[0] - x0) * (y1 - y0)       # above 0: p is left of first -> second
        turn = (rising & (side > 0.0)).astype(np.int64) - (falling & (side < 0.0))
        turns += np.where(start == first, turn, -turn)
    above = turns * dot(cross(subtract(b, a), subtract(c, a)), subtract(p, a)) < 0.0
    result[maybe] = np.bincount(ray, turns * above, minlength=len(maybe)) > 0.5
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
