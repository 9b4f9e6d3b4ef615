# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of boxes, compiled: each query walks the tree with a stack of its own.

Nodes are kept row by row here, (2L, 6) in memory and seen as (6, 2L): a node is one cache line. A search goes over the
queries twice, to count and to fill, so that every query writes to a place of its own whatever thread it runs on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray, IntArray
from .options import INLINED, INNER, KERNEL
from .thread_pool import share

LEAST = 64
"""Queries worth another thread."""
DEEPEST = 128
"""Places on a stack: two a level, of at most 63 levels."""


def element_boxes(elements: IntArray, x_t0: FloatArray, x_t1: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Boxes (lower, upper), each (N, 3) [m], of elements (N, k) over positions x_t0 and x_t1 (V, 3) [m]."""
    lower, upper = np.empty((len(elements), 3)), np.empty((len(elements), 3))
    _element_boxes(np.ascontiguousarray(elements), np.ascontiguousarray(x_t0), np.ascontiguousarray(x_t1), lower, upper)
    return lower, upper


def fitted(order: IntArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Nodes (6, 2L) of the tree whose leaves hold the boxes lower, upper (N, 3) [m] in `order` (L,)."""
    rows = np.empty((2 * len(order), 6))
    _fit(order, np.ascontiguousarray(lower), np.ascontiguousarray(upper), rows)
    return rows.T


def fitted_around(order: IntArray, elements: IntArray, x_t0: FloatArray, x_t1: FloatArray) -> FloatArray:
    """Nodes (6, 2L) of the tree around elements (N, k) over positions x_t0 and x_t1 (V, 3) [m]."""
    rows = np.empty((2 * len(order), 6))
    _fit_around(order, np.ascontiguousarray(elements), np.ascontiguousarray(x_t0), np.ascontiguousarray(x_t1),
                x_t0 is not x_t1, rows)
    return rows.T


def touching_boxes(order: IntArray, nodes: FloatArray, lower: FloatArray, upper: FloatArray) -> IntArray:
    """All (box, primitive) pairs (P, 2) that touch, boxes lower, upper (Q, 3) [m], in lexicographic order."""
    lower, upper, rows = np.ascontiguousarray(lower), np.ascontiguousarray(upper), rows_of(nodes)
    end = np.zeros(len(lower), dtype=np.int64)
    nothing = np.empty((0, 2), dtype=np.int64)
    share(_touching, len(lower), LEAST, order, rows, lower, upper, end, nothing, True)
    np.cumsum(end, out=end)
    found = np.empty((int(end[-1]) if len(end) else 0, 2), dtype=np.int64)
    if len(found):
        share(_touching, len(lower), LEAST, order, rows, lower, upper, end, found, False)
    return found


def rows_of(nodes: FloatArray) -> FloatArray:
    """The nodes as this module's kernels read them, (2L, 6); a copy only if NumPy's kernels made them."""
    return np.ascontiguousarray(nodes.T)


@njit(**INNER)
def _box(elements: Any, e: Any, x_t0: Any, x_t1: Any, moves: Any, low: Any, high: Any) -> None:
    """The box low, high (3,) of element e; an axis on which anything is nan is nan."""
    for axis in range(3):
        lowest, highest = x_t0[elements[e, 0], axis], x_t0[elements[e, 0], axis]
        for k in range(elements.shape[1]):
            for time in range(2 if moves else 1):
                place = x_t0[elements[e, k], axis] if time == 0 else x_t1[elements[e, k], axis]
                lowest = place if place < lowest or place != place else lowest
                highest = place if place > highest or place != place else highest
        low[axis], high[axis] = lowest, highest


@njit(**KERNEL)
def _element_boxes(elements: Any, x_t0: Any, x_t1: Any, lower: Any, upper: Any) -> None:
    for e in range(elements.shape[0]):
        _box(elements, e, x_t0, x_t1, np.bool_(True), lower[e], upper[e])


@njit(**KERNEL)
def _fit(order: Any, lower: Any, upper: Any, rows: Any) -> None:
    leaves = len(order)
    for leaf in range(leaves):
        for axis in range(3):
            if order[leaf] < 0:
                rows[leaves + leaf, axis], rows[leaves + leaf, 3 + axis] = np.inf, -np.inf
            else:
                rows[leaves + leaf, axis] = lower[order[leaf], axis]
                rows[leaves + leaf, 3 + axis] = upper[order[leaf], axis]
    _merge(rows)


@njit(**KERNEL)
def _fit_around(order: Any, elements: Any, x_t0: Any, x_t1: Any, moves: Any, rows: Any) -> None:
    leaves = len(order)
    for leaf in range(leaves):
        node = leaves + leaf
        if order[leaf] < 0:
            for axis in range(3):
                rows[node, axis], rows[node, 3 + axis] = np.inf, -np.inf
        else:
            _box(elements, order[leaf], x_t0, x_t1, moves, rows[node, :3], rows[node, 3:])
    _merge(rows)


@njit(**INNER)
def _merge(rows: Any) -> None:
    """Boxes of the nodes above the leaves."""
    for axis in range(6):
        rows[0, axis] = np.inf if axis < 3 else -np.inf
    for node in range(len(rows) // 2 - 1, 0, -1):
        for axis in range(3):
            a, b = rows[2 * node, axis], rows[2 * node + 1, axis]
            rows[node, axis] = a if a < b or b != b else b         # a nan gives way
            a, b = rows[2 * node, 3 + axis], rows[2 * node + 1, 3 + axis]
            rows[node, 3 + axis] = a if a > b or b != b else b


@njit(**INNER)
def walk(rows: Any, low: Any, high: Any, stack: Any, found: Any) -> Any:
    """How many leaves touch the box low, high (3,); the numbers of the first ones, left to right, go into `found`."""
    stack[0] = 1
    return _walk_on(rows, low, high, stack, np.int64(1), found)


@njit(**INNER)
def _walk_on(rows: Any, low: Any, high: Any, stack: Any, top: Any, found: Any) -> Any:
    leaves, count = len(rows) // 2, 0
    while top:
        top -= 1
        node = stack[top]
        if not _touches(rows, node, low, high):
            continue
        if node >= leaves:
            if count < len(found):
                found[count] = node - leaves
            count += 1
        else:
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node
            top += 2
    return count


@njit(**INNER)
def walk_below(rows: Any, nodes: Any, count: Any, low: Any, high: Any, stack: Any, found: Any) -> Any:
    """As `walk`, of the leaves below the first `count` of `nodes`, as `roots` has left them."""
    top = np.int64(0)
    for k in range(count):
        stack[top] = nodes[0, k]
        top += np.int64(_touches(rows, nodes[0, k], low, high))
    return _walk_on(rows, low, high, stack, top, found)


@njit(**INNER)
def roots(rows: Any, boxes: Any, count: Any, low: Any, high: Any, nodes: Any) -> Any:
    """How many nodes there are below which all leaves lie that touch any of the first `count` boxes (Q, 2, 3).

    They go into nodes[0] of nodes (2, N + 2), rightmost first: all of one level, the lowest that has no more than N of
    them. Those of boxes side by side are few and far down, and for none the walk is longer than from the top. low,
    high (3,) is left around all boxes.
    """
    for axis in range(3):
        low[axis], high[axis] = np.inf, -np.inf
        for q in range(count):
            if boxes[q, 0, axis] < low[axis]:                       # a nan gives way: its box touches nothing
                low[axis] = boxes[q, 0, axis]
            if boxes[q, 1, axis] > high[axis]:
                high[axis] = boxes[q, 1, axis]
    nodes[0, 0] = 1
    number, first, most = np.int64(_touches(rows, 1, low, high)), 1, nodes.shape[1] - 2
    while number and first < len(rows) // 2:
        below = np.int64(0)
        for k in range(number):
            # written in any case, counted if it touches: half of all guesses which way a branch goes would be wrong
            right = 2 * nodes[0, k] + 1
            nodes[1, below] = right
            below += np.int64(_touches(rows, right, low, high))
            nodes[1, below] = right - 1
            below += np.int64(_touches(rows, right - 1, low, high))
            if below > most:
                return number
        for k in range(below):
            nodes[0, k] = nodes[1, k]
        number, first = below, 2 * first
    return number


@njit(**INLINED)
def _touches(rows: Any, node: Any, low: Any, high: Any) -> Any:
    """Whether a node's box touches the box low, high (3,)."""
    # & where `and` would branch six times: a wrong guess costs more than the comparisons
    return ((low[0] <= rows[node, 3]) & (rows[node, 0] <= high[0])
            & (low[1] <= rows[node, 4]) & (rows[node, 1] <= high[1])
            & (low[2] <= rows[node, 5]) & (rows[node, 2] <= high[2]))


@njit(**KERNEL)
def _touching(first: Any, last: Any, order: Any, rows: Any, lower: Any, upper: Any, end: Any, found: Any,
              count: Any) -> None:
    """Count into `end`, or fill `found` up to it, for queries first..last - 1."""
    stack, mine = np.empty(DEEPEST, dtype=np.int64), np.empty(64, dtype=np.int64)
    for q in range(first, last):
        if not count and end[q] == (end[q - 1] if q else 0):
            continue
        total = walk(rows, lower[q], upper[q], stack, mine)
        if total > len(mine):
            mine = np.empty(2 * total, dtype=np.int64)
            walk(rows, lower[q], upper[q], stack, mine)
        if count:
            end[q] = total
            continue
        for k in range(total):
            mine[k] = order[mine[k]]
        mine[:total].sort()
        for k in range(total):
            found[end[q] - total + k, 0], found[end[q] - total + k, 1] = q, mine[k]
