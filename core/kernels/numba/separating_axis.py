# SPDX-License-Identifier: GPL-3.0-or-later
"""Test pairs of primitives for a separating plane, at the start and at the end of a step, many pairs at a time.

`kernels.numpy.self_pairs` has the rule. `BATCH_PAIRS` pairs are stored side by side, so that the compiler vectorises
the loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formulas.conservative_advancement import LEFT
from .kernel_cache import njit
from .options import INLINED, INNER
from .vectors import cross, divide, dot, scale, subtract

BATCH_PAIRS = 32
"""Pairs that are tested together [-]."""
SLACK_ROW, RADIUS_ROW = 18, 19
"""Rows of a batch with the slack and the radius of each pair. The rows before have the positions of three vertices
relative to the fourth, at the start and at the end."""


@njit(**INLINED)
def store_pair(moving: Any, m: Any, i: Any, j: Any, k: Any, loose: Any, radius: Any, batch: Any, n: Any) -> None:
    """Write a pair of primitives into column n of a batch (RADIUS_ROW + 1, BATCH_PAIRS).

    moving (V, 8): positions as of `swept_boxes.packed`. m, i, j, k: the four vertices; positions are relative to m.
    loose: slack of the pair at the end [m]. radius: distance below which it counts as near [m].
    """
    for axis in range(3):
        start, end = moving[m, axis], moving[m, 3 + axis]
        batch[axis, n], batch[9 + axis, n] = moving[i, axis] - start, moving[i, 3 + axis] - end
        batch[3 + axis, n], batch[12 + axis, n] = moving[j, axis] - start, moving[j, 3 + axis] - end
        batch[6 + axis, n], batch[15 + axis, n] = moving[k, axis] - start, moving[k, 3 + axis] - end
    batch[SLACK_ROW, n], batch[RADIUS_ROW, n] = loose, radius


@njit(**INNER)
def vertices_that_stay(batch: Any, count: Any, far: Any) -> Any:
    """Return as bits which of the first `count` vertex-triangle pairs of a batch have no separating plane.

    These may come within their radius or meet. far: largest distance that any pair has to keep [m].
    """
    bits = np.int64(0)
    for k in range(count):
        a, b, c = _three(batch, 0, k)
        e, f, g = _three(batch, 9, k)
        n = subtract(a, scale(1.0 / 3.0, (b[0] + c[0], b[1] + c[1], b[2] + c[2])))
        size = np.sqrt(dot(n, n))
        most = LEFT * min(size, far)
        start = dot(n, a) - max(dot(n, b), max(dot(n, c), 0.0))
        end = dot(n, e) - max(dot(n, f), max(dot(n, g), 0.0))
        apart = (start >= max(batch[RADIUS_ROW, k], most) * size) & (end > (batch[SLACK_ROW, k] + most) * size)
        bits |= np.int64(not apart) << k
    return bits


@njit(**INNER)
def edges_that_stay(batch: Any, count: Any, far: Any) -> Any:
    """Return as bits which of the first `count` edge-edge pairs of a batch have no separating plane.

    These may come within their radius or meet. far: largest distance that any pair has to keep [m].
    """
    bits = np.int64(0)
    for k in range(count):
        a, b, c = _three(batch, 0, k)
        e, f, g = _three(batch, 9, k)
        n, u = scale(0.5, subtract((a[0] + b[0], a[1] + b[1], a[2] + b[2]), c)), subtract(b, a)
        most = LEFT * min(np.sqrt(dot(n, n)), far)
        least, least_end, over = max(batch[RADIUS_ROW, k], most), batch[SLACK_ROW, k] + most, cross(u, c)
        over = scale(1.0 if dot(over, n) >= 0.0 else -1.0, over)
        apart = (_apart_along(over, a, b, c, e, f, g, least, least_end)
                 | _apart_along(_across(n, c), a, b, c, e, f, g, least, least_end)
                 | _apart_along(_across(n, u), a, b, c, e, f, g, least, least_end))
        bits |= np.int64(not apart) << k
    return bits


@njit(**INLINED)
def _across(n: Any, along: Any) -> Any:
    """Return the component of the vector n that is orthogonal to the vector `along`."""
    return subtract(n, scale(divide(dot(n, along), dot(along, along)), along))


@njit(**INLINED)
def _apart_along(m: Any, a: Any, b: Any, c: Any, e: Any, f: Any, g: Any, least: Any, least_end: Any) -> Any:
    """Return whether planes across m separate two edges: by `least` [m] at the start, by `least_end` [m] at the end.

    Edges (a, b) and (c, 0) at the start, (e, f) and (g, 0) at the end, as components [m]. m: any length.
    """
    size = np.sqrt(dot(m, m))
    start = min(dot(m, a), dot(m, b)) - max(dot(m, c), 0.0)
    end = min(dot(m, e), dot(m, f)) - max(dot(m, g), 0.0)
    return (start >= least * size) & (end > least_end * size)


@njit(**INLINED)
def _three(batch: Any, row: Any, k: Any) -> Any:
    """Return three vectors: rows row..row + 8 of column k of a batch."""
    return ((batch[row, k], batch[row + 1, k], batch[row + 2, k]),
            (batch[row + 3, k], batch[row + 4, k], batch[row + 5, k]),
            (batch[row + 6, k], batch[row + 7, k], batch[row + 8, k]))
