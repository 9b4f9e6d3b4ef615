# SPDX-License-Identifier: GPL-3.0-or-later
"""Two triangle surfaces, or one and itself: where edges may pierce triangles, and how close they come.

Of one surface and itself, what belongs together is left out: for crossings, an edge and a triangle with a common
vertex; for gaps, what has a common vertex or is joined by an edge.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .distances import edge_edge, point_triangle
from .trees import element_boxes, fitted, touching_boxes, touching_itself, touching_trees


def may_pierce(
    edges: IntArray, x: FloatArray, edge_order: IntArray, edge_nodes: FloatArray, triangles: IntArray, y: FloatArray,
    order: IntArray, nodes: FloatArray, same: bool
) -> IntArray:
    """Pairs (P, 2) of edges (E, 2) on x [m] and triangles (T, 3) on y [m], in order, that hold all that pierce.

    Both with their trees; `same`: of one surface. Which pairs besides those that pierce is the backend's choice.
    """
    pairs = touching_trees(edge_order, edge_nodes, order, nodes)
    if same:
        ends, corners = edges[pairs[:, 0]], triangles[pairs[:, 1]]
        shared = np.zeros(len(pairs), dtype=bool)
        for end in range(2):
            for corner in range(3):
                shared |= ends[:, end] == corners[:, corner]
        pairs = pairs[~shared]
    return pairs


def gap_to_triangles(
    vertices: IntArray, x: FloatArray, triangles: IntArray, y: FloatArray, order: IntArray, nodes: FloatArray,
    edges: IntArray, radius: float, same: bool
) -> float:
    """The smallest distance [m] from vertices (N,) on x to triangles (T, 3) on y with a tree, `radius` if none is less.

    edges (E, 2), in order: of the triangles.
    """
    place = x[vertices]
    near, triangle = touching_boxes(order, nodes, place - radius, place + radius).T
    if same:
        for k in range(3):
            far = ~_joined(edges, vertices[near], triangles[triangle, k], len(x))
            near, triangle = near[far], triangle[far]
    corners = y[triangles[triangle]]
    distance = point_triangle(place[near], corners[:, 0], corners[:, 1], corners[:, 2])[2]
    return float(distance.min(initial=radius))


def gap_of_edges(
    edges_a: IntArray, x: FloatArray, order_a: IntArray, nodes_a: FloatArray, edges_b: IntArray, y: FloatArray,
    order_b: IntArray, nodes_b: FloatArray, radius: float, same: bool
) -> float:
    """The smallest distance [m] of edges (E, 2) on x and y with trees, `radius` if none is less."""
    low, high = element_boxes(edges_b, y, y)
    if same:
        pairs = touching_itself(order_b, fitted(order_b, low - 0.5 * radius, high + 0.5 * radius))
        for k in range(2):
            for m in range(2):
                pairs = pairs[~_joined(edges_a, edges_a[pairs[:, 0], k], edges_a[pairs[:, 1], m], len(x))]
    else:
        pairs = touching_trees(order_a, nodes_a, order_b, fitted(order_b, low - radius, high + radius))
    a, b = x[edges_a[pairs[:, 0]]], y[edges_b[pairs[:, 1]]]
    return float(edge_edge(a[:, 0], a[:, 1], b[:, 0], b[:, 1])[4].min(initial=radius))


def _joined(edges: IntArray, i: IntArray, j: IntArray, vertex_count: int) -> BoolArray:
    """Whether vertices i and j (P,) are the same or joined by one of the edges (E, 2), which are in order."""
    known = edges[:, 0] * vertex_count + edges[:, 1]
    key = np.minimum(i, j) * vertex_count + np.maximum(i, j)
    at = np.minimum(np.searchsorted(known, key), len(known) - 1)
    joined: BoolArray = (known[at] == key) | (i == j)
    return joined
