# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of boxes around what moves, compiled: which elements are near a box at the start or at the end of a step.

A box is two: lower and upper corner at the start and at the end, twelve numbers. It is as much larger than what is in
it as that reaches. `CLUSTER` elements that lie side by
side are a leaf, and each node has as many children; the boxes of what belongs together lie so that they are compared
all at once. They are in single precision, which loses nothing (see `clusters`).

Elements can be marked, and a search can be for marked ones alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray, IntArray
from .options import INLINED, INNER, KERNEL
from .simd_boxes import CLUSTER, lowest_bit, touching_both
from .thread_pool import share

LEAST = 256
"""Leaves worth another thread when boxes are fitted around what is in them."""
BITS = CLUSTER.bit_length() - 1
"""A node's number over CLUSTER, by shifting it."""
ALL = (1 << CLUSTER) - 1
"""The bits of all that lie side by side."""
DEEPEST = 22 * CLUSTER
"""Places on a stack: all children of a node on each of more levels than whole numbers have room for."""
MARK = 7
"""Column of `moving` that says whether a vertex is marked: above zero."""
ROOM = 1.0 + 1e-6
"""What boxes in single precision are grown by, over the reach [-]: more than what rounding could take."""

Boxes = tuple[Any, ...]
"""Of the C leaves: inner (C, 12, CLUSTER), boxes of their elements, grown; corners (C, 3, CLUSTER), the elements'
vertices; reach (C, CLUSTER), theirs; rows (C, 12), boxes around a whole leaf; flags (C,), which elements are marked, as
bits. Of the G nodes, leaves' parents first: nodes (G, 12, CLUSTER), boxes of the children; marks (G,), which of them
have marked elements, as bits; first (levels + 1,), where the nodes of each level begin. Boxes are low corners at the
start and the end, then high ones."""


def fitted(elements: IntArray, targets: IntArray, moving: FloatArray, reach: FloatArray) -> Boxes:
    """Boxes of `elements` (N,), rows of targets (T, a), side by side as they come, on vertices `moving` as `packed`;
    each grown by the largest `reach` (V,) [m] of its vertices."""
    leaves = max(1, -(-len(elements) // CLUSTER))
    sizes = [-(-leaves // CLUSTER)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // CLUSTER))
    first = np.cumsum([0, *sizes])
    inner, rows = np.empty((leaves, 12, CLUSTER), dtype=np.float32), np.empty((leaves, 12), dtype=np.float32)
    corners, flags = np.zeros((leaves, 3, CLUSTER), dtype=np.int32), np.zeros(leaves, dtype=np.int32)
    nodes, marks = np.empty((first[-1], 12, CLUSTER), dtype=np.float32), np.zeros(first[-1], dtype=np.int32)
    near = np.empty((leaves, CLUSTER))
    share(_fit, leaves, LEAST, elements, targets, moving, reach, inner, corners, near, rows, flags)
    _fit_nodes(rows, flags, nodes, marks, first)
    return inner, corners, near, rows, flags, nodes, marks, first


@njit(**KERNEL)
def packed(x_t0: Any, x_t1: Any, slack: Any, some: Any, moving: Any) -> None:
    """Into moving (V, 8): places (V, 3) [m] at the start and the end, slack (V,) [m], and a mark on `some` (V,), on all
    if that is empty."""
    for v in range(len(moving)):
        for axis in range(3):
            moving[v, axis], moving[v, 3 + axis] = x_t0[v, axis], x_t1[v, axis]
        moving[v, 6] = slack[v]
        moving[v, MARK] = 1.0 if len(some) == 0 or some[v] else 0.0


@njit(**KERNEL)
def _fit(begin: Any, end: Any, elements: Any, targets: Any, moving: Any, reach: Any, inner: Any, corners: Any,
         near: Any, rows: Any, flags: Any) -> None:
    """Leaves begin..end - 1."""
    last = targets.shape[1] - 1
    for leaf in range(begin, end):
        for row in range(6):
            rows[leaf, row], rows[leaf, 6 + row] = np.inf, -np.inf
        for k in range(CLUSTER):
            number = CLUSTER * leaf + k
            if number >= len(elements):
                for row in range(6):
                    inner[leaf, row, k], inner[leaf, 6 + row, k] = np.inf, -np.inf
                near[leaf, k] = 0.0
                continue
            t = elements[number]
            a, b, c = targets[t, 0], targets[t, min(1, last)], targets[t, last]
            corners[leaf, 0, k], corners[leaf, 1, k], corners[leaf, 2, k] = a, b, c
            if max(moving[a, MARK], max(moving[b, MARK], moving[c, MARK])) > 0.0:
                flags[leaf] |= 1 << k
            near[leaf, k] = max(reach[a], max(reach[b], reach[c]))
            grow = ROOM * near[leaf, k]
            for row in range(6):
                x, y, z = moving[a, row], moving[b, row], moving[c, row]
                low, high = np.float32(min(x, min(y, z)) - grow), np.float32(max(x, max(y, z)) + grow)
                inner[leaf, row, k], inner[leaf, 6 + row, k] = low, high
                rows[leaf, row], rows[leaf, 6 + row] = min(rows[leaf, row], low), max(rows[leaf, 6 + row], high)


@njit(**KERNEL)
def _fit_nodes(rows: Any, flags: Any, nodes: Any, marks: Any, first: Any) -> None:
    """The nodes above the leaves."""
    for node in range(first[1]):
        for k in range(CLUSTER):
            child = CLUSTER * node + k
            there = child < len(rows)
            if there and flags[child] != 0:
                marks[node] |= 1 << k
            for row in range(12):
                nodes[node, row, k] = rows[child, row] if there else np.float32(np.inf if row < 6 else -np.inf)
    for level in range(1, len(first) - 1):
        for node in range(first[level], first[level + 1]):
            for k in range(CLUSTER):
                child = first[level - 1] + CLUSTER * (node - first[level]) + k
                there = child < first[level]
                if there and marks[child] != 0:
                    marks[node] |= 1 << k
                for row in range(12):
                    most = np.float32(np.inf if row < 6 else -np.inf)
                    if there:
                        for j in range(CLUSTER):
                            most = min(most, nodes[child, row, j]) if row < 6 else max(most, nodes[child, row, j])
                    nodes[node, row, k] = most


@njit(**INNER)
def around_all(elements: Any, targets: Any, moving: Any, reach: Any, around: Any) -> Any:
    """The box around all elements (N,), grown by the largest `reach` (V,), into around (1, 12); which of them are
    marked, as bits."""
    last, marked, most = targets.shape[1] - 1, 0, 0.0
    x0 = y0 = z0 = u0 = v0 = w0 = np.inf
    x1 = y1 = z1 = u1 = v1 = w1 = -np.inf
    for k in range(len(elements)):
        for corner in range(last + 1):
            a = targets[elements[k], corner]
            x0, y0, z0 = min(x0, moving[a, 0]), min(y0, moving[a, 1]), min(z0, moving[a, 2])
            u0, v0, w0 = min(u0, moving[a, 3]), min(v0, moving[a, 4]), min(w0, moving[a, 5])
            x1, y1, z1 = max(x1, moving[a, 0]), max(y1, moving[a, 1]), max(z1, moving[a, 2])
            u1, v1, w1 = max(u1, moving[a, 3]), max(v1, moving[a, 4]), max(w1, moving[a, 5])
            most = max(most, reach[a])
            if moving[a, MARK] > 0.0:
                marked |= 1 << k
    grow = ROOM * most
    around[0, 0], around[0, 1], around[0, 2] = x0 - grow, y0 - grow, z0 - grow
    around[0, 3], around[0, 4], around[0, 5] = u0 - grow, v0 - grow, w0 - grow
    around[0, 6], around[0, 7], around[0, 8] = x1 + grow, y1 + grow, z1 + grow
    around[0, 9], around[0, 10], around[0, 11] = u1 + grow, v1 + grow, w1 + grow
    return marked


@njit(**INLINED)
def box_of(element: Any, corners: Any, moving: Any, grow: Any, boxes: Any, n: Any) -> None:
    """Box n of boxes (N, 12), of an element, grown: low corner at the start and the end, then high ones."""
    last = corners.shape[1] - 1
    a, b, c = corners[element, 0], corners[element, min(1, last)], corners[element, last]
    for row in range(6):
        x, y, z = moving[a, row], moving[b, row], moving[c, row]
        boxes[n, row], boxes[n, 6 + row] = min(x, min(y, z)) - grow, max(x, max(y, z)) + grow


@njit(**INLINED)
def touch(a: Any, i: Any, b: Any, j: Any) -> Any:
    """Whether boxes i of a (A, 12), grown, and j of b (B, 12) are nowhere apart on the same side both times."""
    # & where `and` would branch: a wrong guess costs more than the comparisons
    return (((a[i, 0] <= b[j, 6]) | (a[i, 3] <= b[j, 9])) & ((b[j, 0] <= a[i, 6]) | (b[j, 3] <= a[i, 9]))
            & ((a[i, 1] <= b[j, 7]) | (a[i, 4] <= b[j, 10])) & ((b[j, 1] <= a[i, 7]) | (b[j, 4] <= a[i, 10]))
            & ((a[i, 2] <= b[j, 8]) | (a[i, 5] <= b[j, 11])) & ((b[j, 2] <= a[i, 8]) | (b[j, 5] <= a[i, 11])))


@njit(**INNER)
def reached(nodes: Any, marks: Any, first: Any, around: Any, own: Any, marked: Any, stack: Any, levels: Any, met: Any
            ) -> Any:
    """How many leaves touch the box (1, 12); they go into `met`. None before leaf `own`; `marked`: only those that have
    marked elements."""
    total, top = 0, 1
    stack[0], levels[0] = 0, len(first) - 2
    while top:
        top -= 1
        place, level = stack[top], levels[top]
        node = first[level] + place
        bits = touching_both(around, np.int64(0), nodes, node)
        if marked:
            bits &= marks[node]
        before = (own >> (BITS * level)) - CLUSTER * place           # children that are all before it
        if before > 0:
            bits = bits & (ALL << before) if before < CLUSTER else np.int32(0)
        last = (len(met) if level == 0 else first[level] - first[level - 1]) - CLUSTER * place
        if last < CLUSTER:
            bits &= ALL >> (CLUSTER - last)                          # empty places touch a box without bounds
        while bits:
            child = CLUSTER * place + lowest_bit(bits)
            bits &= bits - 1
            if level == 0:
                met[total] = child
                total += 1
            else:
                stack[top], levels[top] = child, level - 1
                top += 1
    return total
