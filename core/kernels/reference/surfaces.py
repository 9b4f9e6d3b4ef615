# SPDX-License-Identifier: GPL-3.0-or-later
"""Two triangle surfaces, or one and itself: where edges may pierce triangles, and how close they come.

Of one surface and itself, what belongs together is left out: for crossings, an edge and a triangle with a common
vertex; for gaps, what has a common vertex or is joined by an edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import BoolArray, FloatArray, IntArray
from .distances import edge_edge, point_triangle
from .trees import element_boxes, fitted, touching_boxes, touching_itself, touching_trees

OWN_VERTEX, OWN_EDGE, CORNER_TWICE = 1, 8, 64
"""What a triangle owns, in bits: of corner k, OWN_VERTEX << k; of the side from corner k, OWN_EDGE << k."""


Leaves = tuple[IntArray, IntArray, npt.NDArray[np.uint8], IntArray, IntArray, IntArray]
"""What is fixed about a surface, with its triangles in the order of the tree's leaves: corners (T, 3); the edge at the
side from each corner (T, 3); what of a triangle is its own (T,): every vertex and every edge belongs to the first one
that has it.
first (V + 1,): edges first[v]..first[v + 1] - 1 have v as their smaller vertex. star (S,), begin (V + 1,):
star[begin[v]..begin[v + 1] - 1] are the corners at v, as 3 triangle + corner; none of triangles with a corner twice.
"""

Boxes = tuple[npt.NDArray[Any], ...]
"""The boxes of a surface at its positions: what they are is the backend's business."""

Surface = tuple[FloatArray, IntArray, IntArray, IntArray, IntArray, IntArray, Leaves, Boxes]
"""A triangle surface: x (V, 3) [m]; triangles (T, 3); edges (E, 2), in order; vertices (N,): those that the triangles
use; leaves (L,) of trees over the triangles and over the edges; and the rest.
"""


def boxes(x: FloatArray, triangles: IntArray, edges: IntArray, order: IntArray, edge_order: IntArray,
          leaves: Leaves) -> Boxes:
    """The boxes at positions x (V, 3) [m]: here, nodes of a tree over triangles and of one over edges."""
    return fitted(order, *element_boxes(triangles, x, x)), fitted(edge_order, *element_boxes(edges, x, x))


def meet(a: Surface, b: Surface, same: bool, radius: float, joins: tuple[IntArray, IntArray] | None = None
         ) -> tuple[IntArray, IntArray, float]:
    """Where two surfaces may pierce each other, and how close they come; `same`: both are one surface.

    `joins`: pairs of vertices that count as joined by an edge, as of `TriangleSurface`; the edges if None.

    Returns:
        pairs (P, 2) of an edge of a and a triangle of b, then of an edge of b and a triangle of a (none if they are the
        same), in order, that hold all that pierce: which pairs besides is the backend's choice. And the smallest
        distance [m] of what is not left out, `radius` [m] if there is no smaller one.
    """
    x, triangles_a, edges_a, vertices_a, order_a, edge_order_a, _, (nodes_a, tree_a) = a
    y, triangles_b, edges_b, vertices_b, order_b, edge_order_b, _, (nodes_b, tree_b) = b
    to_b = may_pierce(edges_a, x, edge_order_a, tree_a, triangles_b, y, order_b, nodes_b, same)
    to_a = to_b[:0]
    if not same:
        to_a = may_pierce(edges_b, y, edge_order_b, tree_b, triangles_a, x, order_a, nodes_a, same)
    if radius > 0.0:
        joined = edges_b if joins is None else joins[0]
        radius = gap_to_triangles(vertices_a, x, triangles_b, y, order_b, nodes_b, joined, radius, same)
        if not same:
            radius = gap_to_triangles(vertices_b, y, triangles_a, x, order_a, nodes_a, edges_a, radius, same)
        radius = gap_of_edges(edges_a, x, edge_order_a, tree_a, edges_b, y, edge_order_b, tree_b, radius, same, joined)
    return to_b, to_a, radius


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

    edges (E, 2), in order: vertices that are joined.
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
    order_b: IntArray, nodes_b: FloatArray, radius: float, same: bool, joined: IntArray
) -> float:
    """The smallest distance [m] of edges (E, 2) on x and y with trees, `radius` if none is less.

    joined (J, 2), in order: vertices that are joined by an edge.
    """
    low, high = element_boxes(edges_b, y, y)
    if same:
        pairs = touching_itself(order_b, fitted(order_b, low - 0.5 * radius, high + 0.5 * radius))
        for k in range(2):
            for m in range(2):
                pairs = pairs[~_joined(joined, edges_a[pairs[:, 0], k], edges_a[pairs[:, 1], m], len(x))]
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
