# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles near one point, in order of distance, and which of them are minima of it (see `numpy.moving_points`)."""

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
    """For so many triangles."""
    whole = np.empty((3, size), dtype=np.int64)
    return whole[0], whole[1], whole[2], np.empty(size)


@njit(**INLINED)
def away(p: Any, a: Any, b: Any, c: Any, limit: Any) -> Any:
    """Whether the box around triangle (a, b, c) is further from p than the limit."""
    total = 0.0
    for k in range(3):
        low, high = min(min(a[k], b[k]), c[k]), max(max(a[k], b[k]), c[k])
        out = max(max(low - p[k], p[k] - high), 0.0)
        total += out * out
    return total > limit * limit * (1.0 + BOUND_SLACK)


@njit(**INLINED)
def above(p: Any, a: Any, b: Any, c: Any, limit: Any) -> Any:
    """Whether p is surely further than the limit from the plane of triangle (a, b, c), and so from the triangle."""
    ab, ac, ap = subtract(b, a), subtract(c, a), subtract(p, a)
    n = cross(ab, ac)
    height, bb, cc = dot(ap, n), dot(ab, ab), dot(ac, ac)
    return height * height > limit * limit * dot(n, n) * SURE + ROUNDED * bb * cc * (dot(ap, ap) + bb + cc)


@njit(**INNER)
def insert(kept: Any, t: Any, d: Any, feature: Any, near: Any, gap: Any, code: Any) -> Any:
    """Insert a triangle among the `kept` ones, in order of distance and number."""
    k = kept
    while k and (gap[k - 1] > d or (gap[k - 1] == d and near[k - 1] > t)):
        near[k], gap[k], code[k] = near[k - 1], gap[k - 1], code[k - 1]
        k -= 1
    near[k], gap[k], code[k] = t, d, feature
    return kept + 1


@njit(**INNER)
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
            minima[number] = near[k]
            number += 1
    return number
