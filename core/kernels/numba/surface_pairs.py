# SPDX-License-Identifier: GPL-3.0-or-later
"""Find where edges of two triangle surfaces, or of one with itself, may pierce triangles, and their smallest distance.

One search finds both: clusters of triangles of one surface traverse the tree of the other (see `wide_bvh`). The
smallest distance that a task has found so far is its search radius. NumPy searches level by level with one radius.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas.vectors import COORDINATE_ROUNDING
from ..numpy.surface_pairs import Boxes, Leaves, Neighbours, Surface
from ..numpy.trees import sorted_pairs
from ..numpy.triangle_pairs import CORNER_TWICE
from ..numpy.wide_bvh import CLUSTER
from .kernel_cache import njit
from .nearest_triangles import BOUND_SLACK
from .one_ring import look_around
from .options import KERNEL, MAKING
from .simd_boxes import CLUSTERS_PER_TASK, lowest_bit, others_than, touching_now
from .thread_pool import share
from .trees import STACK_SIZE
from .triangle_pairs import look, parted
from .vectors import at, subtract
from .wide_bvh import fit, grow, reached

RINGS_PER_TASK = 128
"""Number of vertices whose surrounding triangles are searched in one task [-]."""
PAIRS_PER_TASK = 2048
"""Pairs for which a task has memory at first [-]: unused pages take no memory, and if there are more pairs, the whole
search is done again."""


def neighbours(leaves: Leaves, edges: IntArray) -> Neighbours:
    """Return nothing: adjacent triangles are looked up during the search."""
    return ()


def boxes(x: FloatArray, order: IntArray, leaves: Leaves, neighbours: Neighbours) -> Boxes:
    """Return the boxes at positions x (V, 3) [m] in the layout of `wide_bvh`."""
    count = max(1, len(order) // CLUSTER)
    rows, inner = np.empty((2 * count, 6), dtype=np.float32), np.empty((count, 6, CLUSTER), dtype=np.float32)
    beside, twice = np.zeros((count, 3, CLUSTER), dtype=np.int32), np.zeros(count, dtype=np.int32)
    fit(np.ascontiguousarray(x), leaves[0], leaves[2], rows, inner, beside, twice)
    return rows, inner, beside, twice


def meet(a: Surface, b: Surface, same: bool, radius: float, joins: tuple[IntArray, IntArray] | None = None
         ) -> tuple[IntArray, IntArray, float]:
    """Return where two surfaces may pierce each other, and their smallest distance.

    Arguments are described in `kernels.numpy.surface_pairs`.
    """
    x, edges, vertices, order_a, (corners_a, sides_a, owned_a, first, star, begin), _, (rows_a, inner_a, *_) = a
    y, _, _, order_b, (corners_b, sides_b, owned_b, _, _, _), _, (rows_b, *inside_b) = b
    x, y = np.ascontiguousarray(x), np.ascontiguousarray(y)
    edges, first = (edges, first) if joins is None else joins
    per_task = CLUSTERS_PER_TASK * CLUSTER
    tasks = (len(corners_a) + per_task - 1) // per_task if len(corners_b) else 0
    rings = (len(vertices) + RINGS_PER_TASK - 1) // RINGS_PER_TASK if same else 0
    slots = PAIRS_PER_TASK
    while True:
        least, count = np.full(tasks + rings, radius), np.zeros(tasks + rings, dtype=np.int64)
        found = np.empty((tasks + rings, slots, 3), dtype=np.int64)
        share(_meet_all, len(least), 1, x, corners_a, owned_a, sides_a, order_a, inner_a, y, corners_b, owned_b,
              sides_b, order_b, rows_b, tuple(inside_b), tasks, same, edges, first, vertices, star, begin, least, found,
              count)
        if count.max(initial=0) <= slots:
            break
        slots = int(count.max())
    kept = np.concatenate([found[:0, 0], *(found[task, :count[task]] for task in np.flatnonzero(count))])
    return (sorted_pairs([kept[kept[:, 0] == 0, 1:]]), sorted_pairs([kept[kept[:, 0] == 1, 1:]]),
            float(least.min(initial=radius)))


@njit(**KERNEL)
def _meet_all(start: Any, end: Any, x: Any, a: Any, a_owned: Any, a_sides: Any, a_order: Any, a_inner: Any, y: Any,
              b: Any, b_owned: Any, b_sides: Any, b_order: Any, b_rows: Any, b_leaves: Any, tasks: Any, same: Any,
              edges: Any, first: Any, vertices: Any, star: Any, begin: Any, least: Any, found: Any, count: Any) -> None:
    """Do tasks start..end - 1: `tasks` searches of clusters of surface a in the tree of b, then one-rings of vertices.

    Args:
        x, a, a_owned, a_sides, a_order, a_inner: positions (V, 3) [m] of surface a; corners, owned primitives as bits,
            edges and numbers of its triangles in the order of leaves; their boxes. y, b, ..: the same of surface b.
        b_rows, b_leaves: nodes of its tree, and `inner`, `beside` and `twice` of its tree (see `wide_bvh.fit`).
        same: both are one surface.
        edges, first, vertices, star, begin: as of `one_ring.look_around`.
        least: (tasks,), smallest distance of each task [m]; it begins with the radius of the search.
        found, count: as of `triangle_pairs.keep`.
    """
    half, best = (len(least) + 1) // 2, np.inf
    for number in range(start, end):
        # neighbouring tasks go to different threads: they have about the same amount of work
        task = 2 * number if number < half else 2 * (number - half) + 1
        least[task] = min(least[task], best)                         # what is further away changes no result
        if task < tasks:
            _meet(task, x, a, a_owned, a_sides, a_order, a_inner, y, b, b_owned, b_sides, b_order, b_rows, b_leaves,
                  same, edges, first, least, found, count)
        else:
            begins = (task - tasks) * RINGS_PER_TASK
            least[task] = look_around(begins, min(begins + RINGS_PER_TASK, len(vertices)), vertices, star, begin, x, a,
                                      a_owned, a_sides, a_order, edges, first, least[task], task, found, count)
        best = least[task]


@njit(**MAKING)
def _meet(task: Any, x: Any, a: Any, a_owned: Any, a_sides: Any, a_order: Any, a_inner: Any, y: Any, b: Any,
          b_owned: Any, b_sides: Any, b_order: Any, b_rows: Any, b_leaves: Any, same: Any, edges: Any, first: Any,
          least: Any, found: Any, count: Any) -> None:
    """Search the clusters of one task of surface a in the tree of surface b; arguments are those of `_meet_all`."""
    stack, met = np.empty(STACK_SIZE, dtype=np.int64), np.empty(len(b_rows) // 2, dtype=np.int64)
    grown, around = np.empty((CLUSTER, 6), dtype=np.float32), np.empty(6, dtype=np.float32)
    lanes, best = np.empty((1, 6, CLUSTER), dtype=np.float32), least[task]
    b_inner, beside, twice = b_leaves
    clusters = (len(a) + CLUSTER - 1) // CLUSTER
    for cluster in range(task * CLUSTERS_PER_TASK, min((task + 1) * CLUSTERS_PER_TASK, clusters)):
        start, end = cluster * CLUSTER, min((cluster + 1) * CLUSTER, len(a))
        grow(a_inner, cluster, end - start, best, grown, lanes, around)
        total = reached(b_rows, len(a_inner) + cluster, around, same, stack, met)
        for m in range(total):
            other, tiny = met[m] - len(b_rows) // 2, 0.0
            for axis in range(3):
                tiny += COORDINATE_ROUNDING * (max(around[3 + axis], b_rows[met[m], 3 + axis])
                                 - min(around[axis], b_rows[met[m], axis]))
            there = touching_now(b_rows, met[m], lanes, np.int64(0)) & ((2 << (end - 1 - start)) - 1)
            while there:
                i = start + lowest_bit(there)
                there &= there - 1
                bits = touching_now(grown, i - start, b_inner, other)
                if bits == 0:
                    continue
                i0, i1, i2 = a[i, 0], a[i, 1], a[i, 2]
                if same and a_owned[i] & CORNER_TWICE == 0:          # triangles with a common corner: see `one_ring`
                    bits &= (others_than(np.int32(i0), np.int32(i1), beside, other)
                             & others_than(np.int32(i2), np.int32(i2), beside, other)) | twice[other]
                if same and other == cluster:
                    bits &= ~((2 << (i - start)) - 1)                # each pair once
                if len(b) - CLUSTER * other < CLUSTER:               # empty places would touch an unbounded box
                    bits &= (1 << max(0, len(b) - CLUSTER * other)) - 1
                o = at(x, i0)
                u, v = subtract(at(x, i1), o), subtract(at(x, i2), o)
                while bits:
                    j = other * CLUSTER + lowest_bit(bits)
                    bits &= bits - 1
                    apart = parted(o, u, v, b, j, y, best * (1.0 + BOUND_SLACK) + tiny, tiny)
                    if apart < 2:
                        best = look(a, i, a_owned[i], a_sides[i], a_order[i], x, b, j, b_owned[j], b_sides[j],
                                    b_order[j], y, same, apart == 0, best, edges, first, task, found, count)
    least[task] = best
