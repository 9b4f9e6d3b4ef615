# SPDX-License-Identifier: GPL-3.0-or-later
"""Two triangle surfaces, or one and itself, compiled: where edges may pierce triangles, and how close they come.

Neighbours in a tree lie side by side, so `GROUP` of them walk the other tree together and only then look for
themselves. A search for the smallest gap takes what its share of the work has found already as its radius.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from ...arrays import FloatArray, IntArray
from ..reference.trees import sorted_pairs
from .contacts import away
from .distances import closest, edge_distance
from .signs import apart
from .trees import DEEPEST, rows_of, walk
from .vectors import at

GROUP = 8
"""Edges or vertices that walk a tree together."""
SHARE = 64 * GROUP
"""Edges or vertices that a thread takes at once."""


def may_pierce(
    edges: IntArray, x: FloatArray, edge_order: IntArray, edge_nodes: FloatArray, triangles: IntArray, y: FloatArray,
    order: IntArray, nodes: FloatArray, same: bool
) -> IntArray:
    """Pairs (P, 2) of edges (E, 2) on x [m] and triangles (T, 3) on y [m], in order, that hold all that pierce.

    What is left is but what pierces, and what rounding does not let us tell.
    """
    items = edge_order[edge_order >= 0]
    end = np.zeros((len(items) + SHARE - 1) // SHARE, dtype=np.int64)
    given = items, edges, x, triangles, y, order, rows_of(nodes), same, end
    _pierce_all(*given, np.empty((0, 2), dtype=np.int64), True)
    np.cumsum(end, out=end)
    found = np.empty((int(end[-1]) if len(end) else 0, 2), dtype=np.int64)
    if len(found):
        _pierce_all(*given, found, False)
    return sorted_pairs([found])


def gap_to_triangles(
    vertices: IntArray, x: FloatArray, triangles: IntArray, y: FloatArray, order: IntArray, nodes: FloatArray,
    edges: IntArray, radius: float, same: bool
) -> float:
    """The smallest distance [m] from vertices (N,) on x to triangles (T, 3) on y with a tree, `radius` if none is less.

    edges (E, 2), in order: of the triangles.
    """
    points = np.stack([vertices, vertices], axis=1)
    return _least(np.arange(len(points)), points, x, triangles, y, order, nodes, edges, radius, same)


def gap_of_edges(
    edges_a: IntArray, x: FloatArray, order_a: IntArray, nodes_a: FloatArray, edges_b: IntArray, y: FloatArray,
    order_b: IntArray, nodes_b: FloatArray, radius: float, same: bool
) -> float:
    """The smallest distance [m] of edges (E, 2) on x and y with trees, `radius` if none is less."""
    return _least(order_a[order_a >= 0], edges_a, x, edges_b, y, order_b, nodes_b, edges_b, radius, same)


def _least(items: IntArray, ends: IntArray, x: FloatArray, others: IntArray, y: FloatArray, order: IntArray,
           nodes: FloatArray, edges: IntArray, radius: float, same: bool) -> float:
    least = np.full((len(items) + SHARE - 1) // SHARE, radius)
    first = np.searchsorted(edges[:, 0], np.arange(len(y) + 1)) if same else np.zeros(1, dtype=np.int64)
    _least_all(items, ends, np.ascontiguousarray(x), others, np.ascontiguousarray(y), order, rows_of(nodes), edges,
               first, same, least)
    return float(least.min(initial=radius))


@njit(cache=True, parallel=True, error_model="numpy")
def _pierce_all(items: Any, edges: Any, x: Any, triangles: Any, y: Any, order: Any, rows: Any, same: Any, end: Any,
                found: Any, count: Any) -> None:
    for share in prange(len(end)):
        _pierce(share, items, edges, x, triangles, y, order, rows, same, end, found, count)


@njit(cache=True, parallel=True, error_model="numpy")
def _least_all(items: Any, ends: Any, x: Any, others: Any, y: Any, order: Any, rows: Any, edges: Any, first: Any,
               same: Any, least: Any) -> None:
    for share in prange(len(least)):
        _least_of(share, items, ends, x, others, y, order, rows, edges, first, same, least)


@njit(cache=True, error_model="numpy")
def _group(begin: Any, end: Any, items: Any, ends: Any, x: Any, grow: Any, lower: Any, upper: Any) -> None:
    """Boxes of items begin..end - 1, grown by so much, and in the last row the box around all."""
    for axis in range(3):
        all_low, all_high = np.inf, -np.inf
        for k in range(end - begin):
            a, b = x[ends[items[begin + k], 0], axis], x[ends[items[begin + k], 1], axis]
            lower[k, axis], upper[k, axis] = min(a, b) - grow, max(a, b) + grow
            all_low, all_high = min(all_low, lower[k, axis]), max(all_high, upper[k, axis])
        lower[GROUP, axis], upper[GROUP, axis] = all_low, all_high


@njit(error_model="numpy", forceinline=True)
def _touches(lower: Any, upper: Any, k: Any, rows: Any, node: Any) -> Any:
    # & where `and` would branch: the outcome is as good as random, and a wrong guess costs more than six comparisons
    return ((lower[k, 0] <= rows[node, 3]) & (rows[node, 0] <= upper[k, 0]) & (lower[k, 1] <= rows[node, 4])
            & (rows[node, 1] <= upper[k, 1]) & (lower[k, 2] <= rows[node, 5]) & (rows[node, 2] <= upper[k, 2]))


@njit(cache=True, error_model="numpy")
def _pierce(share: Any, items: Any, edges: Any, x: Any, triangles: Any, y: Any, order: Any, rows: Any, same: Any,
            end: Any, found: Any, count: Any) -> None:
    """Count the pairs of a share of the edges into `end`, or fill `found` up to it."""
    stack, met = np.empty(DEEPEST, dtype=np.int64), np.empty(256, dtype=np.int64)
    lower, upper = np.empty((GROUP + 1, 3)), np.empty((GROUP + 1, 3))
    last = min((share + 1) * SHARE, len(items))
    number, place = 0, end[share - 1] if share and not count else 0
    if not count and place == end[share]:
        return
    for begin in range(share * SHARE, last, GROUP):
        stop = min(begin + GROUP, last)
        _group(begin, stop, items, edges, x, 0.0, lower, upper)
        total = walk(rows, lower[GROUP], upper[GROUP], stack, met)
        if total > len(met):
            met = np.empty(2 * total, dtype=np.int64)
            walk(rows, lower[GROUP], upper[GROUP], stack, met)
        for m in range(total):
            node, t = len(order) + met[m], order[met[m]]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            for k in range(stop - begin):
                if not _touches(lower, upper, k, rows, node):
                    continue
                i, j = edges[items[begin + k], 0], edges[items[begin + k], 1]
                if same and (i in (a, b, c) or j in (a, b, c)):
                    continue
                if apart(at(x, i), at(x, j), at(y, a), at(y, b), at(y, c)):
                    continue
                if not count:
                    found[place + number, 0], found[place + number, 1] = items[begin + k], t
                number += 1
    if count:
        end[share] = number


@njit(cache=True, error_model="numpy")
def _least_of(share: Any, items: Any, ends: Any, x: Any, others: Any, y: Any, order: Any, rows: Any, edges: Any,
              first: Any, same: Any, least: Any) -> None:
    """The smallest distance of a share of the items, vertices or edges, from the others, triangles or edges."""
    stack, met = np.empty(DEEPEST, dtype=np.int64), np.empty(256, dtype=np.int64)
    lower, upper = np.empty((GROUP + 1, 3)), np.empty((GROUP + 1, 3))
    last = min((share + 1) * SHARE, len(items))
    best = least[share]
    corners = others.shape[1]
    for begin in range(share * SHARE, last, GROUP):
        stop = min(begin + GROUP, last)
        _group(begin, stop, items, ends, x, best, lower, upper)
        total = walk(rows, lower[GROUP], upper[GROUP], stack, met)
        if total > len(met):
            met = np.empty(2 * total, dtype=np.int64)
            walk(rows, lower[GROUP], upper[GROUP], stack, met)
        for m in range(total):
            node, t = len(order) + met[m], order[met[m]]
            for k in range(stop - begin):
                item = items[begin + k]
                if (same and corners == 2 and t <= item) or not _touches(lower, upper, k, rows, node):
                    continue
                i, j = ends[item, 0], ends[item, 1]
                if same and _joined(i, j, others, t, edges, first):
                    continue
                a, b = at(y, others[t, 0]), at(y, others[t, 1])
                if corners == 2:
                    best = min(best, edge_distance(at(x, i), at(x, j), a, b))
                elif not away(at(x, i), a, b, at(y, others[t, 2]), best):
                    best = min(best, closest(at(x, i), a, b, at(y, others[t, 2]))[2])
    least[share] = best


@njit(error_model="numpy", forceinline=True)
def _joined(i: Any, j: Any, others: Any, t: Any, edges: Any, first: Any) -> Any:
    """Whether vertex i or j is one of row t of the others, or joined to one by an edge; v's begin at first[v]."""
    for k in range(others.shape[1]):
        for one in (i, j):
            low, high = min(one, others[t, k]), max(one, others[t, k])
            if low == high:
                return True
            for e in range(first[low], first[low + 1]):
                if edges[e, 1] == high:
                    return True
    return False
