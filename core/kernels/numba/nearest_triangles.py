# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles near one point, in order of distance, and which of them are minima of the distance.

See `kernels.numpy.moving_points`, which sorts the pairs of all points instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .kernel_cache import njit
from .options import INLINED, INNER, MAKING
from .vectors import cross, dot, subtract

BOUND_SLACK = 1e-9
"""Share by which a bound is enlarged to cover its rounding [-]: of distances to boxes (squared or not) and along a
direction."""
SURE, ROUNDED = 1.0 + 1e-6, 1e-20
"""The same for the squared distance from a plane: a factor [-], and a share of the squared product of lengths in the
triple product that gives the height [-]. (height + error)^2 is at most SURE height^2 + 1e6 error^2, with an error of
1e-13 of that product."""


@njit(**MAKING)
def room(size: Any) -> Any:
    """Return empty arrays for `size` triangles: leaves, triangles and features, all integers, and distances."""
    whole = np.empty((3, size), dtype=np.int64)
    return whole[0], whole[1], whole[2], np.empty(size)


@njit(**INLINED)
def away(p: Any, a: Any, b: Any, c: Any, limit: Any) -> Any:
    """Return whether the box around triangle (a, b, c) is further than `limit` [m] from the point p.

    p, a, b, c: components [m].
    """
    total = 0.0
    for k in range(3):
        low, high = min(min(a[k], b[k]), c[k]), max(max(a[k], b[k]), c[k])
        out = max(max(low - p[k], p[k] - high), 0.0)
        total += out * out
    return total > limit * limit * (1.0 + BOUND_SLACK)


@njit(**INLINED)
def above(p: Any, a: Any, b: Any, c: Any, limit: Any) -> Any:
    """Return whether the plane of triangle (a, b, c) is further than `limit` [m] from the point p, beyond rounding.

    The triangle is then further away, too. p, a, b, c: components [m].
    """
    ab, ac, ap = subtract(b, a), subtract(c, a), subtract(p, a)
    n = cross(ab, ac)
    height, bb, cc = dot(ap, n), dot(ab, ab), dot(ac, ac)
    return height * height > limit * limit * dot(n, n) * SURE + ROUNDED * bb * cc * (dot(ap, ap) + bb + cc)


@njit(**INNER)
def insert(kept: Any, t: Any, d: Any, feature: Any, near: Any, gap: Any, code: Any) -> Any:
    """Insert triangle t at distance d [m] among the first `kept` ones, in order of distance, then of number.

    near, gap, code: triangles, distances and features of the closest points, with `feature` for the new one. Return the
    new number of triangles.
    """
    k = kept
    while k and (gap[k - 1] > d or (gap[k - 1] == d and near[k - 1] > t)):
        near[k], gap[k], code[k] = near[k - 1], gap[k - 1], code[k - 1]
        k -= 1
    near[k], gap[k], code[k] = t, d, feature
    return kept + 1


@njit(**INNER)
def keep_minima(kept: Any, near: Any, code: Any, degree: Any, minima: Any) -> Any:
    """Write the triangles at which the distance has a minimum to `minima`; return their number.

    These are the nearest triangle, and of each feature whose triangles are all among the first `kept` ones, the
    nearest. near, code: triangles and features of the closest points. degree (F,): number of triangles around each
    feature.
    """
    number = 0
    for k in range(kept):
        first, around = True, 0
        for m in range(kept):
            if code[m] == code[k]:
                around += 1
                first = first and m >= k
        if k == 0 or (first and around == degree[code[k]]):
            minima[number] = near[k]
            number += 1
    return number
