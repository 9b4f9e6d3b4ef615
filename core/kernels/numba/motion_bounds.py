# SPDX-License-Identifier: GPL-3.0-or-later
"""How far ends of a step are from where they were expected, compiled: asked a dozen times in a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray
from .kernel_cache import njit
from .options import SUMMING


def away(x: FloatArray, y: FloatArray, steady: BoolArray) -> FloatArray:
    """How far x is from y (V, 3) [m] (V,), as in `reference`."""
    distance = np.zeros(len(x))
    _away(np.ascontiguousarray(x), np.ascontiguousarray(y), steady, distance)
    return distance


@njit(**SUMMING)
def _away(x: Any, y: Any, steady: Any, distance: Any) -> None:
    a = b = c = 0.0
    count = 0
    for v in range(len(steady)):
        if steady[v]:
            a, b, c = a + (x[v, 0] - y[v, 0]), b + (x[v, 1] - y[v, 1]), c + (x[v, 2] - y[v, 2])
            count += 1
    if count:
        a, b, c = a / count, b / count, c / count
    for v in range(len(steady)):
        u, w, z = x[v, 0] - y[v, 0] - a, x[v, 1] - y[v, 1] - b, x[v, 2] - y[v, 2] - c
        distance[v] = np.sqrt(u * u + w * w + z * z)
