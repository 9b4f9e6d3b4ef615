# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees whose leaves are clusters of triangles, compiled: which triangles' boxes touch a box.

`CLUSTER` leaves that lie side by side in a surface's tree are one here, and their boxes are compared all at once.
Boxes are kept in single precision. That loses nothing: rounding keeps the order of numbers, so that boxes which touch
still do, as long as a box that is to be grown is grown before it is rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ..numpy.triangle_pairs import CORNER_TWICE
from .options import INLINED, INNER, KERNEL, MAKING
from .simd_boxes import CLUSTER


@njit(**KERNEL)
def fit(x: Any, corners: Any, owned: Any, rows: Any, inner: Any, beside: Any, twice: Any) -> None:
    """Boxes of the triangles with corners (T, 3), in order of leaves, on x (V, 3) [m]; owned (T,) as of the surface.

    Into rows (2 C, 6), nodes of the tree over the C clusters in heap order, and inner (C, 6, CLUSTER), the triangles';
    beside (C, 3, CLUSTER) their corners; as bits of twice (C,) which of them have a corner twice.
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
    for axis in range(3):
        a, b, c = x[corners[t, 0], axis], x[corners[t, 1], axis], x[corners[t, 2], axis]
        low_high[axis], low_high[3 + axis] = min(min(a, b), c), max(max(a, b), c)


@njit(**MAKING)
def grow(corners: Any, start: Any, end: Any, x: Any, radius: Any, grown: Any, lanes: Any, around: Any) -> None:
    """Boxes of triangles start..end - 1, grown by the radius [m], into grown (CLUSTER, 6), and side by side into lanes
    (1, 6, CLUSTER); that of all into around."""
    low_high = np.empty(6)
    for axis in range(3):
        around[axis], around[3 + axis] = np.inf, -np.inf
    for t in range(start, end):
        _box(x, corners, t, low_high)
        for axis in range(3):
            low, high = np.float32(low_high[axis] - radius), np.float32(low_high[3 + axis] + radius)
            grown[t - start, axis], grown[t - start, 3 + axis] = low, high
            lanes[0, axis, t - start], lanes[0, 3 + axis, t - start] = low, high
            around[axis], around[3 + axis] = min(around[axis], low), max(around[3 + axis], high)


@njit(**INNER)
def reached(rows: Any, node: Any, box: Any, same: Any, stack: Any, met: Any) -> Any:
    """How many clusters touch the box (6,); their nodes go into `met`.

    same: of the tree that the box's own cluster, at `node`, is from: only it and what comes after it. That is the right
    subtree next to each of its ancestors that is a left one.
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
    clusters = len(rows) // 2
    stack[0], top = start, 1
    while top:
        top -= 1
        node = stack[top]
        # & where `and` would branch six times: a wrong guess costs more than the comparisons
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
