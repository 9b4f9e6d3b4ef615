# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate pairs of one surface with itself, compiled.

Neighbours in a tree lie side by side, so `GROUP` of them walk the tree together and only then look for themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from ...arrays import FloatArray, IntArray
from .trees import DEEPEST, element_boxes, fitted, rows_of, walk

GROUP = 4
"""Vertices or edges that walk a tree together."""
SHARE = 64 * GROUP
"""Vertices or edges that a thread takes at once."""
SLOTS = 32
"""Places for what is near a primitive; where there are more, all are looked for again with as many as it takes."""


def candidate_pairs(
    triangles: IntArray, edges: IntArray, vertices: IntArray, triangle_order: IntArray, edge_order: IntArray,
    x_t0: FloatArray, x_t1: FloatArray, radius: float
) -> tuple[IntArray, IntArray]:
    """Vertices with triangles (N, 2) and edges with edges (M, 2), both in order; the trees' leaves are in `order`."""
    low, high = element_boxes(edges, x_t0, x_t1)
    nodes, items = fitted(edge_order, low, high), edge_order[edge_order >= 0]
    x_t0, x_t1 = np.ascontiguousarray(x_t0), np.ascontiguousarray(x_t1)
    edge_edge = _pairs(items, edges, low - radius, high + radius, edges, edge_order, nodes, True, x_t0, x_t1, radius)
    points = np.arange(len(x_t0))[:, None]
    low, high = element_boxes(points, x_t0, x_t1)
    nodes = fitted(triangle_order, *element_boxes(triangles, x_t0, x_t1))
    return _pairs(vertices, points, low - radius, high + radius, triangles, triangle_order, nodes, False, x_t0, x_t1,
                  radius), edge_edge


def _pairs(items: IntArray, queries: IntArray, lower: FloatArray, upper: FloatArray, others: IntArray,
           order: IntArray, nodes: FloatArray, above: bool, x_t0: FloatArray, x_t1: FloatArray,
           radius: float) -> IntArray:
    count, slots = np.zeros(len(queries), dtype=np.int64), SLOTS
    while True:
        found = np.empty((len(queries), slots), dtype=np.int32)
        _all_near(items, queries, lower, upper, others, order, rows_of(nodes), above, x_t0, x_t1, radius, count, found)
        most = int(count.max(initial=0))
        if most <= slots:
            break
        slots = most
    pairs = np.empty((int(count.sum()), 2), dtype=np.int64)
    pairs[:, 0] = np.repeat(np.arange(len(queries)), count)
    pairs[:, 1] = found[np.arange(slots) < count[:, None]]
    return pairs


@njit(cache=True, parallel=True, error_model="numpy")
def _all_near(items: Any, queries: Any, lower: Any, upper: Any, others: Any, order: Any, rows: Any, above: Any,
              x_t0: Any, x_t1: Any, radius: Any, count: Any, found: Any) -> None:
    for share in prange((len(items) + SHARE - 1) // SHARE):
        _near(share * SHARE, min((share + 1) * SHARE, len(items)), items, queries, lower, upper, others, order, rows,
              above, x_t0, x_t1, radius, count, found)


@njit(cache=True, error_model="numpy")
def _near_without_drift(queries: Any, q: Any, others: Any, other: Any, x_t0: Any, x_t1: Any, radius: Any) -> Any:
    """As in `reference`, of one pair."""
    a, b = queries.shape[1], others.shape[1]
    for axis in range(3):
        drift = 0.0
        for i in range(a):
            drift += x_t1[queries[q, i], axis] - x_t0[queries[q, i], axis]
        for j in range(b):
            drift += x_t1[others[other, j], axis] - x_t0[others[other, j], axis]
        drift /= a + b
        low, high, lower, upper = np.inf, -np.inf, np.inf, -np.inf
        for i in range(a):
            start, end = x_t0[queries[q, i], axis], x_t1[queries[q, i], axis] - drift
            low, high = min(low, min(start, end)), max(high, max(start, end))
        for j in range(b):
            start, end = x_t0[others[other, j], axis], x_t1[others[other, j], axis] - drift
            lower, upper = min(lower, min(start, end)), max(upper, max(start, end))
        if not (low - radius <= upper and lower <= high + radius):
            return False
    return True


@njit(cache=True, error_model="numpy")
def _near(first: Any, last: Any, items: Any, queries: Any, lower: Any, upper: Any, others: Any, order: Any, rows: Any,
          above: Any, x_t0: Any, x_t1: Any, radius: Any, count: Any, found: Any) -> None:
    """For items first..last - 1; beyond the slots of `found` (Q, slots) they are counted, but not kept."""
    stack, met, mine = np.empty(DEEPEST, dtype=np.int64), np.empty(256, dtype=np.int64), np.empty(256, dtype=np.int64)
    low, high = np.empty(3), np.empty(3)
    for begin in range(first, last, GROUP):
        stop = min(begin + GROUP, last)
        for axis in range(3):
            low[axis], high[axis] = np.inf, -np.inf
            for item in range(begin, stop):
                low[axis] = min(low[axis], lower[items[item], axis])
                high[axis] = max(high[axis], upper[items[item], axis])
        total = walk(rows, low, high, stack, met)
        if total > len(met):
            met, mine = np.empty(2 * total, dtype=np.int64), np.empty(2 * total, dtype=np.int64)
            walk(rows, low, high, stack, met)
        for item in range(begin, stop):
            q, kept = items[item], 0
            for k in range(total):
                node, other = len(order) + met[k], order[met[k]]
                if above and other <= q:
                    continue
                # & where `and` would branch: the outcome is as good as random
                if not ((lower[q, 0] <= rows[node, 3]) & (rows[node, 0] <= upper[q, 0])
                        & (lower[q, 1] <= rows[node, 4]) & (rows[node, 1] <= upper[q, 1])
                        & (lower[q, 2] <= rows[node, 5]) & (rows[node, 2] <= upper[q, 2])):
                    continue
                apart = True
                for i in range(queries.shape[1]):
                    for j in range(others.shape[1]):
                        apart = apart and queries[q, i] != others[other, j]
                if apart and _near_without_drift(queries, q, others, other, x_t0, x_t1, radius):
                    place = kept
                    while place and mine[place - 1] > other:
                        mine[place] = mine[place - 1]
                        place -= 1
                    mine[place] = other
                    kept += 1
            count[q] = kept
            for k in range(min(kept, found.shape[1])):
                found[q, k] = mine[k]
