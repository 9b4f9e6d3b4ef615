# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is inside of the closed parts of a surface that rests, from step to step.

Whoever was further from the surface than it has moved since is on the side on which it was. So only those near the
surface, and those that move quickly, are asked for again.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import length
from .bvh import BVH
from .containment import inside


class Sides:
    """What was known last of closed parts (T,) of triangles (T, 3) on positions (V, 3) [m]."""

    def __init__(self, positions: FloatArray, triangles: IntArray, closed: BoolArray) -> None:
        self._surface = positions, triangles, closed
        self._points: FloatArray = np.zeros((0, 3))
        self._clear: FloatArray = np.zeros(0)
        self._within: BoolArray = np.zeros(0, dtype=np.bool_)

    def within(self, points: FloatArray, clear: FloatArray, tree: BVH) -> BoolArray:
        """Which points (Q, 3) [m] are inside, a new array. The surface is at least `clear` (Q,) [m] away from them;
        `tree` is around it."""
        if len(points) == len(self._points):
            ask = ~(length(points - self._points) < self._clear)
            rows, result = np.flatnonzero(ask), self._within.copy()
        else:
            rows, result = np.arange(len(points)), np.zeros(len(points), dtype=np.bool_)
        if len(rows):
            result[rows] = inside(points[rows], *self._surface, tree)
        self._points, self._clear, self._within = points.copy(), clear.copy(), result
        return result.copy()
