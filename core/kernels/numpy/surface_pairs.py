# SPDX-License-Identifier: GPL-3.0-or-later
"""Find where edges of two triangle surfaces, or of one with itself, may pierce triangles, and their smallest distance.

Of one surface with itself, adjacent primitives are left out: for intersections, an edge and a triangle with a common
vertex; for the distance, primitives with a common vertex or joined by an edge.

One search among pairs of triangles finds both (see `wide_bvh`, `triangle_pairs`). Pairs around a vertex, the most
frequent ones in a sheet, are known beforehand and not searched for (see `one_ring`). NumPy searches level by level and
then works on all pairs at once; the compiled search narrows its radius while it runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import FloatArray, IntArray
from .one_ring import Stars, find_stars, look_around, opposite_sides
from .trees import sorted_pairs
from .triangle_pairs import Triangles, apart, joins_of, may_pierce, rounding, smallest_gap
from .wide_bvh import Level, fit, lanes, touching_clusters, touching_members

Leaves = tuple[IntArray, IntArray, npt.NDArray[np.uint8], IntArray, IntArray, IntArray]
"""The constant arrays of a surface, with its triangles in the order of the tree's leaves: corners (T, 3); the edge that
begins at each corner (T, 3); owned (T,), as bits: every vertex and every edge is owned by the first triangle that has
it.
first (V + 1,): edges first[v]..first[v + 1] - 1 have v as their smaller vertex. star (S,), begin (V + 1,):
star[begin[v]..begin[v + 1] - 1] are the corners at v, as 3 triangle + corner, without triangles that have a corner
twice.
"""

Neighbours = tuple[Any, ...]
"""Constant arrays about adjacent triangles; each backend has its own."""

Boxes = tuple[Any, ...]
"""The boxes of a surface at its positions; each backend has its own."""

Surface = tuple[FloatArray, IntArray, IntArray, IntArray, Leaves, Neighbours, Boxes]
"""A triangle surface: x (V, 3) [m]; sorted edges (E, 2); vertices (N,) of the triangles; leaves (L,) of a tree over the
triangles; and the arrays above.
"""


def neighbours(leaves: Leaves, edges: IntArray) -> Neighbours:
    """Return the constant arrays about adjacent triangles that `meet` needs.

    edges (E, 2): in ascending order. In NumPy: corners and sides (3, T), the corners in the layout of the lowest level
    of the tree, and the pairs of triangles around each vertex.
    """
    corners, sides, owned, _, star, begin = leaves
    if not len(corners):
        return ()
    corner, count = np.ascontiguousarray(corners.T), len(begin) - 1
    return (corner, np.ascontiguousarray(sides.T), lanes(corners),
            find_stars(corner, owned, star, begin, joins_of(edges, count)))


def boxes(x: FloatArray, order: IntArray, leaves: Leaves, neighbours: Neighbours) -> Boxes:
    """Return the boxes at positions x (V, 3) [m]: here, x as columns, and the levels of the tree."""
    columns = np.ascontiguousarray(x.T)
    return columns, fit(columns, neighbours[2], len(leaves[0])) if neighbours else []


def meet(a: Surface, b: Surface, same: bool, radius: float, joins: tuple[IntArray, IntArray] | None = None
         ) -> tuple[IntArray, IntArray, float]:
    """Return where two surfaces may pierce each other, and their smallest distance.

    Args:
        same: whether both are one surface.
        radius: largest distance that is searched for [m].
        joins: pairs of vertices that count as joined by an edge, as of `TriangleSurface`; the edges if None.

    Returns:
        Sorted pairs (P, 2) of an edge of a and a triangle of b, then of an edge of b and a triangle of a (none if both
        are one surface). They contain all pairs that pierce; the backends differ in the other pairs. And the smallest
        distance [m] of primitives that are not left out, `radius` if none is smaller.
    """
    x, edges, _, order_a, leaves_a, known_a, (columns_a, tree_a) = a
    _, _, _, order_b, leaves_b, known_b, (columns_b, tree_b) = b
    no_pairs = np.zeros((0, 2), dtype=np.int64)
    if not (known_a and known_b):
        return no_pairs, no_pairs, radius
    one: Triangles = columns_a, known_a[0], known_a[1], leaves_a[2], order_a
    other: Triangles = columns_b, known_b[0], known_b[1], leaves_b[2], order_b
    edges = edges if joins is None else joins[0]
    joined = joins_of(edges if same else no_pairs, len(x))
    tiny = rounding(columns_a, columns_b)
    around = no_pairs
    if same:
        rows, radius = look_around(known_a[3], columns_a, radius, tiny)
        around = opposite_sides(known_a[3], rows, one)
        i, j = _strangers(tree_a, known_a[3], radius)
    else:
        i, j = touching_members(tree_a[0], tree_b[0], radius, *touching_clusters(tree_a, tree_b, radius, same))
    known = apart(one, i, other, j, radius, tiny)
    touch = np.flatnonzero(known <= 0.0)
    to_b = may_pierce(one, i[touch], other, j[touch], same)
    to_a = may_pierce(other, j[touch], one, i[touch], same)
    if radius > 0.0:
        radius = smallest_gap(one, i, other, j, known, radius, joined)
    if same:
        return sorted_pairs([to_b, to_a, around]), no_pairs, radius
    return sorted_pairs([to_b]), sorted_pairs([to_a]), radius


def _strangers(tree: list[Level], stars: Stars, radius: float) -> tuple[IntArray, IntArray]:
    """Return pairs of triangles of a surface whose boxes come within the radius [m] and that have no common vertex."""
    i, j = touching_clusters(tree, tree, radius, True)
    count, near, unlike = tree[0][0].shape[2], stars[4], stars[5]
    known = near[0] * count + near[1]
    key = i * count + j
    others = np.flatnonzero(known[np.minimum(np.searchsorted(known, key), len(known) - 1)] != key)
    one, other = touching_members(tree[0], tree[0], radius, near[0], near[1], unlike)
    further, from_it = touching_members(tree[0], tree[0], radius, i[others], j[others])
    return np.concatenate([one, further]), np.concatenate([other, from_it])
