# SPDX-License-Identifier: GPL-3.0-or-later
"""Find pairs of primitives that may be near or meet in a step.

`CLUSTER` vertices or edges that are stored side by side traverse a tree together whose leaves are as many triangles or
edges (`swept_boxes`). Pairs whose boxes touch are tested for a separating plane, many at a time (`separating_axis`),
and the remaining ones once more in double precision. Only pairs that remain are stored, each task's in its own memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..numpy.self_pairs import GROWTH_OF_REACH
from ..numpy.wide_bvh import CLUSTER
from .kernel_cache import njit
from .options import INNER, KERNEL, MAKING
from .separating_axis import BATCH_PAIRS, RADIUS_ROW, edges_that_stay, store_pair, vertices_that_stay
from .simd_boxes import CLUSTER_BITS, CLUSTERS_PER_TASK, WHOLE_CLUSTER, lowest_bit, others_than, touching_both
from .swept_boxes import Boxes, around_all, box_of, fit, fitted, packed, reached, touch
from .thread_pool import LEAST_VERTICES, share
from .trees import STACK_SIZE

PAIRS_PER_ITEM = 16
"""Pairs for which a task has memory at first, over its vertices or edges [-]; a task with more pairs is done again."""
INDEX_BITS = 32
"""Number of bits of an index in a pair that is stored as one integer, the first index in the upper bits [-]."""
FIRST_BITS = 0x0101010101010101
"""First bit of each row of CLUSTER bits. The pairs of two clusters are the bits of one integer: a row for each element
of the first cluster, with a bit for each element of the second. A row times this number is repeated in all rows."""
LATER_BITS = int.from_bytes(bytes(WHOLE_CLUSTER & ~((2 << k) - 1) for k in range(CLUSTER)), "little", signed=True)
"""In row k the bits of elements after k: each pair once if both clusters are the same."""
NO_FLAGS = np.zeros(0, dtype=np.uint8)
"""As `flags` where all items search."""


class _Known(NamedTuple):
    """Data of a search that later ones use again: its items and leaves, arrays as of `swept_boxes.packed`, and the tree
    of all targets."""

    items: IntArray
    others: IntArray
    moving: FloatArray
    reach: FloatArray
    boxes: Boxes


def pairs(items: IntArray, queries: IntArray, order: IntArray, targets: IntArray, same: bool, x_t0: FloatArray,
          x_t1: FloatArray, slack: FloatArray, radius: FloatArray, far: float = np.inf, some: BoolArray | None = None,
          kept: dict[str, Any] | None = None) -> IntArray:
    """Return sorted pairs (P, 2) of a row of queries (Q, a) and a row of targets (N, b): primitives by their vertices.

    Arguments are described in `kernels.numpy.self_pairs`.
    """
    step, known = [np.ascontiguousarray(a) for a in (x_t0, x_t1, slack, radius)], {} if kept is None else kept
    if some is None or "search" not in known:
        items, others = _used(items), _used(order)
        moving, reach = np.empty((len(x_t0), 8)), np.empty(len(x_t0))
        share(packed, len(x_t0), LEAST_VERTICES, *step, np.zeros(0, dtype=np.bool_), moving, reach)
        search = _Known(items, others, moving, reach, fitted(others, targets, moving, reach))
        known["search"] = search
    else:
        search = known["search"]
    if some is None:
        keys = _searched(search, search.items, search.items[:0], NO_FLAGS, queries, targets, same, far)
    else:
        keys = _of_some(search, np.ascontiguousarray(some), step, queries, targets, same, far)
    keys.sort()
    result = np.empty((len(keys), 2), dtype=np.int64)
    _divide(keys, result)
    return result


def _of_some(search: _Known, some: BoolArray, step: Sequence[FloatArray], queries: IntArray, targets: IntArray,
             same: bool, far: float) -> IntArray:
    """Return the keys of pairs of `some` vertices (V,) after they have moved; step: positions, slack and radius, as of
    `packed`."""
    items, others, moving, reach, boxes = search
    mine, its = np.zeros(len(items), dtype=np.bool_), np.zeros(len(others), dtype=np.bool_)
    share(_move, len(some) + len(items) + len(others), LEAST_VERTICES, *step, some, moving, reach, items, queries, mine,
          others, targets, its)
    flags = np.packbits(its, bitorder="little")
    if flags.any():
        fit(boxes, flags, others, targets, moving, reach)
    if same:
        return _searched(search, items[mine], np.flatnonzero(mine), flags, queries, targets, same, far)
    found = [_searched(search, items[mine], items[:0], NO_FLAGS, queries, targets, same, far)]
    if flags.any():                                                  # other items, and targets with some of them
        few = others[its]
        less = search._replace(others=few, boxes=fitted(few, targets, moving, reach))
        found.append(_searched(less, items[~mine], items[:0], NO_FLAGS, queries, targets, same, far))
    return np.concatenate(found)


def _searched(search: _Known, items: IntArray, place: IntArray, flags: Any, queries: IntArray, targets: IntArray,
              same: bool, far: float) -> IntArray:
    """Return the keys (P,) of the pairs of rows `items` (n,) of queries and all targets of a search, not sorted.

    Other arguments are those of `_search`.
    """
    per_task = CLUSTERS_PER_TASK * CLUSTER
    tasks = np.arange((len(items) + per_task - 1) // per_task if len(search.others) else 0)
    places, parts = PAIRS_PER_ITEM * per_task, [np.zeros(0, dtype=np.int64)]
    while len(tasks):
        found, count = np.empty((len(tasks), places), dtype=np.int64), np.zeros(len(tasks), dtype=np.int64)
        share(_search, len(tasks), 1, tasks, items, place, flags, queries, search.others, targets, same, search.moving,
              search.reach, far, search.boxes, found, count)
        parts.append(_gathered(found, count))
        tasks = tasks[count > places]
        places = int(count.max())
    return np.concatenate(parts)


@njit(**KERNEL)
def _move(begin: Any, end: Any, x_t0: Any, x_t1: Any, slack: Any, radius: Any, some: Any, moving: Any, reach: Any,
          items: Any, queries: Any, mine: Any, others: Any, targets: Any, its: Any) -> None:
    """Write what has changed of `some` vertices (V,) into moving and reach, and which rows `items` of queries and
    `others` of targets have one of them to `mine` and `its`: entries begin..end - 1 of all three in this order."""
    V, both = len(some), len(some) + len(items)
    packed(min(begin, V), min(end, V), x_t0, x_t1, slack, radius, some, moving, reach)
    _mark(min(max(begin - V, 0), both - V), min(max(end - V, 0), both - V), items, queries, some, mine)
    _mark(max(begin - both, 0), max(end - both, 0), others, targets, some, its)


@njit(**INNER)
def _mark(begin: Any, end: Any, rows: Any, elements: Any, some: Any, result: Any) -> None:
    """Write which of rows begin..end - 1 of elements (N, a) have one of `some` vertices (V,) to `result` (n,)."""
    for n in range(begin, end):
        for corner in range(elements.shape[1]):
            result[n] |= some[elements[rows[n], corner]]


@njit(**KERNEL)
def _used(numbers: Any) -> Any:
    """Return the numbers (N,) that are not negative."""
    result = np.empty(len(numbers), dtype=np.int64)
    count = 0
    for number in numbers:
        result[count] = number
        count += number >= 0
    return result[:count]


@njit(**KERNEL)
def _gathered(found: Any, count: Any) -> Any:
    """Return the first count[n] keys of each row of found (tasks, places), of those rows that have a place for all."""
    total, places = 0, found.shape[1]
    for n in range(len(count)):
        total += count[n] if count[n] <= places else 0
    result = np.empty(total, dtype=np.int64)
    total = 0
    for n in range(len(count)):
        for k in range(count[n] if count[n] <= places else 0):
            result[total + k] = found[n, k]
        total += count[n] if count[n] <= places else 0
    return result


@njit(**KERNEL)
def _divide(keys: Any, result: Any) -> None:
    """Write the two indices of each key to result (P, 2)."""
    for n in range(len(keys)):
        result[n, 0], result[n, 1] = keys[n] >> INDEX_BITS, keys[n] & ((1 << INDEX_BITS) - 1)


@njit(**KERNEL)
def _search(begin: Any, end: Any, tasks: Any, items: Any, place: Any, flags: Any, queries: Any, others: Any,
            targets: Any, same: Any, moving: Any, reach: Any, far: Any, boxes: Any, found: Any, count: Any) -> None:
    """Search the pairs of tasks begin..end - 1; write their keys to found (tasks, places), their number to count.

    items, queries, targets, same, far: as of `pairs`. others (L,): rows of targets in the order of the leaves. place:
    (n,) of the items among `others`, where queries are targets and some of them search among all; else empty. flags:
    (C,) which of each leaf's elements these are, as bits. moving, reach: as of `swept_boxes.packed`. boxes: tree as of
    `swept_boxes.fitted`.
    """
    half = (len(count) + 1) // 2
    for number in range(begin, end):
        # neighbouring tasks go to different threads: they have about the same number of pairs
        at = 2 * number if number < half else 2 * (number - half) + 1
        count[at] = _near(tasks[at], items, place, flags, queries, others, targets, same, moving, reach, far, boxes,
                          found[at])


@njit(**MAKING)
def _near(task: Any, items: Any, place: Any, flags: Any, queries: Any, others: Any, targets: Any, same: Any,
          moving: Any, reach: Any, far: Any, boxes: Any, found: Any) -> Any:
    """Return the number of pairs of one task, and write the first of them to `found` (places,), as keys.

    Other arguments are those of `_search`. Where all search among themselves, each pair is found by its earlier one.
    """
    inner, corners, its_reach, rows, nodes, first = boxes
    alone = same and len(place) == 0
    last, number, stored = queries.shape[1] - 1, 0, 0
    not_empty = np.int64(WHOLE_CLUSTER >> (CLUSTER * len(inner) - len(others))) * FIRST_BITS
    edges = last == 1
    stack, levels = np.empty(STACK_SIZE, dtype=np.int64), np.empty(STACK_SIZE, dtype=np.int64)
    met = np.empty(len(inner), dtype=np.int64)
    box, grown, own_reach = np.empty((1, 12)), np.empty((CLUSTER, 12), dtype=np.float32), np.empty(CLUSTER)
    ends = np.empty((CLUSTER, 2), dtype=np.int32)
    beside, around = np.empty((1, 12, CLUSTER), dtype=np.float32), np.empty((1, 12), dtype=np.float32)
    batch, who = np.empty((RADIUS_ROW + 1, BATCH_PAIRS)), np.empty((2, BATCH_PAIRS), dtype=np.int64)
    exact = np.empty((2, 12))
    for cluster in range(task * CLUSTERS_PER_TASK,
                         min((task + 1) * CLUSTERS_PER_TASK, (len(items) + CLUSTER - 1) // CLUSTER)):
        begin, stop = cluster * CLUSTER, min((cluster + 1) * CLUSTER, len(items))
        around_all(items[begin:stop], queries, moving, reach, around)
        total = reached(nodes, first, around, cluster if alone else np.int64(0), stack, levels, met)
        if total == 0:
            continue
        for k in range(stop - begin):
            ends[k, 0], ends[k, 1] = queries[items[begin + k], 0], queries[items[begin + k], last]
            own_reach[k] = max(reach[queries[items[begin + k], 0]], reach[queries[items[begin + k], last]])
            box_of(items[begin + k], queries, moving, GROWTH_OF_REACH * own_reach[k], box, np.int64(0))
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
                if len(place):                                       # one of them before it has found it
                    bits &= ~(np.int32(flags[other]) & _up_to(place[begin + k] - CLUSTER * other))
                both |= np.int64(bits) << (CLUSTER * k)
            if alone and other == cluster:
                both &= LATER_BITS                                   # each pair once
            if other == len(inner) - 1:
                both &= not_empty                                    # empty places would touch an unbounded box
            while both:
                bit = lowest_bit(both)
                both &= both - 1
                k, at = bit >> CLUSTER_BITS, bit & (CLUSTER - 1)
                i, also = np.int64(ends[k, 0]), np.int64(ends[k, 1])
                j, v = np.int64(corners[other, 0, at]), np.int64(corners[other, 1, at])
                m = np.int64(corners[other, 2, at])
                if edges:
                    j, v = also, j
                who[0, stored], who[1, stored] = items[begin + k], CLUSTER * other + at
                if len(place) and who[1, stored] < place[begin + k]:     # the earlier one first, as among all
                    i, j, v, m = v, m, i, j
                    who[0, stored], who[1, stored] = others[who[1, stored]], place[begin + k]
                loose, near = max(moving[v, 6], moving[m, 6]), moving[j, 6]
                loose = max(moving[i, 6], near) + loose if edges else moving[i, 6] + max(near, loose)
                store_pair(moving, m, i, j, v, loose, own_reach[k] + its_reach[other, at], batch, stored)
                stored += 1
                if stored == BATCH_PAIRS:
                    number = _keep(batch, who, stored, queries, others, targets, same, moving, far, exact, found,
                                   number)
                    stored = 0
    return _keep(batch, who, stored, queries, others, targets, same, moving, far, exact, found, number)


@njit(**INNER)
def _up_to(last: Any) -> Any:
    """Return a cluster's bits 0..last; none if `last` is negative, all if it is beyond the cluster."""
    return WHOLE_CLUSTER & ((2 << min(last, CLUSTER - 1)) - 1) if last >= 0 else 0


@njit(**INNER)
def _keep(batch: Any, who: Any, stored: Any, queries: Any, others: Any, targets: Any, same: Any, moving: Any, far: Any,
          exact: Any, found: Any, number: Any) -> Any:
    """Append the pairs of a batch that are not separated to the first `number` ones in `found`; return the new number.

    batch, stored: as of `separating_axis`, and its number of pairs. who (2, BATCH_PAIRS): row of queries, and leaf, of
    each pair. exact (2, 12): workspace for boxes in double precision. Other arguments are those of `_search`.
    """
    bits = edges_that_stay(batch, stored, far) if queries.shape[1] == 2 else vertices_that_stay(batch, stored, far)
    for n in range(stored):
        if bits >> n & 1 == 0:
            continue
        one, two = who[0, n], others[who[1, n]]
        if same and two < one:
            one, two = two, one
        box_of(one, queries, moving, batch[RADIUS_ROW, n], exact, np.int64(0))
        box_of(two, targets, moving, 0.0, exact, np.int64(1))
        if touch(exact, np.int64(0), exact, np.int64(1)):
            if number < len(found):
                found[number] = (one << INDEX_BITS) | two
            number += 1
    return number
