# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of triangles around a vertex, compiled: which may pierce each other, and their smallest distance.

Of two triangles that have one vertex in common, only the sides opposite to it are free: either one can pierce the
other triangle, and they have a distance. In a sheet most pairs are of this kind, and nearly all are excluded by one
test: the other triangle is nearer to the common vertex than the opposite side, by more than the distance searched for.
The edges from the vertex are computed once for all pairs around it. NumPy stores all of these pairs instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formulas.vectors import COORDINATE_ROUNDING
from ..numpy.triangle_pairs import OWN_EDGE
from .distances import edge_distance
from .kernel_cache import njit
from .nearest_triangles import BOUND_SLACK
from .options import INLINED, INNER, MAKING
from .orient3d import apart
from .triangle_pairs import joined, keep
from .vectors import at, dot, scale, subtract


@njit(**MAKING)
def look_around(first_vertex: Any, last_vertex: Any, vertices: Any, star: Any, begin: Any, x: Any, a: Any, owned: Any,
                sides: Any, order: Any, edges: Any, first: Any, best: Any, share: Any, found: Any, count: Any) -> Any:
    """Search the pairs of triangles that have only one vertex in common, at vertices[first_vertex..last_vertex - 1].

    Args:
        star, begin: (S,), (V + 1,), the corners at each vertex, as 3 triangle + corner.
        x: (V, 3) [m]. a, owned, sides, order: corners (T, 3), owned primitives as bits (T,), edges (T, 3) and numbers
            (T,) of the triangles.
        edges, first: as of `joined`.
        best: smallest distance known so far [m].
        share, found, count: as of `keep`, which gets the pairs that may pierce.

    Returns:
        The smallest distance of the opposite sides [m], or `best` if that is less.
    """
    most = 0
    for n in range(first_vertex, last_vertex):
        most = max(most, begin[vertices[n] + 1] - begin[vertices[n]])
    spoke, across, edge = np.empty((most, 2, 3)), np.empty((most, 5)), np.empty((most, 3), dtype=np.int64)
    for n in range(first_vertex, last_vertex):
        v = vertices[n]
        size = begin[v + 1] - begin[v]
        reach = 0.0
        for k in range(size):
            corner = star[begin[v] + k]
            t, c = corner // 3, corner % 3
            edge[k, 0], edge[k, 1] = a[t, (c + 1) % 3], a[t, (c + 2) % 3]
            edge[k, 2] = owned[t] & (OWN_EDGE << (c + 1) % 3) != 0
            p, q = subtract(at(x, edge[k, 0]), at(x, v)), subtract(at(x, edge[k, 1]), at(x, v))
            side = subtract(q, p)
            m = subtract(scale(dot(side, side), p), scale(dot(p, side), side))
            spoke[k, 0, 0], spoke[k, 0, 1], spoke[k, 0, 2] = p
            spoke[k, 1, 0], spoke[k, 1, 1], spoke[k, 1, 2] = q
            across[k, 0], across[k, 1], across[k, 2] = m
            across[k, 3], across[k, 4] = min(dot(m, p), dot(m, q)), dot(m, m)
            reach = max(reach, max(abs(p[0]), max(abs(p[1]), abs(p[2]))))
            reach = max(reach, max(abs(q[0]), max(abs(q[1]), abs(q[2]))))
        tiny = COORDINATE_ROUNDING * reach
        for k in range(size):
            for m in range(k + 1, size):
                if (edge[k, 0] == edge[m, 0] or edge[k, 0] == edge[m, 1] or edge[k, 1] == edge[m, 0]
                        or edge[k, 1] == edge[m, 1]):
                    continue
                # what is not the triangle's own is looked at from its neighbour
                one = across[k, 3] - _height(across, k, spoke, m) if edge[k, 2] else np.inf
                other = across[m, 3] - _height(across, m, spoke, k) if edge[m, 2] else np.inf
                one_clear, other_clear = _above(one, across[k, 4], tiny), _above(other, across[m, 4], tiny)
                limit = best * (1.0 + BOUND_SLACK) + tiny
                if one_clear and other_clear and (
                        _above(one, across[k, 4], limit) or _above(other, across[m, 4], limit)):
                    continue
                best = _opposite(v, star[begin[v] + k], star[begin[v] + m], one_clear, other_clear, x, a, owned,
                                 sides, order, edges, first, best, share, found, count)
    return best


@njit(**INLINED)
def _above(height: Any, square: Any, limit: Any) -> Any:
    """Return whether a height along a vector, times its length, is above `limit` [m]; square: of the length."""
    return height > 0.0 and height * height > limit * limit * square


@njit(**INLINED)
def _height(across: Any, k: Any, spoke: Any, m: Any) -> Any:
    """Return the height of triangle m along the normal of the side of triangle k that is opposite to the vertex.

    across: (K, 5) normal of each opposite side, away from the vertex, of any length; times that, the side's distance
        [m]; and the square of the length. The height is times it, too: without roots and divisions.
    spoke: (K, 2, 3) edges of each triangle from the vertex [m].
    """
    u, v, w = across[k, 0], across[k, 1], across[k, 2]
    one = u * spoke[m, 0, 0] + v * spoke[m, 0, 1] + w * spoke[m, 0, 2]
    other = u * spoke[m, 1, 0] + v * spoke[m, 1, 1] + w * spoke[m, 1, 2]
    return max(max(one, other), 0.0)


@njit(**INNER)
def _opposite(v: Any, one: Any, other: Any, one_clear: Any, other_clear: Any, x: Any, a: Any, owned: Any, sides: Any,
              order: Any, edges: Any, first: Any, best: Any, share: Any, found: Any, count: Any) -> Any:
    """Test the sides opposite to vertex v of two triangles; return their distance [m], or `best` if that is less.

    one, other: corners of the triangles at v, as 3 triangle + corner. one_clear, other_clear: whether the side is known
    not to pierce the other triangle. Other arguments are those of `look_around`.
    """
    i, j = one // 3, other // 3
    k, m = (one % 3 + 1) % 3, (other % 3 + 1) % 3
    e0, e1, f0, f1 = a[i, k], a[i, (k + 1) % 3], a[j, m], a[j, (m + 1) % 3]
    of_one, of_other = owned[i] & (OWN_EDGE << k) != 0, owned[j] & (OWN_EDGE << m) != 0
    if of_one and not one_clear and not apart(at(x, e0), at(x, e1), at(x, v), at(x, f0), at(x, f1)):
        keep(found, count, share, np.int64(0), sides[i, k], order[j])
    if of_other and not other_clear and not apart(at(x, f0), at(x, f1), at(x, v), at(x, e0), at(x, e1)):
        keep(found, count, share, np.int64(0), sides[j, m], order[i])
    if of_one and of_other and best > 0.0 and not (
            joined(e0, f0, edges, first) or joined(e0, f1, edges, first) or joined(e1, f0, edges, first)
            or joined(e1, f1, edges, first)):
        best = min(best, edge_distance(at(x, e0), at(x, e1), at(x, f0), at(x, f1)))
    return best
