# SPDX-License-Identifier: GPL-3.0-or-later
"""Find pairs of primitives that may be near or meet in a step, as `contact.self_pairs` defines them.

The radius of a primitive is the largest of its vertices, and that of a pair the mean of its two primitives. The box of
the vertex, or of the edge with the smaller number, is grown by it, so that both backends round alike.

A pair that has a separating plane of one normal at the start and at the end stays apart, because along straight paths
the distance of its primitives along the normal is never less than at one of the ends. At the end they must be apart by
`LEFT` of their distance at the start, or of `far` where that is less. The normals tried are cheap ones: from centroid
to centroid; for edges their cross product, and the part of the first normal orthogonal to the one or the other.

NumPy tries one normal after the other and keeps the remaining pairs; compiled, batches of pairs try all normals.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas.conservative_advancement import LEFT
from .trees import element_boxes, fitted, touching_boxes
from .vectors import Vector, add, cross, divide, dot, scale, subtract

GROWTH_OF_REACH = 1.0 + 1e-6
"""Growth of the box of a primitive, over its part of the radius [-]: above one by more than rounding takes from the sum
of both parts, or from a box in single precision."""


def pairs(items: IntArray, queries: IntArray, order: IntArray, targets: IntArray, same: bool, x_t0: FloatArray,
          x_t1: FloatArray, slack: FloatArray, radius: FloatArray, far: float = np.inf, some: BoolArray | None = None,
          kept: dict[str, Any] | None = None) -> IntArray:
    """Return sorted pairs (P, 2) of a query and a target that may be near or meet in a step.

    Args:
        items: (n,), queries to search with, as rows of `queries`; -1 for none.
        queries, targets: (Q, a), (N, b), the vertices of primitives.
        order: (L,), rows of targets in the order of the leaves of a tree; -1 for none.
        same: whether queries and targets are one array; each pair is returned once then.
        x_t0, x_t1: (V, 3) [m], positions at the start and predicted end of the step.
        slack, radius: (V,) [m], how far the end may differ from x_t1, and the distance at which a vertex is near.
        far: largest distance that any pair has to keep [m].
        some: (V,), marks vertices; only pairs with a marked one are returned, all if None.
        kept: what kernels keep for later searches of `some`, empty at first. Up to then nothing but x_t1, slack and
            radius of those changes, and none of these searches is left out. Each search for all pairs begins anew.
    """
    step = x_t0, x_t1, slack, 0.5 * radius, far
    if some is None:
        return _all_pairs(items, queries, order, targets, same, *step)
    items = items[items >= 0]
    mine, its = some[queries[items]].any(axis=1), some[targets].any(axis=1)
    # items with some of the vertices and all targets, then the other items and targets with some of them
    found = [_all_pairs(items[mine], queries, _leaves_of(order, ~its) if same else order, targets, False, *step),
             _all_pairs(items[mine] if same else items[~mine], queries, _leaves_of(order, its), targets, same, *step)]
    both = np.concatenate([np.sort(pairs, axis=1) if same else pairs for pairs in found])
    return both[np.lexsort((both[:, 1], both[:, 0]))]


def _leaves_of(order: IntArray, wanted: BoolArray) -> IntArray:
    """Return the leaves of a tree in `order` (L,) that are `wanted` (N,), as leaves of a smaller tree."""
    kept = order[order >= 0]
    kept = kept[wanted[kept]]
    result = np.full(1 << max(0, len(kept) - 1).bit_length(), -1)
    result[:len(kept)] = kept
    return result


def _all_pairs(items: IntArray, queries: IntArray, order: IntArray, targets: IntArray, same: bool, x_t0: FloatArray,
               x_t1: FloatArray, slack: FloatArray, reach: FloatArray, far: float) -> IntArray:
    """Return the pairs as `pairs`, not sorted, for all vertices; reach (V,) [m]: half the radius of each vertex."""
    used = np.sort(items[items >= 0])
    own_reach, its_reach = reach[queries].max(axis=1), reach[targets].max(axis=1)
    low, high = _grown(queries[used], x_t0, x_t1, own_reach[used])
    i, j = touching_boxes(order, fitted(order, *_grown(targets, x_t0, x_t1, its_reach)), low, high).T
    i = used[i]
    if same:
        once = np.flatnonzero(i < j)
        i, j = i[once], j[once]
    ones, others = np.ascontiguousarray(queries.T), np.ascontiguousarray(targets.T)
    strange = np.ones(len(i), dtype=np.bool_)
    for a in ones:
        for b in others:
            strange &= a.take(i) != b.take(j)
    rows = np.flatnonzero(strange)
    x_t0, x_t1 = np.ascontiguousarray(x_t0.T), np.ascontiguousarray(x_t1.T)
    i, j, radius = _boxes_near(i[rows], j[rows], ones, others, x_t0, x_t1, own_reach, its_reach)
    rows = _stay(ones[:, i], others[:, j], x_t0, x_t1, slack, radius, far)
    return np.stack([i[rows], j[rows]], axis=1)


def _grown(elements: IntArray, x_t0: FloatArray, x_t1: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return boxes (lower, upper), each (N, 3) [m], of elements (N, k), grown by little more than `reach` (N,) [m]."""
    low, high = element_boxes(elements, x_t0, x_t1)
    grow = GROWTH_OF_REACH * reach[:, None]
    return low - grow, high + grow


def _stay(one: IntArray, other: IntArray, x_t0: FloatArray, x_t1: FloatArray, slack: FloatArray, radius: FloatArray,
          far: float) -> IntArray:
    """Return the pairs of primitives that may come within their radius or meet, as indices (n,).

    one (a, P), other (b, P): vertices of both primitives. x_t0, x_t1 (3, V) [m]. slack, radius (P,) [m]. far: as of
    `pairs`.
    """
    rows = np.arange(one.shape[1])
    loose = reduce(np.maximum, slack[one]) + reduce(np.maximum, slack[other])
    ahead, behind = _places(one, x_t0), _places(other, x_t0)
    ahead_t1, behind_t1 = _places(one, x_t1), _places(other, x_t1)

    for turn in range(3 if len(one) == 2 else 1):
        direction = between = subtract(_middle(ahead), _middle(behind))
        if len(one) == 2:
            edges = [subtract(edge[1], edge[0]) for edge in (behind, ahead)]
            if turn == 0:
                direction = cross(edges[1], edges[0])
                direction = scale(np.where(dot(direction, between) >= 0.0, 1.0, -1.0), direction)
            else:
                along = edges[turn - 1]
                share = divide(dot(between, along), dot(along, along))
                direction = subtract(between, scale(share, along))
        size, most = np.sqrt(dot(direction, direction)), LEFT * np.minimum(np.sqrt(dot(between, between)), far)
        left = np.flatnonzero((_beyond(direction, ahead, behind) < np.maximum(radius, most) * size)
                              | (_beyond(direction, ahead_t1, behind_t1) <= (loose + most) * size))
        rows, loose, radius = rows[left], loose[left], radius[left]
        ahead, behind, ahead_t1, behind_t1 = (
            [(x[left], y[left], z[left]) for x, y, z in places] for places in (ahead, behind, ahead_t1, behind_t1))
    return rows


def _places(vertices: IntArray, x: FloatArray) -> list[Vector]:
    """Return the positions of each of the a vertices (a, P) of primitives as components; x (3, V) [m]."""
    return [(x[0].take(vertex), x[1].take(vertex), x[2].take(vertex)) for vertex in vertices]


def _middle(places: list[Vector]) -> Vector:
    """Return the centroid of places, as components."""
    total = reduce(add, places)
    return total[0] / len(places), total[1] / len(places), total[2] / len(places)


def _boxes_near(i: IntArray, j: IntArray, queries: IntArray, targets: IntArray, x_t0: FloatArray, x_t1: FloatArray,
                own_reach: FloatArray, its_reach: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return pairs of queries (a, Q) and targets (b, N) whose boxes come within their radius, and the radius (P,) [m].

    Boxes are apart if they are apart by the radius on one side at both times. The radius is the sum of `own_reach` (Q,)
    and `its_reach` (N,) [m].
    """
    radius = own_reach[i] + its_reach[j]
    for axis in range(3):
        above, below = np.zeros(len(i), dtype=np.bool_), np.zeros(len(i), dtype=np.bool_)
        for x in (x_t0[axis], x_t1[axis]):
            a, b = x[queries], x[targets]
            above |= reduce(np.minimum, a).take(i) - radius <= reduce(np.maximum, b).take(j)
            below |= reduce(np.minimum, b).take(j) <= reduce(np.maximum, a).take(i) + radius
        rows = np.flatnonzero(above & below)
        i, j, radius = i[rows], j[rows], radius[rows]
    return i, j, radius


def _beyond(direction: Vector, one: list[Vector], other: list[Vector]) -> FloatArray:
    """Return how far the vertices `one` are beyond the vertices `other` along a direction, times its length (P,)."""
    base = other[-1]
    ahead, behind = ([dot(subtract(place, base), direction) for place in side] for side in (one, other))
    result: FloatArray = reduce(np.minimum, ahead) - reduce(np.maximum, behind)
    return result
