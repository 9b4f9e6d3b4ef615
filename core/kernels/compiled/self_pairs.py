# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of primitives that may be near or meet in a step, compiled.

`CLUSTER` vertices or edges that lie side by side walk a tree together whose leaves are as many triangles or edges. The
boxes are in single precision, which loses nothing (see `clusters`); what stays is looked at again in double precision.
Only pairs that stay are written down, by each share of the work in a place of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray, IntArray
from ..reference.advancement import LEFT
from .clusters import CLUSTER, LOWEST_BIT
from .options import INNER, KERNEL
from .pool import share
from .trees import DEEPEST
from .vectors import add, divide, dot, scale, subtract

SHARE = 32
"""Clusters that are one share of the work."""
PLACES = 16
"""Places for pairs, over the vertices or edges of a share; where they are too few, all is done again with enough."""
LEAST = 256
"""Leaves worth another thread when boxes are fitted around what is in them."""
HALF = 32
LOWER = (1 << HALF) - 1
"""A pair as one number: its first element in the upper half of the bits, the other in the lower."""
ROOM = 1.0 + 1e-6
"""Radius by which boxes in single precision are grown, over the radius [-]: more than what rounding could take."""


def pairs(items: IntArray, queries: IntArray, order: IntArray, targets: IntArray, same: bool, x_t0: FloatArray,
          x_t1: FloatArray, slack: FloatArray, radius: float, far: float = np.inf) -> IntArray:
    """Pairs (P, 2) of `items`, rows of queries (Q, a), with rows of targets (N, b), as in `reference`."""
    moving = np.empty((len(x_t0), 8))
    moving[:, :3], moving[:, 3:6], moving[:, 6] = x_t0, x_t1, slack
    clusters = max(1, len(order) // CLUSTER)
    items, others = items[items >= 0], order[order >= 0]
    rows = np.empty((2 * clusters, 12), dtype=np.float32)
    inner = np.empty((clusters, 12, CLUSTER), dtype=np.float32)
    corners = np.zeros((clusters, 3, CLUSTER), dtype=np.int32)
    count = np.zeros((len(items) + SHARE * CLUSTER - 1) // (SHARE * CLUSTER), dtype=np.int64)
    places = PLACES * SHARE * CLUSTER
    share(_fit, clusters, LEAST, others, targets, moving, rows, inner, corners)
    _fit_nodes(rows, clusters)
    while True:
        found = np.empty((len(count), places, 2), dtype=np.int32)
        share(_search, len(count), 1, items, queries, others, targets, same, moving, radius, far, rows, inner,
              corners, found, count)
        if count.max(initial=0) <= places:
            break
        places = int(count.max())
    keys = np.empty(int(count.sum()), dtype=np.int64)
    _gather(found, count, keys)
    keys.sort()
    return np.column_stack([keys >> HALF, keys & LOWER])


@njit(**KERNEL)
def _search(begin: Any, end: Any, items: Any, queries: Any, others: Any, targets: Any, same: Any, moving: Any,
            radius: Any, far: Any, rows: Any, inner: Any, corners: Any, found: Any, count: Any) -> None:
    """The pairs of each share, and their number."""
    half = (len(count) + 1) // 2
    for number in range(begin, end):
        # neighbours go to different threads: where there is much to do lies together
        share = 2 * number if number < half else 2 * (number - half) + 1
        count[share] = _near(share, items, queries, others, targets, same, moving, radius, far, rows, inner,
                             corners, found[share])


@njit(**KERNEL)
def _gather(found: Any, count: Any, keys: Any) -> None:
    """The pairs of all shares as numbers."""
    at = 0
    for part in range(len(count)):
        for k in range(count[part]):
            keys[at] = (np.int64(found[part, k, 0]) << HALF) | np.int64(found[part, k, 1])
            at += 1


@njit(**KERNEL)
def _fit(begin: Any, end: Any, others: Any, targets: Any, moving: Any, rows: Any, inner: Any, corners: Any) -> None:
    """Boxes of the elements in leaves begin..end - 1, and of these leaves; and the elements' vertices."""
    last = targets.shape[1] - 1
    for node in range(len(inner) + begin, len(inner) + end):
        for row in range(6):
            rows[node, row], rows[node, 6 + row] = np.inf, -np.inf
    for number in range(CLUSTER * begin, CLUSTER * end):
        leaf, k = number // CLUSTER, number % CLUSTER
        if number >= len(others):
            for row in range(6):
                inner[leaf, row, k], inner[leaf, 6 + row, k] = np.inf, -np.inf
            continue
        node, t = len(inner) + leaf, others[number]
        a, b, c = targets[t, 0], targets[t, 1], targets[t, last]
        corners[leaf, 0, k], corners[leaf, 1, k], corners[leaf, 2, k] = a, b, c
        for row in range(6):
            x, y, z = moving[a, row], moving[b, row], moving[c, row]
            low, high = np.float32(min(x, min(y, z))), np.float32(max(x, max(y, z)))
            inner[leaf, row, k], inner[leaf, 6 + row, k] = low, high
            rows[node, row], rows[node, 6 + row] = min(rows[node, row], low), max(rows[node, 6 + row], high)


@njit(**KERNEL)
def _fit_nodes(rows: Any, leaves: Any) -> None:
    """Boxes of all nodes above the leaves."""
    for node in range(leaves - 1, 0, -1):
        for row in range(6):
            rows[node, row] = min(rows[2 * node, row], rows[2 * node + 1, row])
            rows[node, 6 + row] = max(rows[2 * node, 6 + row], rows[2 * node + 1, 6 + row])


@njit(**INNER)
def _box(element: Any, corners: Any, moving: Any, grow: Any, boxes: Any, n: Any) -> None:
    """Box n of boxes (N, 12), of an element, grown: low corner at the start and the end, then high ones."""
    last = corners.shape[1] - 1
    a, b, c = corners[element, 0], corners[element, min(1, last)], corners[element, last]
    for row in range(6):
        x, y, z = moving[a, row], moving[b, row], moving[c, row]
        boxes[n, row], boxes[n, 6 + row] = min(x, min(y, z)) - grow, max(x, max(y, z)) + grow


@njit(**INNER, forceinline=True)
def _touch(a: Any, i: Any, b: Any, j: Any) -> Any:
    """Whether boxes i of a (A, 12), grown, and j of b (B, 12) are nowhere apart on the same side both times."""
    # & where `and` would branch: a wrong guess costs more than the comparisons
    return (((a[i, 0] <= b[j, 6]) | (a[i, 3] <= b[j, 9])) & ((b[j, 0] <= a[i, 6]) | (b[j, 3] <= a[i, 9]))
            & ((a[i, 1] <= b[j, 7]) | (a[i, 4] <= b[j, 10])) & ((b[j, 1] <= a[i, 7]) | (b[j, 4] <= a[i, 10]))
            & ((a[i, 2] <= b[j, 8]) | (a[i, 5] <= b[j, 11])) & ((b[j, 2] <= a[i, 8]) | (b[j, 5] <= a[i, 11])))


@njit(**INNER, forceinline=True)
def _touching(a: Any, i: Any, v: Any, w: Any, b: Any, c: Any, n: Any) -> Any:
    """Which boxes b (C, 12, CLUSTER) of leaf n touch box i of a (A, 12), as bits; but none of those of its elements
    that have v or w among their vertices c (C, 3, CLUSTER)."""
    l0, l1, l2, m0, m1, m2 = a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5]
    h0, h1, h2, u0, u1, u2 = a[i, 6], a[i, 7], a[i, 8], a[i, 9], a[i, 10], a[i, 11]
    bits = np.int32(0)
    for k in range(b.shape[2]):                                      # as vectors, if the compiler is not told how many
        bits |= np.int32(((l0 <= b[n, 6, k]) | (m0 <= b[n, 9, k])) & ((b[n, 0, k] <= h0) | (b[n, 3, k] <= u0))
                         & ((l1 <= b[n, 7, k]) | (m1 <= b[n, 10, k])) & ((b[n, 1, k] <= h1) | (b[n, 4, k] <= u1))
                         & ((l2 <= b[n, 8, k]) | (m2 <= b[n, 11, k])) & ((b[n, 2, k] <= h2) | (b[n, 5, k] <= u2))
                         & (c[n, 0, k] != v) & (c[n, 1, k] != v) & (c[n, 2, k] != v)
                         & (c[n, 0, k] != w) & (c[n, 1, k] != w) & (c[n, 2, k] != w)) << np.int32(k)
    return bits


@njit(**INNER)
def _near(share: Any, items: Any, queries: Any, others: Any, targets: Any, same: Any, moving: Any, radius: Any,
          far: Any, rows: Any, inner: Any, corners: Any, found: Any) -> Any:
    """How many pairs a share has; the first ones go into `found`."""
    clusters, last, end, number = len(inner), queries.shape[1] - 1, targets.shape[1] - 1, 0
    edges = last == 1
    stack, met = np.empty(DEEPEST, dtype=np.int64), np.empty(clusters, dtype=np.int64)
    grown, around = np.empty((CLUSTER, 12), dtype=np.float32), np.empty((1, 12), dtype=np.float32)
    exact, mine, its = np.empty((2, 12)), np.int64(0), np.int64(1)
    for cluster in range(share * SHARE, min((share + 1) * SHARE, (len(items) + CLUSTER - 1) // CLUSTER)):
        begin, stop = cluster * CLUSTER, min((cluster + 1) * CLUSTER, len(items))
        around[0, :6], around[0, 6:] = np.inf, -np.inf
        for item in range(begin, stop):
            _box(items[item], queries, moving, ROOM * radius, grown, item - begin)
            for row in range(6):
                around[0, row] = min(around[0, row], grown[item - begin, row])
                around[0, 6 + row] = max(around[0, 6 + row], grown[item - begin, 6 + row])
        total = _reached(rows, clusters + cluster, around, same, stack, met)
        for reached in range(total):
            other = met[reached] - clusters
            for item in range(begin, stop):
                if not _touch(grown, item - begin, rows, met[reached]):
                    continue
                q = items[item]
                bits = _touching(grown, item - begin, np.int32(queries[q, 0]), np.int32(queries[q, last]), inner,
                                 corners, other)
                if same and other == cluster:
                    bits &= ~((2 << (item - begin)) - 1)             # each pair once
                while bits:
                    at = other * CLUSTER + LOWEST_BIT[bits]
                    bits &= bits - 1
                    if at >= len(others):                            # empty places touch a box without bounds
                        continue
                    t = others[at]
                    i, j, k, m = queries[q, 0], targets[t, 0], targets[t, 1], targets[t, end]
                    if edges:
                        j, k = queries[q, 1], j
                    a, b, c, e, f, g = _seen_from(moving, m, i, j, k)
                    loose, near = max(moving[k, 6], moving[m, 6]), moving[j, 6]
                    loose = max(moving[i, 6], near) + loose if edges else moving[i, 6] + max(near, loose)
                    if _clear(a, b, c, e, f, g, loose, radius, far, not edges):
                        continue
                    one, two = (t, q) if same and t < q else (q, t)
                    _box(one, queries, moving, radius, exact, mine)
                    _box(two, targets, moving, 0.0, exact, its)
                    if _touch(exact, mine, exact, its):
                        if number < len(found):
                            found[number, 0], found[number, 1] = one, two
                        number += 1
    return number


@njit(**INNER)
def _reached(rows: Any, node: Any, box: Any, same: Any, stack: Any, met: Any) -> Any:
    """How many clusters touch the box (1, 12); their nodes go into `met`.

    same: the box is that of the tree's cluster at `node`: only it and what comes after it. That is the right subtree
    next to each of its ancestors that is a left one.
    """
    total, top = 0, 0
    if same:
        met[0], total = node, 1
        while node > 1:
            if node % 2 == 0:
                stack[top] = node + 1
                top += 1
            node //= 2
    else:
        stack[0], top = 1, 1
    while top:
        top -= 1
        node = stack[top]
        if not _touch(box, np.int64(0), rows, node):
            continue
        if node >= len(rows) // 2:
            met[total] = node
            total += 1
        else:
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node
            top += 2
    return total


@njit(**INNER, forceinline=True)
def _seen_from(moving: Any, m: Any, i: Any, j: Any, k: Any) -> Any:
    """Where vertices i, j, k are from m, at the start and at the end."""
    x, y, z = moving[m, 0], moving[m, 1], moving[m, 2]
    u, v, w = moving[m, 3], moving[m, 4], moving[m, 5]
    return ((moving[i, 0] - x, moving[i, 1] - y, moving[i, 2] - z),
            (moving[j, 0] - x, moving[j, 1] - y, moving[j, 2] - z),
            (moving[k, 0] - x, moving[k, 1] - y, moving[k, 2] - z),
            (moving[i, 3] - u, moving[i, 4] - v, moving[i, 5] - w),
            (moving[j, 3] - u, moving[j, 4] - v, moving[j, 5] - w),
            (moving[k, 3] - u, moving[k, 4] - v, moving[k, 5] - w))


@njit(**INNER)
def _clear(a: Any, b: Any, c: Any, e: Any, f: Any, g: Any, loose: Any, radius: Any, far: Any,
           face: Any) -> Any:
    """Whether a pair keeps apart across a plane that is quickly found, as `reference.self_pairs` says.

    Its vertices as of `_seen_from`; `loose` is how much nearer to each other than expected it may end.
    """
    n = subtract(a, scale(1.0 / 3.0, add(b, c))) if face else scale(0.5, subtract(add(a, b), c))
    most, u = LEFT * min(np.sqrt(dot(n, n)), far), subtract(b, a)
    for across in range(1 if face else 2):
        if not face:
            along = c if across == 0 else u
            m = subtract(n, scale(divide(dot(n, along), dot(along, along)), along))
        else:
            m = n
        x, y, z = dot(m, a), dot(m, b), dot(m, c)
        start = x - max(y, max(z, 0.0)) if face else min(x, y) - max(z, 0.0)
        x, y, z = dot(m, e), dot(m, f), dot(m, g)
        end = x - max(y, max(z, 0.0)) if face else min(x, y) - max(z, 0.0)
        size = np.sqrt(dot(m, m))
        if start >= max(radius, most) * size and end > (loose + most) * size:
            return True
    return False
