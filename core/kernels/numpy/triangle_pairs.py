# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of triangles: lower bounds of their distances, and exact tests of those that may touch or be the nearest.

Every vertex and every edge is owned by one of its triangles, so that a loop over all pairs of triangles visits every
pair of primitives once. A separating direction excludes most pairs: all of one triangle is beyond all of the other
along it, by more than the smallest distance known. NumPy bounds all pairs first and computes distances from the
nearest on; the compiled kernel goes through the pairs and keeps the smallest distance so far.

Triangles i (P,) of a surface a and triangles j (P,) of a surface b are pairs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas.vectors import COORDINATE_ROUNDING
from .distances import edge_edge, point_triangle
from .vectors import Vector, add, cross, dot, subtract

OWN_VERTEX, OWN_EDGE, CORNER_TWICE = 1, 8, 64
"""Bits of the primitives that a triangle owns: OWN_VERTEX << k for corner k, OWN_EDGE << k for the side that begins
there. CORNER_TWICE marks a triangle in which one vertex occurs twice."""

AT_ONCE = 1 << 14
"""Number of pairs that are tested at a time [-]: their arrays stay in a processor's cache."""
NEAREST = 128
"""Number of pairs whose distance is computed first [-]."""


Triangles = tuple[FloatArray, IntArray, IntArray, npt.NDArray[np.uint8], IntArray]
"""Triangles of a surface: x (3, V) [m]; corners and sides (3, T), vertices and the edges that begin there; owned (T,),
primitives as bits; and numbers (T,)."""

Joins = tuple[int, IntArray]
"""Number of vertices V, and for each edge (i, j) the key i V + j, in ascending order."""


def joins_of(edges: IntArray, count: int) -> Joins:
    """Return the joins by edges (E, 2) of `count` vertices; the edges are in ascending order."""
    return count, edges[:, 0] * count + edges[:, 1]


def are_joined(joins: Joins, one: IntArray, other: IntArray) -> BoolArray:
    """Return for each pair (P,) whether any of k vertices (k, P) equals, or shares an edge with, any of m (m, P).

    False for joins without edges.
    """
    count, known = joins
    joined = np.zeros(one.shape[1], dtype=np.bool_)
    if count and len(known):
        for i in one:
            for j in other:
                key = np.minimum(i, j) * count + np.maximum(i, j)
                joined |= (known[np.minimum(np.searchsorted(known, key), len(known) - 1)] == key) | (i == j)
    return joined


def points(x: FloatArray, rows: IntArray) -> Vector:
    """Return the columns `rows` of x (3, V) as components."""
    return x[0].take(rows), x[1].take(rows), x[2].take(rows)


def rounding(*surfaces: FloatArray) -> float:
    """Return the rounding error [m] of a distance along a direction, between points x (3, V) [m] of the surfaces."""
    x = np.concatenate(surfaces, axis=1)
    return COORDINATE_ROUNDING * float((x.max(axis=1) - x.min(axis=1)).sum())


def apart(a: Triangles, i: IntArray, b: Triangles, j: IntArray, enough: float, tiny: float) -> FloatArray:
    """Return lower bounds (P,) [m] of the distances of triangles i and j; 0 for triangles that may touch.

    enough: bounds above it are not improved [m]. tiny: rounding error, as of `rounding` [m].
    """
    result = np.empty(len(i))
    for start in range(0, len(i), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):          # what has run away or no area
            result[part] = _apart(a, i[part], b, j[part], enough, tiny)
    return result


def _apart(a: Triangles, i: IntArray, b: Triangles, j: IntArray, enough: float, tiny: float) -> FloatArray:
    """Return `apart` of one piece of the pairs, not below 0.

    Directions are the line through the centres and, for each triangle, its normal and those across its sides in its
    plane.
    """
    o, u, v = (points(a[0], corner.take(i)) for corner in a[1])
    u, v = subtract(u, o), subtract(v, o)
    p, q, r = (subtract(points(b[0], corner.take(j)), o) for corner in b[1])
    known = _beyond(subtract(add(add(p, q), r), add(u, v)), u, v, p, q, r) - tiny
    left = np.flatnonzero(~(known > enough))                         # what overflows is nan
    if len(left):
        u, v, p, q, r = ((w[0][left], w[1][left], w[2][left]) for w in (u, v, p, q, r))
        closer = np.fmax(_seen_from(u, v, p, q, r), _seen_from(
            subtract(q, p), subtract(r, p), (-p[0], -p[1], -p[2]), subtract(u, p), subtract(v, p)))
        known[left] = np.fmax(known[left], closer - tiny)
    return np.where(known > 0.0, known, 0.0)


def _beyond(m: Vector, u: Vector, v: Vector, p: Vector, q: Vector, r: Vector) -> FloatArray:
    """Return how far all of triangle (p, q, r) is beyond all of triangle (0, u, v) in direction m (P,) [m]."""
    ahead = np.minimum(np.minimum(dot(m, p), dot(m, q)), dot(m, r))
    ahead -= np.maximum(np.maximum(dot(m, u), dot(m, v)), 0.0)
    result: FloatArray = ahead / np.sqrt(dot(m, m))
    return result


def _seen_from(u: Vector, v: Vector, p: Vector, q: Vector, r: Vector) -> FloatArray:
    """Return how far triangle (p, q, r) is beyond triangle (0, u, v) along a direction of the latter, at best (P,) [m].

    Directions are its normal and the directions across its sides in its plane.
    """
    n = cross(u, v)
    known = np.fmax(_beyond(cross(u, n), u, v, p, q, r), _beyond(cross(n, v), u, v, p, q, r))
    known = np.fmax(known, _beyond(cross(subtract(v, u), n), u, v, p, q, r))
    known = np.fmax(known, _beyond(n, u, v, p, q, r))
    result: FloatArray = np.fmax(known, _beyond((-n[0], -n[1], -n[2]), u, v, p, q, r))
    return result


def may_pierce(a: Triangles, i: IntArray, b: Triangles, j: IntArray, same: bool) -> IntArray:
    """Return pairs (P, 2) of an edge that triangle i owns and triangle j, of those that may pierce.

    same: a and b are one surface; then an edge and a triangle with a common vertex are left out.
    """
    _, corners, sides, owned, _ = a
    side, row = np.nonzero(owned[i] & (OWN_EDGE << np.arange(3))[:, None])
    i, j = i[row], j[row]
    if same and len(i):
        ends = corners[side, i], corners[(side + 1) % 3, i]
        alone = np.flatnonzero(~np.any([end == corner[j] for end in ends for corner in b[1]], axis=0))
        side, i, j = side[alone], i[alone], j[alone]
    return np.stack([sides[side, i], b[4][j]], axis=1)


def smallest_gap(a: Triangles, i: IntArray, b: Triangles, j: IntArray, known: FloatArray, radius: float, joins: Joins
                 ) -> float:
    """Return the smallest distance [m] of triangles i and j, at most `radius` [m].

    known (P,) [m]: lower bounds of the distances. Primitives that are joined are left out. The pairs with the smallest
    bounds come first, so that the others are mostly excluded.
    """
    row = np.flatnonzero(known < radius)
    row = row[np.argsort(known[row], kind="stable")]
    start, size = 0, NEAREST
    while start < len(row) and known[row[start]] < radius:
        one, other = i[row[start:start + size]], j[row[start:start + size]]
        radius = _vertices_to(a, one, b, other, radius, joins)
        radius = _vertices_to(b, other, a, one, radius, joins)
        radius = _edges_to(a, one, b, other, radius, joins)
        start, size = start + size, min(4 * size, AT_ONCE)
    return radius


def _vertices_to(a: Triangles, i: IntArray, b: Triangles, j: IntArray, radius: float, joins: Joins) -> float:
    """Return the smallest distance [m] of vertices that triangles i own from triangles j, at most `radius`."""
    (x, corners, _, owned, _), y = a, b[0]
    corner, row = np.nonzero(owned[i] & (OWN_VERTEX << np.arange(3))[:, None])
    vertex, others = corners[corner, i[row]], b[1][:, j[row]]
    free = np.flatnonzero(~are_joined(joins, vertex[None], others))
    place = x[:, vertex[free]].T, *(y[:, other[free]].T for other in others)
    return float(point_triangle(*place)[2].min(initial=radius))


def _edges_to(a: Triangles, i: IntArray, b: Triangles, j: IntArray, radius: float, joins: Joins) -> float:
    """Return the smallest distance [m] of edges that triangles i and j own, at most `radius` [m]."""
    bits = (OWN_EDGE << np.arange(3))[:, None]
    k, m, row = np.nonzero(((a[3][i] & bits) != 0)[:, None] & ((b[3][j] & bits) != 0)[None])
    i, j = i[row], j[row]
    one = np.stack([a[1][k, i], a[1][(k + 1) % 3, i]])
    other = np.stack([b[1][m, j], b[1][(m + 1) % 3, j]])
    free = np.flatnonzero(~are_joined(joins, one, other))
    return edges_apart(a[0], one[:, free], b[0], other[:, free], radius)


def edges_apart(x: FloatArray, one: IntArray, y: FloatArray, other: IntArray, radius: float) -> float:
    """Return the smallest distance [m] of edges, at most `radius` [m].

    one (2, P): ends of the first edges in x (3, V) [m]. other (2, P): of the second ones in y (3, V) [m].
    """
    ends = *(x[:, end].T for end in one), *(y[:, end].T for end in other)
    return float(edge_edge(*ends)[4].min(initial=radius))
