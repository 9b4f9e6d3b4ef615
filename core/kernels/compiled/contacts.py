# SPDX-License-Identifier: GPL-3.0-or-later
"""Where moving points meet a moving triangle surface, compiled: every point by itself, from its walk of the tree on.

Triangles whose boxes are too far away are left out before anything is computed of them; the rest goes as in
`reference.contacts`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from ...arrays import BoolArray, FloatArray, IntArray
from ..reference.contacts import Entries, Places
from .distances import closest, point_triangle
from .sweep import first_entry
from .trees import DEEPEST, rows_of, walk
from .vectors import at

SHARE = 64
"""Points that a thread takes at once."""
ROOM = 1.0 + 1e-9
"""Slack for the rounding of a bound: squared distances to boxes [-]."""


def meetings(
    x_t0: FloatArray, x_t1: FloatArray, reach: FloatArray, drift: FloatArray, order: IntArray, nodes: FloatArray,
    triangles: IntArray, closed: BoolArray, features: IntArray, degree: IntArray, surface_t0: FloatArray,
    surface_t1: FloatArray
) -> tuple[Places, Entries, Places]:
    """Where points moving from x_t0 to x_t1 (V, 3) [m] meet a surface, as `reference.contacts` has it."""
    x_t0, x_t1, surface_t0, surface_t1 = (np.ascontiguousarray(x) for x in (x_t0, x_t1, surface_t0, surface_t1))
    triangles, features, degree = (np.ascontiguousarray(i, dtype=np.int64) for i in (triangles, features, degree))
    V, slots = len(x_t0), 8
    nearest, entered, count = (np.empty(V, dtype=np.int64) for _ in range(3))
    weights, side = np.empty((V, 3)), np.empty(V)
    while True:
        minima = np.empty((V, slots), dtype=np.int64)
        _meet_all(x_t0, x_t1, np.ascontiguousarray(reach), drift, order, rows_of(nodes), triangles, closed, features,
                  degree, surface_t0, surface_t1, nearest, entered, weights, side, count, minima)
        most = int(count.max(initial=0))
        if most <= slots:
            break
        slots = most
    start, enters = np.flatnonzero(nearest >= 0), np.flatnonzero(entered >= 0)
    end = np.repeat(np.arange(V), count)
    at_end = minima[np.arange(slots) < count[:, None]]
    return (_places(x_t0, start, nearest[start], triangles, surface_t0),
            (enters, entered[enters], weights[enters], side[enters]),
            _places(x_t1, end, at_end, triangles, surface_t1))


def _places(x: FloatArray, vertex: IntArray, triangle: IntArray, triangles: IntArray, surface: FloatArray) -> Places:
    corners = surface[triangles[triangle]]
    return (vertex, triangle, *point_triangle(x[vertex], corners[:, 0], corners[:, 1], corners[:, 2]))


@njit(cache=True, parallel=True, error_model="numpy")
def _meet_all(x_t0: Any, x_t1: Any, reach: Any, drift: Any, order: Any, rows: Any, triangles: Any, closed: Any,
              features: Any, degree: Any, surface_t0: Any, surface_t1: Any, nearest: Any, entered: Any, weights: Any,
              side: Any, count: Any, minima: Any) -> None:
    shares = (len(x_t0) + SHARE - 1) // SHARE
    for share in prange(shares):
        _meet(share * SHARE, min((share + 1) * SHARE, len(x_t0)), x_t0, x_t1, reach, drift, order, rows, triangles,
              closed, features, degree, surface_t0, surface_t1, nearest, entered, weights, side, count, minima)


@njit(cache=True, error_model="numpy")
def _meet(first: Any, last: Any, x_t0: Any, x_t1: Any, reach: Any, drift: Any, order: Any, rows: Any, triangles: Any,
          closed: Any, features: Any, degree: Any, surface_t0: Any, surface_t1: Any, nearest: Any, entered: Any,
          weights: Any, side: Any, count: Any, minima: Any) -> None:
    """Points first..last - 1. Beyond the slots of `minima` (V, slots) they are counted, but not kept."""
    stack, low, high = np.empty(DEEPEST, dtype=np.int64), np.empty(3), np.empty(3)
    size = 64
    leaf, near, code, gap = room(size)
    for v in range(first, last):
        nearest[v], entered[v], count[v] = -1, -1, 0
        for axis in range(3):
            moved = x_t0[v, axis] + drift[axis]
            low[axis] = min(moved, x_t1[v, axis]) - reach[v]
            high[axis] = max(moved, x_t1[v, axis]) + reach[v]
        total = walk(rows, low, high, stack, leaf)
        if total == 0:
            continue
        if total > size:
            size = 2 * total
            leaf, near, code, gap = room(size)
            walk(rows, low, high, stack, leaf)
        p, q = at(x_t0, v), at(x_t1, v)
        least, entry, kept = reach[v], np.inf, 0
        for k in range(total):
            t = order[leaf[k]]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            a0, b0, c0 = at(surface_t0, a), at(surface_t0, b), at(surface_t0, c)
            if not away(p, a0, b0, c0, least):
                d = closest(p, a0, b0, c0)[2]
                if d < least or (d == least and (nearest[v] < 0 or t < nearest[v])):
                    least, nearest[v] = d, t
            a1, b1, c1 = at(surface_t1, a), at(surface_t1, b), at(surface_t1, c)
            time, front, w = first_entry(p, q, a0, b0, c0, a1, b1, c1, closed[t])
            if time < entry or (time == entry and time < np.inf and t < entered[v]):
                entry, entered[v], side[v] = time, t, front
                weights[v, 0], weights[v, 1], weights[v, 2] = w
            if not away(q, a1, b1, c1, reach[v]):
                _, _, d, feature = closest(q, a1, b1, c1)
                if d <= reach[v]:
                    kept = insert(kept, t, d, features[t, feature], near, gap, code)
        count[v] = keep_minima(kept, near, code, degree, minima[v])


@njit(error_model="numpy")
def room(size: Any) -> Any:
    """For so many triangles."""
    whole = np.empty((3, size), dtype=np.int64)
    return whole[0], whole[1], whole[2], np.empty(size)


@njit(error_model="numpy", forceinline=True)
def away(p: Any, a: Any, b: Any, c: Any, limit: Any) -> Any:
    """Whether the box around triangle (a, b, c) is further from p than the limit."""
    total = 0.0
    for k in range(3):
        low, high = min(min(a[k], b[k]), c[k]), max(max(a[k], b[k]), c[k])
        out = max(max(low - p[k], p[k] - high), 0.0)
        total += out * out
    return total > limit * limit * ROOM


@njit(cache=True, error_model="numpy")
def insert(kept: Any, t: Any, d: Any, feature: Any, near: Any, gap: Any, code: Any) -> Any:
    """Insert a triangle among the `kept` ones, in order of distance and number."""
    k = kept
    while k and (gap[k - 1] > d or (gap[k - 1] == d and near[k - 1] > t)):
        near[k], gap[k], code[k] = near[k - 1], gap[k - 1], code[k - 1]
        k -= 1
    near[k], gap[k], code[k] = t, d, feature
    return kept + 1


@njit(cache=True, error_model="numpy")
def keep_minima(kept: Any, near: Any, code: Any, degree: Any, minima: Any) -> Any:
    """How many of the `kept` triangles are minima: the nearest, and what all around a feature agree on."""
    number = 0
    for k in range(kept):
        first, around = True, 0
        for m in range(kept):
            if code[m] == code[k]:
                around += 1
                first = first and m >= k
        if k == 0 or (first and around == degree[code[k]]):
            if number < len(minima):
                minima[number] = near[k]
            number += 1
    return number
