# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of boxes: fit them, and find touching boxes. Each query traverses the tree with a stack.

Nodes are stored row by row here, (2L, 6) in memory and a view (6, 2L): a node is one cache line. A search goes over the
queries twice, to count and to fill, so that every query writes to its own part of the result on any thread. NumPy
searches with all queries at once, level by level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..numpy.wide_bvh import CLUSTER
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .thread_pool import LEAST_SEARCHES, share

STACK_SIZE = 22 * CLUSTER
"""Nodes on the stack of a traversal [-]: all children of a node on each of 22 levels, more than integers of 64 bits can
number in trees of CLUSTER children, or two on each of the 63 levels of a binary tree."""


def element_boxes(elements: IntArray, x_t0: FloatArray, x_t1: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return boxes (lower, upper), each (N, 3) [m], of elements (N, k) over positions x_t0 and x_t1 (V, 3) [m]."""
    lower, upper = np.empty((len(elements), 3)), np.empty((len(elements), 3))
    _element_boxes(np.ascontiguousarray(elements), np.ascontiguousarray(x_t0), np.ascontiguousarray(x_t1), lower, upper)
    return lower, upper


def fitted(order: IntArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return nodes (6, 2L) of the tree whose leaves hold the boxes lower, upper (N, 3) [m] in `order` (L,)."""
    rows = np.empty((2 * len(order), 6))
    _fit(order, np.ascontiguousarray(lower), np.ascontiguousarray(upper), rows)
    return rows.T


def fitted_around(order: IntArray, elements: IntArray, x_t0: FloatArray, x_t1: FloatArray) -> FloatArray:
    """Return nodes (6, 2L) of the tree around elements (N, k) over positions x_t0 and x_t1 (V, 3) [m]."""
    rows = np.empty((2 * len(order), 6))
    _fit_around(order, np.ascontiguousarray(elements), np.ascontiguousarray(x_t0), np.ascontiguousarray(x_t1),
                x_t0 is not x_t1, rows)
    return rows.T


def touching_boxes(order: IntArray, nodes: FloatArray, lower: FloatArray, upper: FloatArray) -> IntArray:
    """Return all (box, primitive) pairs (P, 2) that touch, boxes lower, upper (Q, 3) [m], in lexicographic order."""
    lower, upper, rows = np.ascontiguousarray(lower), np.ascontiguousarray(upper), rows_of(nodes)
    end = np.zeros(len(lower), dtype=np.int64)
    nothing = np.empty((0, 2), dtype=np.int64)
    share(_touching, len(lower), LEAST_SEARCHES, order, rows, lower, upper, end, nothing, True)
    np.cumsum(end, out=end)
    found = np.empty((int(end[-1]) if len(end) else 0, 2), dtype=np.int64)
    if len(found):
        share(_touching, len(lower), LEAST_SEARCHES, order, rows, lower, upper, end, found, False)
    return found


def rows_of(nodes: FloatArray) -> FloatArray:
    """Return the nodes as this module's kernels read them, (2L, 6): a copy only if the NumPy kernels made them."""
    return np.ascontiguousarray(nodes.T)


@njit(**INNER)
def _box(elements: Any, e: Any, x_t0: Any, x_t1: Any, moves: Any, low: Any, high: Any) -> None:
    """Write the box of element e to low, high (3,) [m]; an axis on which a coordinate is nan becomes nan.

    elements (N, k): vertices. x_t0, x_t1 (V, 3) [m]: positions; x_t1 counts only if `moves`.
    """
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
    """Write the boxes of elements (N, k) over x_t0 and x_t1 (V, 3) [m] to lower, upper (N, 3) [m]."""
    for e in range(elements.shape[0]):
        _box(elements, e, x_t0, x_t1, np.bool_(True), lower[e], upper[e])


@njit(**KERNEL)
def _fit(order: Any, lower: Any, upper: Any, rows: Any) -> None:
    """Write the nodes (2L, 6) of the tree with leaves `order` (L,), -1 for none, of boxes lower, upper (N, 3) [m]."""
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
    """Write the nodes (2L, 6) of the tree around elements (N, k), with leaves `order` (L,), -1 for none."""
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
    """Fit the boxes of the nodes above the leaves; rows (2L, 6): nodes in heap order, leaves filled."""
    for axis in range(6):
        rows[0, axis] = np.inf if axis < 3 else -np.inf
    for node in range(len(rows) // 2 - 1, 0, -1):
        for axis in range(3):
            a, b = rows[2 * node, axis], rows[2 * node + 1, axis]
            rows[node, axis] = a if a < b or b != b else b         # any other number before nan
            a, b = rows[2 * node, 3 + axis], rows[2 * node + 1, 3 + axis]
            rows[node, 3 + axis] = a if a > b or b != b else b


@njit(**INNER)
def walk(rows: Any, low: Any, high: Any, stack: Any, found: Any) -> Any:
    """Return how many leaves touch the box low, high (3,) [m]; write the first of them, left to right, to `found`.

    rows (2L, 6): nodes. stack (STACK_SIZE,): workspace.
    """
    stack[0] = 1
    return _walk_on(rows, low, high, stack, np.int64(1), found)


@njit(**INNER)
def _walk_on(rows: Any, low: Any, high: Any, stack: Any, top: Any, found: Any) -> Any:
    """Continue `walk` with the first `top` nodes on the stack."""
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
    """Return `walk` below the first `count` of `nodes` (2, N + 2), as `roots` wrote them, instead of from the root."""
    top = np.int64(0)
    for k in range(count):
        stack[top] = nodes[0, k]
        top += np.int64(_touches(rows, nodes[0, k], low, high))
    return _walk_on(rows, low, high, stack, top, found)


@njit(**INNER)
def roots(rows: Any, boxes: Any, count: Any, low: Any, high: Any, nodes: Any) -> Any:
    """Find nodes that cover all leaves which touch any of the first `count` boxes (Q, 2, 3) [m]; return their number.

    They are written to nodes[0] of nodes (2, N + 2), rightmost first: the touching nodes of the lowest level that has
    at most N of them. For boxes close to each other they are few and deep in the tree, so that a traversal from them is
    shorter than from the root. low, high (3,) [m] gets the box around all boxes.
    """
    for axis in range(3):
        low[axis], high[axis] = np.inf, -np.inf
        for q in range(count):
            if boxes[q, 0, axis] < low[axis]:                       # a box of nan touches no other
                low[axis] = boxes[q, 0, axis]
            if boxes[q, 1, axis] > high[axis]:
                high[axis] = boxes[q, 1, axis]
    nodes[0, 0] = 1
    number, first, most = np.int64(_touches(rows, 1, low, high)), 1, nodes.shape[1] - 2
    while number and first < len(rows) // 2:
        below = np.int64(0)
        for k in range(number):
            # written in any case, counted if it touches: half of the branches would be mispredicted
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
    """Return whether the box of a node, rows (2L, 6), touches the box low, high (3,) [m]."""
    # & does not branch: a mispredicted branch costs more than the comparisons
    return ((low[0] <= rows[node, 3]) & (rows[node, 0] <= high[0])
            & (low[1] <= rows[node, 4]) & (rows[node, 1] <= high[1])
            & (low[2] <= rows[node, 5]) & (rows[node, 2] <= high[2]))


@njit(**KERNEL)
def _touching(first: Any, last: Any, order: Any, rows: Any, lower: Any, upper: Any, end: Any, found: Any,
              count: Any) -> None:
    """Count the touching leaves of queries first..last - 1 into `end`, or fill `found` up to `end`."""
    stack, mine = np.empty(STACK_SIZE, dtype=np.int64), np.empty(64, dtype=np.int64)
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
