# SPDX-License-Identifier: GPL-3.0-or-later
"""Two triangle surfaces, or one and itself, compiled: where edges may pierce triangles, and how close they come.

One search finds both: clusters of triangles of one surface walk the tree of the other (see `clusters`). What its
share of the work has found already is the radius of the search from there on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray, IntArray
from ..numpy.surface_pairs import Boxes, Leaves, Neighbours, Surface
from ..numpy.trees import sorted_pairs
from ..numpy.triangle_pairs import CORNER_TWICE
from .one_ring import look_around
from .options import KERNEL, MAKING
from .simd_boxes import CLUSTER, lowest_bit, others_than, touching_now
from .thread_pool import share
from .trees import DEEPEST
from .triangle_pairs import CLOSE, ROOM, look, parted
from .vectors import at, subtract
from .wide_bvh import fit, grow, reached

SHARE = 16
"""Clusters that are one share of the work."""
STARS = 128
"""Vertices with the triangles around them that are one."""
SLOTS = 2048
"""Pairs that a share has room for at first: only what is used of it becomes memory, and in a tangle of which that is
not enough all is searched again."""


def neighbours(leaves: Leaves, edges: IntArray) -> Neighbours:
    """Nothing: who belongs together is looked up on the way."""
    return ()


def boxes(x: FloatArray, order: IntArray, leaves: Leaves, neighbours: Neighbours) -> Boxes:
    """The boxes at positions x (V, 3) [m], as `clusters` says."""
    count = max(1, len(order) // CLUSTER)
    rows, inner = np.empty((2 * count, 6), dtype=np.float32), np.empty((count, 6, CLUSTER), dtype=np.float32)
    beside, twice = np.zeros((count, 3, CLUSTER), dtype=np.int32), np.zeros(count, dtype=np.int32)
    fit(np.ascontiguousarray(x), leaves[0], leaves[2], rows, inner, beside, twice)
    return rows, inner, beside, twice


def meet(a: Surface, b: Surface, same: bool, radius: float, joins: tuple[IntArray, IntArray] | None = None
         ) -> tuple[IntArray, IntArray, float]:
    """What pierces and how close two surfaces come, as `numpy.surface_pairs` has it."""
    x, edges, vertices, order_a, (corners_a, sides_a, owned_a, first, star, begin), _, (rows_a, *_) = a
    y, _, _, order_b, (corners_b, sides_b, owned_b, _, _, _), _, (rows_b, *inside_b) = b
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    edges, first = (edges, first) if joins is None else joins
    shares = (len(corners_a) + SHARE * CLUSTER - 1) // (SHARE * CLUSTER) if len(corners_b) else 0
    stars = (len(vertices) + STARS - 1) // STARS if same else 0
    slots = SLOTS
    while True:
        least, count = np.full(shares + stars, radius), np.zeros(shares + stars, dtype=np.int64)
        found = np.empty((shares + stars, slots, 3), dtype=np.int64)
        share(_meet_all, len(least), 1, x, corners_a, owned_a, sides_a, order_a, rows_a, y, corners_b, owned_b, sides_b,
              order_b, rows_b, tuple(inside_b), shares, same, edges, first, vertices, star, begin, least, found, count)
        if count.max(initial=0) <= slots:
            break
        slots = int(count.max())
    kept = np.concatenate([found[:0, 0], *(found[share, :count[share]] for share in np.flatnonzero(count))])
    return (sorted_pairs([kept[kept[:, 0] == 0, 1:]]), sorted_pairs([kept[kept[:, 0] == 1, 1:]]),
            float(least.min(initial=radius)))


@njit(**KERNEL)
def _meet_all(start: Any, end: Any, x: Any, a: Any, a_owned: Any, a_sides: Any, a_order: Any, a_rows: Any, y: Any,
              b: Any, b_owned: Any, b_sides: Any, b_order: Any, b_rows: Any, b_leaves: Any, shares: Any, same: Any,
              edges: Any, first: Any, vertices: Any, star: Any, begin: Any, least: Any, found: Any, count: Any) -> None:
    half = (len(least) + 1) // 2
    for number in range(start, end):
        # neighbours go to different threads: where there is much to do lies together
        share = 2 * number if number < half else 2 * (number - half) + 1
        if share < shares:
            _meet(share, x, a, a_owned, a_sides, a_order, a_rows, y, b, b_owned, b_sides, b_order, b_rows, b_leaves,
                  same, edges, first, least, found, count)
        else:
            begins = (share - shares) * STARS
            least[share] = look_around(begins, min(begins + STARS, len(vertices)), vertices, star, begin, x, a, a_owned,
                                       a_sides, a_order, edges, first, least[share], share, found, count)


@njit(**MAKING)
def _meet(share: Any, x: Any, a: Any, a_owned: Any, a_sides: Any, a_order: Any, a_rows: Any, y: Any, b: Any,
          b_owned: Any, b_sides: Any, b_order: Any, b_rows: Any, b_leaves: Any, same: Any, edges: Any, first: Any,
          least: Any, found: Any, count: Any) -> None:
    """The clusters of one share against all."""
    stack, met = np.empty(DEEPEST, dtype=np.int64), np.empty(len(b_rows) // 2, dtype=np.int64)
    grown, around = np.empty((CLUSTER, 6), dtype=np.float32), np.empty(6, dtype=np.float32)
    lanes, best = np.empty((1, 6, CLUSTER), dtype=np.float32), least[share]
    b_inner, beside, twice = b_leaves
    for cluster in range(share * SHARE, min((share + 1) * SHARE, (len(a) + CLUSTER - 1) // CLUSTER)):
        start, end = cluster * CLUSTER, min((cluster + 1) * CLUSTER, len(a))
        grow(a, start, end, x, best, grown, lanes, around)
        total = reached(b_rows, len(a_rows) // 2 + cluster, around, same, stack, met)
        for m in range(total):
            other, tiny = met[m] - len(b_rows) // 2, 0.0
            for axis in range(3):
                tiny += CLOSE * (max(around[3 + axis], b_rows[met[m], 3 + axis])
                                 - min(around[axis], b_rows[met[m], axis]))
            there = touching_now(b_rows, met[m], lanes, np.int64(0)) & ((2 << (end - 1 - start)) - 1)
            while there:
                i = start + lowest_bit(there)
                there &= there - 1
                bits = touching_now(grown, i - start, b_inner, other)
                if bits == 0:
                    continue
                i0, i1, i2 = a[i, 0], a[i, 1], a[i, 2]
                if same and a_owned[i] & CORNER_TWICE == 0:          # what has a common corner is looked at from there
                    bits &= (others_than(np.int32(i0), np.int32(i1), beside, other)
                             & others_than(np.int32(i2), np.int32(i2), beside, other)) | twice[other]
                if same and other == cluster:
                    bits &= ~((2 << (i - start)) - 1)                # each pair once
                if len(b) - CLUSTER * other < CLUSTER:               # empty places touch a box without bounds
                    bits &= (1 << max(0, len(b) - CLUSTER * other)) - 1
                o = at(x, i0)
                u, v = subtract(at(x, i1), o), subtract(at(x, i2), o)
                while bits:
                    j = other * CLUSTER + lowest_bit(bits)
                    bits &= bits - 1
                    apart = parted(o, u, v, b, j, y, best * ROOM + tiny, tiny)
                    if apart < 2:
                        best = look(a, i, a_owned[i], a_sides[i], a_order[i], x, b, j, b_owned[j], b_sides[j],
                                    b_order[j], y, same, apart == 0, best, edges, first, share, found, count)
    least[share] = best
