# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees whose leaves are clusters of triangles: find the triangles whose boxes touch a box.

`CLUSTER` neighbouring leaves of a surface's tree are one leaf here, and their boxes are compared at once. Boxes are in
single precision. That loses no pair: rounding keeps the order of numbers, so that touching boxes still touch, as long
as boxes are grown before they are rounded. NumPy has clusters on every level and compares whole levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numpy.triangle_pairs import CORNER_TWICE
from ..numpy.wide_bvh import CLUSTER
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL


@njit(**KERNEL)
def fit(x: Any, corners: Any, owned: Any, rows: Any, inner: Any, beside: Any, twice: Any) -> None:
    """Fit the boxes of triangles with corners (T, 3), in order of leaves, on x (V, 3) [m]; owned (T,) as of `Leaves`.

    They go into rows (2 C, 6), nodes of the tree over the C clusters in heap order, and inner (C, 6, CLUSTER), boxes of
    triangles; beside (C, 3, CLUSTER) gets the corners, and twice (C,) as bits which triangles have a corner twice.
    """
    count = len(inner)
    low_high = np.empty(6)
    for cluster in range(count):
        node = count + cluster
        for axis in range(3):
            rows[node, axis], rows[node, 3 + axis] = np.inf, -np.inf
        for k in range(CLUSTER):
            t = cluster * CLUSTER + k
            if t >= len(corners):
                for axis in range(3):
                    inner[cluster, axis, k], inner[cluster, 3 + axis, k] = np.inf, -np.inf
                continue
            _box(x, corners, t, low_high)
            twice[cluster] |= (1 if owned[t] & CORNER_TWICE != 0 else 0) << k
            for axis in range(3):
                beside[cluster, axis, k] = corners[t, axis]
                inner[cluster, axis, k], inner[cluster, 3 + axis, k] = low_high[axis], low_high[3 + axis]
                rows[node, axis] = min(rows[node, axis], inner[cluster, axis, k])
                rows[node, 3 + axis] = max(rows[node, 3 + axis], inner[cluster, 3 + axis, k])
    for node in range(count - 1, 0, -1):
        for axis in range(3):
            rows[node, axis] = min(rows[2 * node, axis], rows[2 * node + 1, axis])
            rows[node, 3 + axis] = max(rows[2 * node, 3 + axis], rows[2 * node + 1, 3 + axis])


@njit(**INLINED)
def _box(x: Any, corners: Any, t: Any, low_high: Any) -> None:
    """Write the box of triangle t, corners (T, 3), at x (V, 3) [m] to low_high (6,): lower, then upper corner [m]."""
    for axis in range(3):
        a, b, c = x[corners[t, 0], axis], x[corners[t, 1], axis], x[corners[t, 2], axis]
        low_high[axis], low_high[3 + axis] = min(min(a, b), c), max(max(a, b), c)


@njit(**INNER)
def grow(inner: Any, cluster: Any, count: Any, radius: Any, grown: Any, lanes: Any, around: Any) -> None:
    """Write the boxes of the first `count` triangles of a cluster, grown by `radius` [m], to grown (CLUSTER, 6).

    The same boxes are written side by side to lanes (1, 6, CLUSTER), and the box around all of them to around (6,).
    inner (C, 6, CLUSTER): as of `fit`. They also grow by the rounding of its numbers, so that none is too small.
    """
    for axis in range(3):
        around[axis], around[3 + axis] = np.inf, -np.inf
        for k in range(count):
            lower, upper = 1.0 * inner[cluster, axis, k], 1.0 * inner[cluster, 3 + axis, k]    # in double precision
            low = np.float32(lower - radius - 2.0 ** -23 * max(abs(lower), 2.0 ** -126))
            high = np.float32(upper + radius + 2.0 ** -23 * max(abs(upper), 2.0 ** -126))
            lanes[0, axis, k] = grown[k, axis] = low
            lanes[0, 3 + axis, k] = grown[k, 3 + axis] = high
            around[axis], around[3 + axis] = min(around[axis], low), max(around[3 + axis], high)


@njit(**INNER)
def reached(rows: Any, node: Any, box: Any, same: Any, stack: Any, met: Any) -> Any:
    """Write the nodes of the clusters that touch the box (6,) to `met`, and return their number.

    rows (2 C, 6): nodes of the tree in heap order. same: the box is that of a cluster of this tree, at `node`; then
    only this cluster and later ones count, which are below the right siblings of the node and of its ancestors.
    """
    if not same:
        return _below(rows, np.int64(1), box, stack, met, np.int64(0))
    met[0], total = node, np.int64(1)
    while node > 1:
        if node % 2 == 0:
            total = _below(rows, node + 1, box, stack, met, total)
        node //= 2
    return total


@njit(**INLINED)
def _below(rows: Any, start: Any, box: Any, stack: Any, met: Any, total: Any) -> Any:
    """Append the clusters below node `start` that touch the box (6,) to `met`; return the new number, from `total`."""
    clusters = len(rows) // 2
    stack[0], top = start, 1
    while top:
        top -= 1
        node = stack[top]
        # & does not branch: a mispredicted branch costs more than the comparisons
        if not ((box[0] <= rows[node, 3]) & (rows[node, 0] <= box[3]) & (box[1] <= rows[node, 4])
                & (rows[node, 1] <= box[4]) & (box[2] <= rows[node, 5]) & (rows[node, 2] <= box[5])):
            continue
        if node >= clusters:
            met[total] = node
            total += 1
        else:
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node
            top += 2
    return total
