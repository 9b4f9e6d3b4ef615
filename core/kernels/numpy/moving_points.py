# SPDX-License-Identifier: GPL-3.0-or-later
"""Find where moving points meet a moving triangle surface; `contact.planes` makes contacts of the results.

NumPy sorts the pairs of all points; the compiled kernel has a list of triangles for each point (`nearest_triangles`).
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .distances import point_triangle
from .point_triangle_ccd import first_entries
from .trees import touching_boxes

Places = tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray, IntArray]
"""vertex (N,), triangle (N,), and barycentric (N, 3), point (N, 3) [m], distance (N,) [m] and feature code (N,) of the
closest point of the triangle"""
Entries = tuple[IntArray, IntArray, FloatArray, FloatArray]
"""vertex (N,), triangle (N,), barycentric (N, 3), side (N,): +1 if the point comes from the front, -1 from the back"""


def meetings(
    x_t0: FloatArray, x_t1: FloatArray, reach: FloatArray, drift: FloatArray, order: IntArray, nodes: FloatArray,
    triangles: IntArray, closed: BoolArray, features: IntArray, degree: IntArray, surface_t0: FloatArray,
    surface_t1: FloatArray
) -> tuple[Places, Entries, Places]:
    """Find where points that move from x_t0 to x_t1 (V, 3) [m] meet a surface.

    Args:
        reach: (V,) [m], largest distance from the surface at which a point is near it.
        drift, order, nodes: (3,), (L,), (6, 2L), the surface's tree, fitted around surface_t0 + drift and surface_t1.
        triangles, closed, features, degree: as in `SurfaceShape`.
        surface_t0, surface_t1: positions of the surface [m].

    Returns:
        The nearest place of each point that is near the surface at the start; the first entry of each path; and all
            places
        where the distance from the end has a minimum within reach, nearest first for each point. A place on an edge or
            a
        vertex is a minimum only if it is the closest point of all triangles around it; the nearest place always is one.
    """
    moved = x_t0 + drift
    low, high = np.minimum(moved, x_t1) - reach[:, None], np.maximum(moved, x_t1) + reach[:, None]
    vertex, triangle = touching_boxes(order, nodes, low, high).T
    pair, weights, side = first_entries(vertex, triangle, x_t0, x_t1, triangles, closed, surface_t0, surface_t1)
    return (
        _nearest(x_t0, reach, vertex, triangle, triangles, surface_t0),
        (vertex[pair], triangle[pair], weights, side),
        _minima(x_t1, reach, vertex, triangle, triangles, features, degree, surface_t1),
    )


def _nearest(x: FloatArray, reach: FloatArray, vertex: IntArray, triangle: IntArray, triangles: IntArray,
             surface: FloatArray) -> Places:
    """Return the nearest triangle within reach of each vertex, the one with the smaller number of equal distances.

    x (V, 3), reach (V,) [m]. vertex, triangle (P,): candidates. triangles (T, 3), surface [m].
    """
    weights, point, distance, code = point_triangle(x[vertex], *(surface[triangles[triangle, k]] for k in range(3)))
    near = np.flatnonzero(distance <= reach[vertex])
    row = near[np.lexsort((triangle[near], distance[near], vertex[near]))]
    row = row[np.unique(vertex[row], return_index=True)[1]]
    return vertex[row], triangle[row], weights[row], point[row], distance[row], code[row]


def _minima(x: FloatArray, reach: FloatArray, vertex: IntArray, triangle: IntArray, triangles: IntArray,
            features: IntArray, degree: IntArray, surface: FloatArray) -> Places:
    """Return the places where the distance from x (V, 3) [m] has a minimum within reach, nearest first.

    Arguments are those of `_nearest`, with the features (T, 7) of triangles and their degree (F,).
    """
    weights, point, distance, code = point_triangle(x[vertex], *(surface[triangles[triangle, k]] for k in range(3)))
    row = np.flatnonzero(distance <= reach[vertex])
    row = row[np.lexsort((triangle[row], distance[row], vertex[row]))]
    feature = features[triangle[row], code[row]]
    _, first, inverse, count = np.unique(
        vertex[row] * len(degree) + feature, return_index=True, return_inverse=True, return_counts=True)
    once = np.zeros(len(row), dtype=bool)
    once[first] = True
    minimum = once & (count[inverse.reshape(-1)] == degree[feature])
    minimum[np.unique(vertex[row], return_index=True)[1]] = True             # in spite of rounding
    row = row[minimum]
    return vertex[row], triangle[row], weights[row], point[row], distance[row], code[row]
