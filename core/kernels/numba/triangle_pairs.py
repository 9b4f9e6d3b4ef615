# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of triangles, compiled: which edge of one may pierce the other, and their smallest distance.

Every vertex and every edge is owned by one of its triangles, so that a loop over all pairs of triangles visits every
pair of primitives once. A separating direction excludes most pairs: all of one triangle is beyond all of the other
along it, by more than the smallest distance known. NumPy sorts pairs by this bound and stops early.

Arguments of several functions: x, y (V, 3) [m], positions of both surfaces; a, b (T, 3), corners of their triangles;
i, j, indices of a triangle of each; a_owned, b_owned, their owned primitives as bits; same, both are one surface;
edges, first, as of `joined`; best, smallest distance known so far [m]; share, found, count, as of `keep`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numpy.triangle_pairs import OWN_EDGE, OWN_VERTEX
from .distances import closest, edge_distance
from .kernel_cache import njit
from .nearest_triangles import BOUND_SLACK, away
from .options import INLINED, INNER
from .orient3d import apart
from .vectors import add, at, cross, dot, scale, subtract


@njit(**INLINED)
def level(height: Any, along: Any, limit: Any, tiny: Any) -> Any:
    """Return 2 if height / |along| is more than `limit` [m], 1 if it is more than `tiny` [m], else 0."""
    if height <= 0.0:
        return 0
    square, unit = height * height, dot(along, along)
    return 2 if square > limit * limit * unit else (1 if square > tiny * tiny * unit else 0)


@njit(**INLINED)
def over(m: Any, u: Any, v: Any, p: Any, q: Any, r: Any) -> Any:
    """Return how far triangle (p, q, r) is beyond triangle (0, u, v) in direction m, times |m|; negative if not beyond.

    All arguments are components [m].
    """
    return min(min(dot(m, p), dot(m, q)), dot(m, r)) - max(max(0.0, dot(m, u)), dot(m, v))


@njit(**INLINED)
def parted(o: Any, u: Any, v: Any, b: Any, j: Any, y: Any, limit: Any, tiny: Any) -> Any:
    """Return 2 if triangles (o, o + u, o + v) and b[j] are more than `limit` [m] apart, 1 if they do not touch, else 0.

    A lower value is possible where none of the directions that are tried separates them: the line through the centres,
    and for each triangle its normal and the directions across its sides in its plane. o, u, v: components [m]. tiny:
    rounding error of a distance [m].
    """
    p, q, r = subtract(at(y, b[j, 0]), o), subtract(at(y, b[j, 1]), o), subtract(at(y, b[j, 2]), o)
    d = subtract(add(add(p, q), r), add(u, v))
    known = level(over(d, u, v, p, q, r), d, limit, tiny)
    if known < 2:
        known = max(known, _seen_from(u, v, p, q, r, limit, tiny))
    if known < 2:
        known = max(known, _seen_from(subtract(q, p), subtract(r, p), scale(-1.0, p), subtract(u, p), subtract(v, p),
                                      limit, tiny))
    return known


@njit(**INNER)
def _seen_from(u: Any, v: Any, p: Any, q: Any, r: Any, limit: Any, tiny: Any) -> Any:
    """Return `level` of the distance of triangles (0, u, v) and (p, q, r) along the directions of the first one.

    Directions are its normal and those across its sides in its plane. limit, tiny: as of `parted` [m].
    """
    n = cross(u, v)
    across = cross(u, n)
    known = level(over(across, u, v, p, q, r), across, limit, tiny)
    if known < 2:
        across = cross(n, v)
        known = max(known, level(over(across, u, v, p, q, r), across, limit, tiny))
    if known < 2:
        across = cross(subtract(v, u), n)
        known = max(known, level(over(across, u, v, p, q, r), across, limit, tiny))
    if known < 2:
        known = max(known, level(over(n, u, v, p, q, r), n, limit, tiny))
    if known < 2:
        n = scale(-1.0, n)
        known = max(known, level(over(n, u, v, p, q, r), n, limit, tiny))
    return known


@njit(**INLINED)
def joined(i: Any, j: Any, edges: Any, first: Any) -> Any:
    """Return whether vertices i and j are equal or joined by an edge.

    edges (E, 2): smaller vertex first, in ascending order. first (V + 1,): first edge of each smaller vertex.
    """
    low, high = min(i, j), max(i, j)
    if low == high:
        return True
    found = False
    for e in range(first[low], first[low + 1]):
        found |= edges[e, 1] == high
    return found


@njit(**INLINED)
def keep(found: Any, count: Any, share: Any, kind: Any, edge: Any, triangle: Any) -> None:
    """Append a pair that may pierce to found (shares, places, 3), row `share`; count it in count (shares,).

    kind: 0 for an edge of surface a and a triangle of b, 1 for the reverse. edge, triangle: their numbers. Pairs beyond
    the number of places are only counted.
    """
    n = count[share]
    if n < found.shape[1]:
        found[share, n, 0], found[share, n, 1], found[share, n, 2] = kind, edge, triangle
    count[share] = n + 1


@njit(**INNER)
def edges_through(a: Any, i: Any, a_owned: Any, a_sides: Any, x: Any, b: Any, j: Any, j_number: Any, y: Any, same: Any,
                  kind: Any, share: Any, found: Any, count: Any) -> None:
    """Append the pairs of an edge that triangle i owns and triangle j that may pierce.

    a_sides (3,): numbers of the edges of triangle i. j_number: number of triangle j. kind: as of `keep`.
    """
    for k in range(3):
        if a_owned & (OWN_EDGE << k) == 0:
            continue
        e0, e1 = a[i, k], a[i, (k + 1) % 3]
        c0, c1, c2 = b[j, 0], b[j, 1], b[j, 2]
        if same and (e0 in (c0, c1, c2) or e1 in (c0, c1, c2)):
            continue
        if not apart(at(x, e0), at(x, e1), at(y, c0), at(y, c1), at(y, c2)):
            keep(found, count, share, kind, a_sides[k], j_number)


@njit(**INNER)
def vertices_to(a: Any, i: Any, a_owned: Any, x: Any, b: Any, j: Any, y: Any, same: Any, best: Any, edges: Any,
                first: Any) -> Any:
    """Return the distance [m] of the vertices that triangle i owns from triangle j, or `best` if that is less."""
    c0, c1, c2 = b[j, 0], b[j, 1], b[j, 2]
    for k in range(3):
        v = a[i, k]
        if a_owned & (OWN_VERTEX << k) == 0 or away(at(x, v), at(y, c0), at(y, c1), at(y, c2), best):
            continue
        if same and (joined(v, c0, edges, first) or joined(v, c1, edges, first) or joined(v, c2, edges, first)):
            continue
        best = min(best, closest(at(x, v), at(y, c0), at(y, c1), at(y, c2))[2])
    return best


@njit(**INNER)
def edges_to(a: Any, i: Any, a_owned: Any, x: Any, b: Any, j: Any, b_owned: Any, y: Any, same: Any, best: Any,
             edges: Any, first: Any) -> Any:
    """Return the smallest distance [m] of the edges that triangles i and j own, or `best` if that is less."""
    for k in range(3):
        if a_owned & (OWN_EDGE << k) == 0:
            continue
        e0, e1 = a[i, k], a[i, (k + 1) % 3]
        for m in range(3):
            if b_owned & (OWN_EDGE << m) == 0:
                continue
            f0, f1 = b[j, m], b[j, (m + 1) % 3]
            if edges_away(x, e0, e1, y, f0, f1, best):
                continue
            if same and (joined(e0, f0, edges, first) or joined(e0, f1, edges, first)
                         or joined(e1, f0, edges, first) or joined(e1, f1, edges, first)):
                continue
            best = min(best, edge_distance(at(x, e0), at(x, e1), at(y, f0), at(y, f1)))
    return best


@njit(**INLINED)
def edges_away(x: Any, e0: Any, e1: Any, y: Any, f0: Any, f1: Any, limit: Any) -> Any:
    """Return whether the boxes of two edges are further apart than `limit` [m].

    e0, e1: vertices of the first in x (V, 3) [m]. f0, f1: of the second in y (V, 3) [m].
    """
    total = 0.0
    for k in range(3):
        low, high = min(x[e0, k], x[e1, k]), max(x[e0, k], x[e1, k])
        out = max(max(min(y[f0, k], y[f1, k]) - high, low - max(y[f0, k], y[f1, k])), 0.0)
        total += out * out
    return total > limit * limit * (1.0 + BOUND_SLACK)


@njit(**INNER)
def look(a: Any, i: Any, a_owned: Any, a_sides: Any, i_number: Any, x: Any, b: Any, j: Any, b_owned: Any, b_sides: Any,
         j_number: Any, y: Any, same: Any, touch: Any, best: Any, edges: Any, first: Any, share: Any, found: Any,
         count: Any) -> Any:
    """Append the edges that may pierce of triangles i and j; return their distance [m], or `best` if that is less.

    a_sides, b_sides (3,): numbers of their edges. i_number, j_number: their own numbers. touch: whether they may touch.
    """
    if touch:
        edges_through(a, i, a_owned, a_sides, x, b, j, j_number, y, same, np.int64(0), share, found, count)
        edges_through(b, j, b_owned, b_sides, y, a, i, i_number, x, same, 0 if same else 1, share, found, count)
    if best > 0.0:
        best = vertices_to(a, i, a_owned, x, b, j, y, same, best, edges, first)
        best = vertices_to(b, j, b_owned, y, a, i, x, same, best, edges, first)
        best = edges_to(a, i, a_owned, x, b, j, b_owned, y, same, best, edges, first)
    return best
