# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of primitives that may be near or meet in a step, compiled.

`CLUSTER` vertices or edges that lie side by side walk a tree together whose leaves are as many triangles or edges
(`swept_boxes`). What touches is looked at more closely many at a time (`parting`), and what stays once more in double
precision. Only pairs that stay are written down, by each share of the work in a place of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import BoolArray, FloatArray, IntArray
from .options import INNER, KERNEL, MAKING
from .separating_axis import LANES, RADIUS, ROWS, edges_that_stay, note, vertices_that_stay
from .simd_boxes import CLUSTER, lowest_bit, others_than, touching_both
from .swept_boxes import ALL, BITS, DEEPEST, ROOM, around_all, box_of, fitted, packed, reached, touch
from .thread_pool import share

SHARE = 32
"""Clusters that are one share of the work."""
PLACES = 16
"""Places for pairs, over the vertices or edges of a share; where they are too few, that share is done again."""
HALF = 32
LOWER = (1 << HALF) - 1
"""A pair as one number: its first element in the upper half of the bits, the other in the lower."""
FIRSTS = 0x0101010101010101
"""Which of CLUSTER elements meet which of CLUSTER others, as bits of one number, a row of bits for each of the first:
the first bit of every row, so that times the bits of a row it is that row for all."""
LATER = int.from_bytes(bytes(ALL & ~((2 << k) - 1) for k in range(CLUSTER)), "little", signed=True)
"""In each row the bits of those that come later."""


def pairs(items: IntArray, queries: IntArray, order: IntArray, targets: IntArray, same: bool, x_t0: FloatArray,
          x_t1: FloatArray, slack: FloatArray, radius: FloatArray, far: float = np.inf, some: BoolArray | None = None
          ) -> IntArray:
    """Pairs (P, 2) of `items`, rows of queries (Q, a), with rows of targets (N, b), as in `reference`."""
    moving, marks = np.empty((len(x_t0), 8)), np.zeros(0, dtype=np.bool_) if some is None else some
    packed(*(np.ascontiguousarray(a) for a in (x_t0, x_t1, slack, marks)), moving)
    items, others, reach = items[items >= 0], order[order >= 0], 0.5 * radius
    boxes = fitted(others, targets, moving, reach)
    shares = np.arange((len(items) + SHARE * CLUSTER - 1) // (SHARE * CLUSTER))
    places, parts = PLACES * SHARE * CLUSTER, []
    while len(shares):
        found, count = np.empty((len(shares), places), dtype=np.int64), np.zeros(len(shares), dtype=np.int64)
        share(_search, len(shares), 1, shares, items, queries, others, targets, same, some is not None, moving, reach,
              far, boxes, found, count)
        parts += [row[:n] for row, n in zip(found, count, strict=True) if n <= places]
        shares = shares[count > places]
        places = int(count.max())
    keys = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
    keys.sort()
    return np.column_stack([keys >> HALF, keys & LOWER])


@njit(**KERNEL)
def _search(begin: Any, end: Any, shares: Any, items: Any, queries: Any, others: Any, targets: Any, same: Any,
            marked: Any, moving: Any, reach: Any, far: Any, boxes: Any, found: Any, count: Any) -> None:
    """The pairs of each share, and their number."""
    half = (len(count) + 1) // 2
    for number in range(begin, end):
        # neighbours go to different threads: where there is much to do lies together
        place = 2 * number if number < half else 2 * (number - half) + 1
        count[place] = _near(shares[place], items, queries, others, targets, same, marked, moving, reach, far, boxes,
                             found[place])


@njit(**MAKING)
def _near(share: Any, items: Any, queries: Any, others: Any, targets: Any, same: Any, marked: Any, moving: Any,
          reach: Any, far: Any, boxes: Any, found: Any) -> Any:
    """How many pairs a share has; the first ones go into `found`."""
    inner, corners, its_reach, rows, flags, nodes, marks, first = boxes
    last, number, noted = queries.shape[1] - 1, 0, 0
    there_are = np.int64(ALL >> (CLUSTER * len(inner) - len(others))) * FIRSTS
    edges = last == 1
    stack, levels = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST, dtype=np.int64)
    met = np.empty(len(inner), dtype=np.int64)
    box, grown, own_reach = np.empty((1, 12)), np.empty((CLUSTER, 12), dtype=np.float32), np.empty(CLUSTER)
    ends = np.empty((CLUSTER, 2), dtype=np.int32)
    beside, around = np.empty((1, 12, CLUSTER), dtype=np.float32), np.empty((1, 12), dtype=np.float32)
    lanes, who, exact = np.empty((ROWS, LANES)), np.empty((2, LANES), dtype=np.int64), np.empty((2, 12))
    for cluster in range(share * SHARE, min((share + 1) * SHARE, (len(items) + CLUSTER - 1) // CLUSTER)):
        begin, stop = cluster * CLUSTER, min((cluster + 1) * CLUSTER, len(items))
        chosen = around_all(items[begin:stop], queries, moving, reach, around)
        total = reached(nodes, marks, first, around, cluster if same else np.int64(0), chosen == 0, stack, levels, met)
        if total == 0:
            continue
        for k in range(stop - begin):
            ends[k, 0], ends[k, 1] = queries[items[begin + k], 0], queries[items[begin + k], last]
            own_reach[k] = max(reach[queries[items[begin + k], 0]], reach[queries[items[begin + k], last]])
            box_of(items[begin + k], queries, moving, ROOM * own_reach[k], box, np.int64(0))
            for row in range(12):
                grown[k, row] = beside[0, row, k] = box[0, row]
        for n in range(total):
            other = met[n]
            there = touching_both(rows, other, beside, np.int64(0)) & ((2 << (stop - 1 - begin)) - 1)
            both = np.int64(0)
            while there:
                k = lowest_bit(there)
                there &= there - 1
                bits = touching_both(grown, k, inner, other) & others_than(ends[k, 0], ends[k, 1], corners, other)
                both |= np.int64(bits) << (CLUSTER * k)
            if chosen != ALL:
                both &= _rows_of(chosen) | FIRSTS * np.int64(flags[other])
            if same and other == cluster:
                both &= LATER                                        # each pair once
            if other == len(inner) - 1:
                both &= there_are                                    # empty places touch a box without bounds
            while both:
                bit = lowest_bit(both)
                both &= both - 1
                k, at = bit >> BITS, bit & (CLUSTER - 1)
                i, also = np.int64(ends[k, 0]), np.int64(ends[k, 1])
                j, v = np.int64(corners[other, 0, at]), np.int64(corners[other, 1, at])
                m = np.int64(corners[other, 2, at])
                if edges:
                    j, v = also, j
                loose, near = max(moving[v, 6], moving[m, 6]), moving[j, 6]
                loose = max(moving[i, 6], near) + loose if edges else moving[i, 6] + max(near, loose)
                note(moving, m, i, j, v, loose, own_reach[k] + its_reach[other, at], lanes, noted)
                who[0, noted], who[1, noted] = items[begin + k], CLUSTER * other + at
                noted += 1
                if noted == LANES:
                    number = _keep(lanes, who, noted, queries, others, targets, same, moving, far, exact, found, number)
                    noted = 0
    return _keep(lanes, who, noted, queries, others, targets, same, moving, far, exact, found, number)


@njit(**INNER)
def _rows_of(chosen: Any) -> Any:
    """All bits of the rows that are chosen."""
    result = np.int64(0)
    for k in range(CLUSTER):
        if chosen >> k & 1:
            result |= np.int64(ALL) << (CLUSTER * k)
    return result


@njit(**INNER)
def _keep(lanes: Any, who: Any, noted: Any, queries: Any, others: Any, targets: Any, same: Any, moving: Any, far: Any,
          exact: Any, found: Any, number: Any) -> Any:
    """Write down those of the noted pairs that stay, after `number` others; how many there are then."""
    bits = edges_that_stay(lanes, noted, far) if queries.shape[1] == 2 else vertices_that_stay(lanes, noted, far)
    for n in range(noted):
        if bits >> n & 1 == 0:
            continue
        one, two = who[0, n], others[who[1, n]]
        if same and two < one:
            one, two = two, one
        box_of(one, queries, moving, lanes[RADIUS, n], exact, np.int64(0))
        box_of(two, targets, moving, 0.0, exact, np.int64(1))
        if touch(exact, np.int64(0), exact, np.int64(1)):
            if number < len(found):
                found[number] = (one << HALF) | two
            number += 1
    return number
