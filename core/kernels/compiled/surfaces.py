# SPDX-License-Identifier: GPL-3.0-or-later
"""Two triangle surfaces, or one and itself, compiled: where edges may pierce triangles, and how close they come.

One search finds both. Leaves that lie side by side in the tree of one surface, `CLUSTER` triangles, walk the other
tree together; of one surface and itself, only what comes after them: the right subtree next to each of their ancestors
that is a left one. What its share of the work has found already is the radius of the search from there on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from ...arrays import IntArray
from ..reference.surfaces import CORNER_TWICE, Surface
from ..reference.trees import sorted_pairs
from .stars import look_around
from .trees import DEEPEST, rows_of
from .triangle_pairs import CLOSE, ROOM, common_corners, look, parted

CLUSTER = 4
"""Triangles that walk a tree together."""
SHARE = 32
"""Clusters that a thread takes at once."""
STARS = 128
"""Vertices with the triangles around them that a thread takes at once."""


def meet(a: Surface, b: Surface, same: bool, radius: float) -> tuple[IntArray, IntArray, float]:
    """What pierces and how close two surfaces come, as `reference.surfaces` has it."""
    x, _, edges, vertices, order_a, nodes_a, _, (corners_a, sides_a, owned_a, first, star, begin) = a
    y, _, _, _, order_b, nodes_b, _, (corners_b, sides_b, owned_b, _, _, _) = b
    x, y, rows_a, rows_b = np.ascontiguousarray(x), np.ascontiguousarray(y), rows_of(nodes_a), rows_of(nodes_b)
    shares = (len(corners_a) + SHARE * CLUSTER - 1) // (SHARE * CLUSTER) if len(corners_b) else 0
    stars = (len(vertices) + STARS - 1) // STARS if same else 0
    slots = 16
    while True:
        least, count = np.full(shares + stars, radius), np.zeros(shares + stars, dtype=np.int64)
        found = np.empty((shares + stars, slots, 3), dtype=np.int64)
        _meet_all(x, corners_a, owned_a, sides_a, order_a, rows_a, y, corners_b, owned_b, sides_b, order_b, rows_b,
                  shares, same, edges, first, vertices, star, begin, least, found, count)
        if count.max(initial=0) <= slots:
            break
        slots = int(count.max())
    kept = found[np.arange(slots) < count[:, None]]
    return (sorted_pairs([kept[kept[:, 0] == 0, 1:]]), sorted_pairs([kept[kept[:, 0] == 1, 1:]]),
            float(least.min(initial=radius)))


@njit(cache=True, parallel=True, error_model="numpy")
def _meet_all(x: Any, a: Any, a_owned: Any, a_sides: Any, a_order: Any, a_rows: Any, y: Any, b: Any, b_owned: Any,
              b_sides: Any, b_order: Any, b_rows: Any, shares: Any, same: Any, edges: Any, first: Any, vertices: Any,
              star: Any, begin: Any, least: Any, found: Any, count: Any) -> None:
    half = (len(least) + 1) // 2
    for number in prange(len(least)):
        # neighbours go to different threads: where there is much to do lies together
        share = 2 * number if number < half else 2 * (number - half) + 1
        if share < shares:
            _meet(share, x, a, a_owned, a_sides, a_order, a_rows, y, b, b_owned, b_sides, b_order, b_rows, same, edges,
                  first, least, found, count)
        else:
            begins = (share - shares) * STARS
            least[share] = look_around(begins, min(begins + STARS, len(vertices)), vertices, star, begin, x, a, a_owned,
                                       a_sides, a_order, edges, first, least[share], share, found, count)


@njit(cache=True, error_model="numpy")
def _meet(share: Any, x: Any, a: Any, a_owned: Any, a_sides: Any, a_order: Any, a_rows: Any, y: Any, b: Any,
          b_owned: Any, b_sides: Any, b_order: Any, b_rows: Any, same: Any, edges: Any, first: Any, least: Any,
          found: Any, count: Any) -> None:
    """The clusters of one share against all."""
    a_leaves, b_leaves = len(a_order), len(b_order)
    a_size, b_size = min(CLUSTER, a_leaves), min(CLUSTER, b_leaves)
    a_clusters, b_clusters = a_leaves // a_size, b_leaves // b_size
    stack, met = np.empty(DEEPEST, dtype=np.int64), np.empty(b_clusters, dtype=np.int64)
    low, high = np.empty(3), np.empty(3)
    best = least[share]
    for cluster in range(share * SHARE, min((share + 1) * SHARE, (len(a) + a_size - 1) // a_size)):
        node = a_clusters + cluster
        for axis in range(3):
            low[axis], high[axis] = a_rows[node, axis] - best, a_rows[node, 3 + axis] + best
        total = 0
        if same:
            met[0], total = node, 1
            while node > 1:
                if node % 2 == 0:
                    total = _reached(b_rows, b_clusters, node + 1, low, high, stack, met, total)
                node //= 2
        else:
            total = _reached(b_rows, b_clusters, 1, low, high, stack, met, 0)
        for m in range(total):
            other = met[m] - b_clusters
            tiny = 0.0
            for axis in range(3):
                tiny += max(high[axis], b_rows[met[m], 3 + axis]) - min(low[axis], b_rows[met[m], axis])
            tiny *= CLOSE
            for i in range(cluster * a_size, min((cluster + 1) * a_size, len(a))):
                if not _near(a_rows, a_leaves + i, b_rows, met[m], best):
                    continue
                start = i + 1 if same and other == cluster else other * b_size
                for j in range(start, min((other + 1) * b_size, len(b))):
                    if not _near(a_rows, a_leaves + i, b_rows, b_leaves + j, best):
                        continue
                    # what has a common corner is looked at from there
                    if same and common_corners(a, i, b, j) > 0 and (a_owned[i] | b_owned[j]) & CORNER_TWICE == 0:
                        continue
                    apart = parted(a, i, x, b, j, y, best * ROOM + tiny, tiny)
                    if apart < 2:
                        best = look(a, i, a_owned[i], a_sides[i], a_order[i], x, b, j, b_owned[j], b_sides[j],
                                    b_order[j], y, same, apart == 0, best, edges, first, share, found, count)
    least[share] = best


@njit(error_model="numpy", forceinline=True)
def _near(a_rows: Any, m: Any, b_rows: Any, n: Any, radius: Any) -> Any:
    """Whether the boxes of two nodes touch, one of them grown."""
    # & where `and` would branch: the outcome is as good as random, and a wrong guess costs more than six comparisons
    return ((a_rows[m, 0] - radius <= b_rows[n, 3]) & (b_rows[n, 0] <= a_rows[m, 3] + radius)
            & (a_rows[m, 1] - radius <= b_rows[n, 4]) & (b_rows[n, 1] <= a_rows[m, 4] + radius)
            & (a_rows[m, 2] - radius <= b_rows[n, 5]) & (b_rows[n, 2] <= a_rows[m, 5] + radius))


@njit(cache=True, error_model="numpy")
def _reached(rows: Any, clusters: Any, start: Any, low: Any, high: Any, stack: Any, met: Any, total: Any) -> Any:
    """Add to `met` the nodes of clusters below `start` that touch the box low, high (3,); how many there are then."""
    stack[0], top = start, 1
    while top:
        top -= 1
        node = stack[top]
        if not ((low[0] <= rows[node, 3]) & (rows[node, 0] <= high[0])
                & (low[1] <= rows[node, 4]) & (rows[node, 1] <= high[1])
                & (low[2] <= rows[node, 5]) & (rows[node, 2] <= high[2])):
            continue
        if node >= clusters:
            met[total] = node
            total += 1
        else:
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node
            top += 2
    return total
