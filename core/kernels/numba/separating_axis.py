# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs that keep apart across a plane which is quickly found, compiled: as `numpy.self_pairs` has it.

Pairs are written down one beside the other, `LANES` of them, and looked at all at once: a processor does eight such
sums in the time of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ..numpy.conservative_advancement import LEFT
from .options import INLINED, INNER
from .vectors import cross, divide, dot, scale, subtract

LANES = 32
"""Pairs that are looked at together."""
SLACK, RADIUS, ROWS = 18, 19, 20
"""Numbers of a pair: where three of its vertices are from the fourth, at the start and at the end, then its slack and
its radius."""


@njit(**INLINED)
def note(moving: Any, m: Any, i: Any, j: Any, k: Any, loose: Any, radius: Any, lanes: Any, n: Any) -> None:
    """Write a pair into lane n of lanes (ROWS, LANES): vertices i, j, k as seen from m, by how much nearer to each
    other than expected it may end, `loose` [m], and within which radius [m] it is near."""
    for axis in range(3):
        start, end = moving[m, axis], moving[m, 3 + axis]
        lanes[axis, n], lanes[9 + axis, n] = moving[i, axis] - start, moving[i, 3 + axis] - end
        lanes[3 + axis, n], lanes[12 + axis, n] = moving[j, axis] - start, moving[j, 3 + axis] - end
        lanes[6 + axis, n], lanes[15 + axis, n] = moving[k, axis] - start, moving[k, 3 + axis] - end
    lanes[SLACK, n], lanes[RADIUS, n] = loose, radius


@njit(**INNER)
def vertices_that_stay(lanes: Any, count: Any, far: Any) -> Any:
    """Which of the first pairs, of a vertex and a triangle, may be within their radius or meet, as bits."""
    bits = np.int64(0)
    for k in range(count):
        a, b, c = _three(lanes, 0, k)
        e, f, g = _three(lanes, 9, k)
        n = subtract(a, scale(1.0 / 3.0, (b[0] + c[0], b[1] + c[1], b[2] + c[2])))
        size = np.sqrt(dot(n, n))
        most = LEFT * min(size, far)
        start = dot(n, a) - max(dot(n, b), max(dot(n, c), 0.0))
        end = dot(n, e) - max(dot(n, f), max(dot(n, g), 0.0))
        apart = (start >= max(lanes[RADIUS, k], most) * size) & (end > (lanes[SLACK, k] + most) * size)
        bits |= np.int64(not apart) << k
    return bits


@njit(**INNER)
def edges_that_stay(lanes: Any, count: Any, far: Any) -> Any:
    """Which of the first pairs, of two edges, may be within their radius or meet, as bits."""
    bits = np.int64(0)
    for k in range(count):
        a, b, c = _three(lanes, 0, k)
        e, f, g = _three(lanes, 9, k)
        n, u = scale(0.5, subtract((a[0] + b[0], a[1] + b[1], a[2] + b[2]), c)), subtract(b, a)
        most = LEFT * min(np.sqrt(dot(n, n)), far)
        least, least_end, over = max(lanes[RADIUS, k], most), lanes[SLACK, k] + most, cross(u, c)
        over = scale(1.0 if dot(over, n) >= 0.0 else -1.0, over)
        apart = (_apart_along(over, a, b, c, e, f, g, least, least_end)
                 | _apart_along(_across(n, c), a, b, c, e, f, g, least, least_end)
                 | _apart_along(_across(n, u), a, b, c, e, f, g, least, least_end))
        bits |= np.int64(not apart) << k
    return bits


@njit(**INLINED)
def _across(n: Any, along: Any) -> Any:
    """What of n is across a direction."""
    return subtract(n, scale(divide(dot(n, along), dot(along, along)), along))


@njit(**INLINED)
def _apart_along(m: Any, a: Any, b: Any, c: Any, e: Any, f: Any, g: Any, least: Any, least_end: Any) -> Any:
    """Whether two edges are apart in direction m, at the start and at the end [m]."""
    size = np.sqrt(dot(m, m))
    start = min(dot(m, a), dot(m, b)) - max(dot(m, c), 0.0)
    end = min(dot(m, e), dot(m, f)) - max(dot(m, g), 0.0)
    return (start >= least * size) & (end > least_end * size)


@njit(**INLINED)
def _three(lanes: Any, row: Any, k: Any) -> Any:
    return ((lanes[row, k], lanes[row + 1, k], lanes[row + 2, k]),
            (lanes[row + 3, k], lanes[row + 4, k], lanes[row + 5, k]),
            (lanes[row + 6, k], lanes[row + 7, k], lanes[row + 8, k]))
