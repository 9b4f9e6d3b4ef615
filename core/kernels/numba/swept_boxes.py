# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of boxes around moving elements: find elements near a box at the start or at the end of a step.

A box is a pair of boxes, with lower and upper corners at the start and at the end: twelve numbers. It is grown by the
reach of its elements. `CLUSTER` elements that are stored side by side are a leaf, and each node has as many children;
their boxes are stored so that they are compared at once. Single precision loses no pair (see `wide_bvh`).

A tree that is kept is fitted again where vertices have moved since.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..numpy.self_pairs import GROWTH_OF_REACH
from ..numpy.wide_bvh import CLUSTER
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .simd_boxes import CLUSTER_BITS, WHOLE_CLUSTER, lowest_bit, touching_both
from .thread_pool import LEAST_ELEMENTS, share

Boxes = tuple[Any, ...]
"""Arrays of a tree. Of the C leaves: inner (C, 12, CLUSTER), grown boxes of their elements; corners (C, 3, CLUSTER),
vertices of the elements; reach (C, CLUSTER) of the elements [m]; rows (C, 12), boxes around whole leaves. Of the G
nodes, parents of leaves first: nodes (G, 12, CLUSTER), boxes of the children; first (levels + 1,), where the nodes of
each level begin. Boxes are lower corners at the start and at the end, then upper corners."""


def fitted(elements: IntArray, targets: IntArray, moving: FloatArray, reach: FloatArray) -> Boxes:
    """Return the tree of `elements` (N,), rows of targets (T, a), in this order, on vertices `moving` (see `packed`).

    Each box is grown by the largest `reach` (V,) [m] of its vertices.
    """
    leaves = max(1, -(-len(elements) // CLUSTER))
    sizes = [-(-leaves // CLUSTER)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // CLUSTER))
    first = np.array(list(accumulate(sizes, initial=0)))
    inner, rows = np.empty((leaves, 12, CLUSTER), dtype=np.float32), np.empty((leaves, 12), dtype=np.float32)
    corners, near = np.zeros((leaves, 3, CLUSTER), dtype=np.int32), np.empty((leaves, CLUSTER))
    nodes = np.empty((first[-1], 12, CLUSTER), dtype=np.float32)
    boxes = inner, corners, near, rows, nodes, first
    fit(boxes, np.full(leaves, 1, dtype=np.uint8), elements, targets, moving, reach)
    return boxes


def fit(boxes: Boxes, some: Any, elements: IntArray, targets: IntArray, moving: FloatArray, reach: FloatArray) -> None:
    """Fit the leaves of a tree that are not 0 in `some` (C,), and all nodes; other arguments are those of `fitted`."""
    inner, corners, near, rows, nodes, first = boxes
    share(_fit, len(some), LEAST_ELEMENTS, some, elements, targets, moving, reach, inner, corners, near, rows)
    _fit_nodes(rows, nodes, first)


@njit(**KERNEL)
def packed(begin: Any, end: Any, x_t0: Any, x_t1: Any, slack: Any, radius: Any, some: Any, moving: Any, reach: Any
           ) -> None:
    """Write positions (V, 3) [m] at the start and at the end and slack (V,) [m] into moving (V, 8), of which the
    last number fills up a line of the cache, and half the radius (V,) [m] into reach (V,): of `some` vertices (V,), of
    all if that is empty, among begin..end - 1."""
    for v in range(begin, end):
        if len(some) > 0 and not some[v]:
            continue
        for axis in range(3):
            moving[v, axis], moving[v, 3 + axis] = x_t0[v, axis], x_t1[v, axis]
        moving[v, 6], reach[v] = slack[v], 0.5 * radius[v]


@njit(**KERNEL)
def _fit(begin: Any, end: Any, some: Any, elements: Any, targets: Any, moving: Any, reach: Any, inner: Any,
         corners: Any, near: Any, rows: Any) -> None:
    """Fit the boxes of leaves begin..end - 1 of a tree of `Boxes`: inner, corners, near (its reach) and rows.

    some, elements, targets, moving, reach: as of `fit`.
    """
    last = targets.shape[1] - 1
    for leaf in range(begin, end):
        if some[leaf] == 0:
            continue
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
            near[leaf, k] = max(reach[a], max(reach[b], reach[c]))
            grow = GROWTH_OF_REACH * near[leaf, k]
            for row in range(6):
                x, y, z = moving[a, row], moving[b, row], moving[c, row]
                low, high = np.float32(min(x, min(y, z)) - grow), np.float32(max(x, max(y, z)) + grow)
                inner[leaf, row, k], inner[leaf, 6 + row, k] = low, high
                rows[leaf, row], rows[leaf, 6 + row] = min(rows[leaf, row], low), max(rows[leaf, 6 + row], high)


@njit(**KERNEL)
def _fit_nodes(rows: Any, nodes: Any, first: Any) -> None:
    """Fit the nodes above the leaves of a tree of `Boxes` from the leaves' rows."""
    for node in range(first[1]):
        for k in range(CLUSTER):
            child = CLUSTER * node + k
            there = child < len(rows)
            for row in range(12):
                nodes[node, row, k] = rows[child, row] if there else np.float32(np.inf if row < 6 else -np.inf)
    for level in range(1, len(first) - 1):
        for node in range(first[level], first[level + 1]):
            for k in range(CLUSTER):
                child = first[level - 1] + CLUSTER * (node - first[level]) + k
                there = child < first[level]
                for row in range(12):
                    most = np.float32(np.inf if row < 6 else -np.inf)
                    if there:
                        for j in range(CLUSTER):
                            most = min(most, nodes[child, row, j]) if row < 6 else max(most, nodes[child, row, j])
                    nodes[node, row, k] = most


@njit(**INNER)
def around_all(elements: Any, targets: Any, moving: Any, reach: Any, around: Any) -> None:
    """Write the box around all elements (N,), grown by the largest `reach` (V,), into around (1, 12)."""
    last, most = targets.shape[1] - 1, 0.0
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
    grow = GROWTH_OF_REACH * most
    around[0, 0], around[0, 1], around[0, 2] = x0 - grow, y0 - grow, z0 - grow
    around[0, 3], around[0, 4], around[0, 5] = u0 - grow, v0 - grow, w0 - grow
    around[0, 6], around[0, 7], around[0, 8] = x1 + grow, y1 + grow, z1 + grow
    around[0, 9], around[0, 10], around[0, 11] = u1 + grow, v1 + grow, w1 + grow


@njit(**INLINED)
def box_of(element: Any, corners: Any, moving: Any, grow: Any, boxes: Any, n: Any) -> None:
    """Write the grown box of an element into box n of boxes (N, 12): lower corners at both times, then upper ones."""
    last = corners.shape[1] - 1
    a, b, c = corners[element, 0], corners[element, min(1, last)], corners[element, last]
    for row in range(6):
        x, y, z = moving[a, row], moving[b, row], moving[c, row]
        boxes[n, row], boxes[n, 6 + row] = min(x, min(y, z)) - grow, max(x, max(y, z)) + grow


@njit(**INLINED)
def touch(a: Any, i: Any, b: Any, j: Any) -> Any:
    """Return whether box i of a (A, 12) and box j of b (B, 12) touch at the start or at the end of the step."""
    # & does not branch: a mispredicted branch costs more than the comparisons
    return (((a[i, 0] <= b[j, 6]) | (a[i, 3] <= b[j, 9])) & ((b[j, 0] <= a[i, 6]) | (b[j, 3] <= a[i, 9]))
            & ((a[i, 1] <= b[j, 7]) | (a[i, 4] <= b[j, 10])) & ((b[j, 1] <= a[i, 7]) | (b[j, 4] <= a[i, 10]))
            & ((a[i, 2] <= b[j, 8]) | (a[i, 5] <= b[j, 11])) & ((b[j, 2] <= a[i, 8]) | (b[j, 5] <= a[i, 11])))


@njit(**INNER)
def reached(nodes: Any, first: Any, around: Any, own: Any, stack: Any, levels: Any, met: Any) -> Any:
    """Write the leaves whose boxes touch the box around (1, 12) to `met`, and return their number.

    nodes, first: as of `Boxes`. own: leaves before this one are left out. stack, levels: workspace.
    """
    total, top = 0, 1
    stack[0], levels[0] = 0, len(first) - 2
    while top:
        top -= 1
        place, level = stack[top], levels[top]
        node = first[level] + place
        bits = touching_both(around, np.int64(0), nodes, node)
        before = (own >> (CLUSTER_BITS * level)) - CLUSTER * place   # children all of whose leaves are before it
        if before > 0:
            bits = bits & (WHOLE_CLUSTER << before) if before < CLUSTER else np.int32(0)
        last = (len(met) if level == 0 else first[level] - first[level - 1]) - CLUSTER * place
        if last < CLUSTER:
            bits &= WHOLE_CLUSTER >> (CLUSTER - last)                # empty places would touch an unbounded box
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
