# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of primitives that may be near or meet in a step, as `contact.self_pairs` defines them.

The vertex's box is grown by the radius, or that of the edge with the smaller number, so that both backends round alike.

A pair keeps apart across a plane if it does so at the start and at the end: in straight lines the first primitive never
gets less far beyond the second one along a fixed direction than it is then. At the end it has to by `LEFT` of the
distance that it starts from, or of `far` where that is less, of which no pair keeps more. Tried are directions that
cost little: from centroid to centroid; for edges across both, or what of the first is across the one, or the other.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .advancement import LEFT
from .trees import element_boxes, fitted, touching_boxes


def pairs(items: IntArray, queries: IntArray, order: IntArray, targets: IntArray, same: bool, x_t0: FloatArray,
          x_t1: FloatArray, slack: FloatArray, radius: float, far: float = np.inf, some: BoolArray | None = None
          ) -> IntArray:
    """Pairs (P, 2), in order, of `items`, rows of queries (Q, a), with rows of targets (N, b), the leaves of a tree in
    `order`; -1 is nothing in both. Primitives by the numbers of their vertices. `same`: queries and targets are one,
    and each pair is told once. Only pairs with one of the vertices `some` (V,), if given."""
    step = x_t0, x_t1, slack, radius, far
    if some is None:
        return _all_pairs(items, queries, order, targets, same, *step)
    items = items[items >= 0]
    mine, its = some[queries[items]].any(axis=1), some[targets].any(axis=1)
    # those of some with everybody, and everybody else with those of some
    found = [_all_pairs(items[mine], queries, _leaves_of(order, ~its) if same else order, targets, False, *step),
             _all_pairs(items[mine] if same else items[~mine], queries, _leaves_of(order, its), targets, same, *step)]
    both = np.concatenate([np.sort(pairs, axis=1) if same else pairs for pairs in found])
    return both[np.lexsort((both[:, 1], both[:, 0]))]


def _leaves_of(order: IntArray, wanted: BoolArray) -> IntArray:
    """The leaves of a tree in `order` (L,) that are `wanted` (N,), as those of a smaller one."""
    kept = order[order >= 0]
    kept = kept[wanted[kept]]
    result = np.full(1 << max(0, len(kept) - 1).bit_length(), -1)
    result[:len(kept)] = kept
    return result


def _all_pairs(items: IntArray, queries: IntArray, order: IntArray, targets: IntArray, same: bool, x_t0: FloatArray,
               x_t1: FloatArray, slack: FloatArray, radius: float, far: float) -> IntArray:
    used = np.sort(items[items >= 0])
    low, high = element_boxes(queries[used], x_t0, x_t1)
    near = touching_boxes(order, fitted(order, *element_boxes(targets, x_t0, x_t1)), low - radius, high + radius)
    near[:, 0] = used[near[:, 0]]
    if same:
        near = near[near[:, 0] < near[:, 1]]
    one, other = queries[near[:, 0]], targets[near[:, 1]]
    rows = np.flatnonzero((one[:, :, None] != other[:, None, :]).all(axis=(1, 2)))
    return near[rows[_stay(one[rows], other[rows], x_t0, x_t1, slack, radius, far)]]


def _stay(one: IntArray, other: IntArray, x_t0: FloatArray, x_t1: FloatArray, slack: FloatArray, radius: float,
          far: float) -> IntArray:
    """Rows of the pairs of vertices (P, a) and (P, b) that may be within the radius, or meet."""
    rows = np.flatnonzero(_boxes_near(one, other, x_t0, x_t1, radius))
    loose = slack[one].max(axis=1) + slack[other].max(axis=1)

    for turn in range(3 if one.shape[1] == 2 else 1):
        first, second = x_t0[one[rows]], x_t0[other[rows]]
        direction = between = first.mean(axis=1) - second.mean(axis=1)
        if one.shape[1] == 2:
            edges = [edge[:, 1] - edge[:, 0] for edge in (second, first)]
            if turn == 0:
                direction = np.cross(edges[1], edges[0])
                direction *= np.where(_dot(direction, between) >= 0.0, 1.0, -1.0)[:, None]
            else:
                along = edges[turn - 1]
                share = _dot(between, along) / np.where((along != 0.0).any(axis=1), _dot(along, along), 1.0)
                direction = between - share[:, None] * along
        size, most = np.sqrt(_dot(direction, direction)), LEFT * np.minimum(np.sqrt(_dot(between, between)), far)
        start, end = (_beyond(direction, x, one[rows], other[rows]) for x in (x_t0, x_t1))
        rows = rows[(start < np.maximum(radius, most) * size) | (end <= (loose[rows] + most) * size)]
    return rows


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    result: FloatArray = np.einsum("pi,pi->p", a, b)
    return result


def _boxes_near(one: IntArray, other: IntArray, x_t0: FloatArray, x_t1: FloatArray, radius: float) -> BoolArray:
    """Whether the boxes of vertices (P, a) and (P, b) are nowhere apart by the radius on the same side both times."""
    near = np.ones(len(one), dtype=np.bool_)
    for axis in range(3):
        above, below = np.zeros(len(one), dtype=np.bool_), np.zeros(len(one), dtype=np.bool_)
        for x in (x_t0[:, axis], x_t1[:, axis]):
            a, b = x[one], x[other]
            above |= a.min(axis=1) - radius <= b.max(axis=1)
            below |= b.min(axis=1) <= a.max(axis=1) + radius
        near &= above & below
    return near


def _beyond(direction: FloatArray, x: FloatArray, one: IntArray, other: IntArray) -> FloatArray:
    """How far along a direction (P, 3) vertices (P, a) are beyond vertices (P, b), times its length (P,)."""
    base = x[other[:, -1:]]
    ahead, behind = (np.einsum("pki,pi->pk", x[side] - base, direction) for side in (one, other))
    result: FloatArray = ahead.min(axis=1) - behind.max(axis=1)
    return result
