# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest distance between two triangle surfaces, or of one from itself, within a search radius.

The closest points of two surfaces that do not cross are a vertex and a triangle, or two edges. Each search takes
what the one before has found as its radius.

Of one surface, neighbours are left out: primitives that share a vertex, or that an edge connects. They are about an
edge length apart because the mesh is made so, and say nothing about folds.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, IntArray
from .bvh import element_boxes, touching_boxes, touching_itself, touching_trees
from .distance import edge_edge, point_triangle
from .triangle_surface import TriangleSurface


def gap_between(a: TriangleSurface, b: TriangleSurface, radius: float) -> float:
    """The smallest distance [m] between two surfaces, `radius` [m] if there is no smaller one."""
    for one, other in ((a, b), (b, a)):
        vertex, triangle = _vertices_near(one, other, radius)
        radius = _to_triangles(one, vertex, other, triangle, radius)
    low, high = element_boxes(b.edges, b.positions)
    grown = b.edge_tree.refit(low - radius, high + radius)
    return _to_edges(a, b, touching_trees(a.edge_tree, grown), radius)


def gap_in_itself(surface: TriangleSurface, radius: float) -> float:
    """The smallest distance [m] of a surface from itself, neighbours left out; `radius` [m] if there is no smaller."""
    vertex, triangle = _vertices_near(surface, surface, radius)
    corners = surface.triangles[triangle]
    far = np.ones(len(vertex), dtype=bool)
    for k in range(3):
        far &= ~_neighbours(surface, vertex, corners[:, k])
    radius = _to_triangles(surface, vertex[far], surface, triangle[far], radius)

    low, high = element_boxes(surface.edges, surface.positions)
    pairs = touching_itself(surface.edge_tree.refit(low - 0.5 * radius, high + 0.5 * radius))
    far = np.ones(len(pairs), dtype=bool)
    ends_a, ends_b = surface.edges[pairs[:, 0]], surface.edges[pairs[:, 1]]
    for k in range(2):
        for m in range(2):
            far[far] = ~_neighbours(surface, ends_a[far, k], ends_b[far, m])
    return _to_edges(surface, surface, pairs[far], radius)


def _vertices_near(points: TriangleSurface, surface: TriangleSurface, radius: float) -> tuple[IntArray, IntArray]:
    """Vertices of the one and triangles of the other whose boxes are within the radius [m]."""
    used = np.unique(points.edges)
    place = points.positions[used]
    vertex, triangle = touching_boxes(surface.triangle_tree, place - radius, place + radius).T
    return used[vertex], triangle


def _neighbours(surface: TriangleSurface, i: IntArray, j: IntArray) -> BoolArray:
    """Whether vertices i and j (P,) are the same or joined by an edge."""
    width = len(surface.positions)
    known = surface.edges[:, 0] * width + surface.edges[:, 1]                # in order, as the edges are
    key = np.minimum(i, j) * width + np.maximum(i, j)
    at = np.minimum(np.searchsorted(known, key), len(known) - 1)
    joined: BoolArray = (known[at] == key) | (i == j)
    return joined


def _to_triangles(
    a: TriangleSurface, vertex: IntArray, b: TriangleSurface, triangle: IntArray, radius: float
) -> float:
    corner = [b.positions[b.triangles[triangle, k]] for k in range(3)]
    distance = point_triangle(a.positions[vertex], corner[0], corner[1], corner[2]).distance
    return float(distance.min(initial=radius))


def _to_edges(a: TriangleSurface, b: TriangleSurface, pairs: IntArray, radius: float) -> float:
    ends_a, ends_b = a.edges[pairs[:, 0]], b.edges[pairs[:, 1]]
    found = edge_edge(
        a.positions[ends_a[:, 0]], a.positions[ends_a[:, 1]], b.positions[ends_b[:, 0]], b.positions[ends_b[:, 1]]
    )
    return float(found.distance.min(initial=radius))
