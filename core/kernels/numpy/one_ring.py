# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of triangles around a vertex: which may pierce each other, and their smallest distance.

Of two triangles that have one vertex in common, only the sides opposite to it are free: either one can pierce the
other triangle, and they have a distance. In a sheet most pairs are of this kind, and they never change. Nearly all are
excluded by a plane through the vertex that has one side in front and the other one behind. The compiled kernel does not
store these pairs; it finds them vertex by vertex and tests one direction of each side.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import BoolArray, FloatArray, IntArray
from .triangle_pairs import AT_ONCE, OWN_EDGE, Joins, Triangles, are_joined, edges_apart, points
from .vectors import add, dot, scale, subtract
from .wide_bvh import CLUSTER

Stars = tuple[IntArray, IntArray, IntArray, int, IntArray, BoolArray]
"""Pairs of triangles with a common vertex: hub (P,), the vertex; ends (4, P), of the sides opposite to it, which have
none in common, of the one and of the other; first (2, P), twice the place among the leaves of each, plus 1 if it owns
that side. Only pairs of which one does; so many of them, the first, span: both own their sides, and no edge joins them.

clusters (2, Q): pairs of clusters of such triangles, and each with itself, in order; unlike (CLUSTER, CLUSTER, Q):
which of their triangles have no vertex in common, and are not the same.
"""


def find_stars(corners: IntArray, owned: npt.NDArray[np.uint8], star: IntArray, begin: IntArray, joins: Joins
               ) -> Stars:
    """Return the pairs of triangles with a common vertex.

    corners (3, T): vertices of the triangles in the order of leaves. owned (T,): their owned primitives as bits. star
    (S,), begin (V + 1,): the corners at each vertex, as 3 triangle + corner. joins: as of `triangle_pairs`.
    """
    later = np.repeat(begin[1:], np.diff(begin)) - 1 - np.arange(len(star))          # of the star, still to come
    row = np.repeat(np.arange(len(star)), later)
    one, other = star[row], star[row + 1 + np.arange(len(row)) - np.repeat(np.cumsum(later) - later, later)]
    clusters, unlike = _unlike(one // 3, other // 3, corners.shape[1])

    ends = np.stack([corners[(at + turn) % 3, at // 3] for at in (one, other) for turn in (1, 2)])
    first = np.stack([2 * (at // 3) + (owned[at // 3] & (OWN_EDGE << (at + 1) % 3) != 0) for at in (one, other)])
    kept = np.flatnonzero((ends[0] != ends[2]) & (ends[0] != ends[3]) & (ends[1] != ends[2]) & (ends[1] != ends[3])
                          & ((first[0] | first[1]) % 2 == 1))
    spans = (first[0, kept] & first[1, kept]) % 2 == 1
    spans &= ~are_joined(joins, ends[:2, kept], ends[2:, kept])
    kept = np.concatenate([kept[spans], kept[~spans]])
    hub = corners[one[kept] % 3, one[kept] // 3]
    return hub, ends[:, kept], first[:, kept], int(spans.sum()), clusters, unlike


def _unlike(i: IntArray, j: IntArray, count: int) -> tuple[IntArray, BoolArray]:
    """Return `clusters` and `unlike` (see `Stars`) of `count` triangles; i, j have a vertex in common."""
    i, j = np.minimum(i, j), np.maximum(i, j)
    clusters = -(-count // CLUSTER)
    itself = np.arange(clusters) * (clusters + 1)
    key = i // CLUSTER * clusters + j // CLUSTER
    pairs, at = np.unique(np.concatenate([itself, key]), return_inverse=True)
    unlike = np.ones((CLUSTER, CLUSTER, len(pairs)), dtype=np.bool_)
    unlike[:, :, at[:clusters]] = np.triu(np.ones((CLUSTER, CLUSTER), dtype=np.bool_), 1)[:, :, None]
    unlike[i % CLUSTER, j % CLUSTER, at[clusters:]] = False
    return np.stack(np.divmod(pairs, clusters)), unlike


def look_around(stars: Stars, x: FloatArray, radius: float, tiny: float) -> tuple[IntArray, float]:
    """Return the pairs of stars that may pierce (rows), and the smallest distance of their sides, at most `radius` [m].

    x (3, V) [m]. tiny: rounding error of a distance [m], as of `triangle_pairs.rounding`.
    """
    hub, ends, _, spans, _, _ = stars
    doubtful = [np.zeros(0, dtype=np.int64)]
    near = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(hub), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):          # what overflows is in doubt
            front, behind = _parted(x, hub[part], ends[:, part])
        doubtful.append(start + np.flatnonzero(~((front > tiny) & (behind > tiny))))
        if start < spans and radius > 0.0:
            both = (front + behind)[:spans - start]
            near.append(start + np.flatnonzero(~(both > radius + tiny)))
    ends = ends[:, np.concatenate(near)]
    return np.concatenate(doubtful), edges_apart(x, ends[:2], x, ends[2:], radius)


def _parted(x: FloatArray, hub: IntArray, ends: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the distances (P,) [m] of two sides from a plane through their common vertex, one on each side of it.

    Both are positive if the plane separates the sides. The plane is orthogonal to the line between the midpoints of the
    sides, scaled to equal distance from the vertex. x (3, V) [m]. hub (P,): the vertex. ends (4, P): vertices of the
    sides.
    """
    centre = points(x, hub)
    p, q, r, s = (subtract(points(x, end), centre) for end in ends)
    one, other = add(p, q), add(r, s)
    m = subtract(scale(dot(other, other), one), scale(dot(one, one), other))
    size = np.sqrt(dot(m, m))
    return np.minimum(dot(m, p), dot(m, q)) / size, -np.maximum(dot(m, r), dot(m, s)) / size


def opposite_sides(stars: Stars, rows: IntArray, triangles: Triangles) -> IntArray:
    """Return the pairs (P, 2) of a side and the other triangle, for these rows of the stars."""
    _, corners, sides, _, number = triangles
    hub, first, found = stars[0][rows], stars[2][:, rows], [np.zeros((0, 2), dtype=np.int64)]
    for one, other in (first, first[::-1]):
        corner = np.argmax(corners[:, one // 2] == hub, axis=0)
        pairs = np.stack([sides[(corner + 1) % 3, one // 2], number[other // 2]], axis=1)
        found.append(pairs[one % 2 == 1])
    return np.concatenate(found)
