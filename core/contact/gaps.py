# SPDX-License-Identifier: GPL-3.0-or-later
"""The smallest distance between two triangle surfaces, or of one from itself, within a search radius.

The closest points of two surfaces that do not cross are a vertex and a triangle, or two edges. Each search takes
what the one before has found as its radius.

Of one surface, neighbours are left out: primitives that share a vertex, or that an edge connects. They are about an
edge length apart because the mesh is made so, and say nothing about folds.
"""

from __future__ import annotations

from ..kernels import current
from .triangle_surface import TriangleSurface


def gap_between(a: TriangleSurface, b: TriangleSurface, radius: float) -> float:
    """The smallest distance [m] between two surfaces, `radius` [m] if there is no smaller one."""
    for one, other in ((a, b), (b, a)):
        radius = _to_triangles(one, other, radius)
    return _of_edges(a, b, radius)


def gap_in_itself(surface: TriangleSurface, radius: float) -> float:
    """The smallest distance [m] of a surface from itself, neighbours left out; `radius` [m] if there is no smaller."""
    return _of_edges(surface, surface, _to_triangles(surface, surface, radius))


def _to_triangles(a: TriangleSurface, b: TriangleSurface, radius: float) -> float:
    gap: float = current().surfaces.gap_to_triangles(
        a.vertices, a.positions, b.triangles, b.positions, b.triangle_tree.order, b.triangle_tree.nodes, b.edges,
        radius, a is b)
    return gap


def _of_edges(a: TriangleSurface, b: TriangleSurface, radius: float) -> float:
    gap: float = current().surfaces.gap_of_edges(
        a.edges, a.positions, a.edge_tree.order, a.edge_tree.nodes, b.edges, b.positions, b.edge_tree.order,
        b.edge_tree.nodes, radius, a is b)
    return gap
