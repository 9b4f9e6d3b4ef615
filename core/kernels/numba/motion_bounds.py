# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance between reached and predicted positions, compiled: computed a dozen times in a step.

NumPy works on whole arrays instead of vertex by vertex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray
from .kernel_cache import njit
from .options import SUMMING


def away(x: FloatArray, y: FloatArray, steady: BoolArray) -> FloatArray:
    """Return the distance (V,) [m] between x and y (V, 3) [m], without a common motion.

    The common motion is the mean of x - y over the vertices that are marked in `steady` (S,). Only the first S vertices
    count; the distance of the others is 0.
    """
    distance = np.zeros(len(x))
    _away(np.ascontiguousarray(x), np.ascontiguousarray(y), steady, distance)
    return distance


@njit(**SUMMING)
def _away(x: Any, y: Any, steady: Any, distance: Any) -> None:
    """Write the distances to `distance` (V,) [m], as `away`."""
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
