# SPDX-License-Identifier: GPL-3.0-or-later
"""Directions that constraints take of particles, compiled: as `numpy.constraint_directions` has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .kernel_cache import njit
from .options import KERNEL


def take(at: IntArray, vertices: IntArray, directions: FloatArray, change: FloatArray, parallel: float,
         taken: FloatArray, count: IntArray, z: FloatArray) -> None:
    """As in `reference`."""
    _take(at, vertices, np.ascontiguousarray(directions), np.ascontiguousarray(change), parallel, taken, count, z)


def free(taken: FloatArray, count: IntArray) -> FloatArray:
    """As in `reference`."""
    blocks = np.empty_like(taken)
    _free(taken, count, blocks)
    return blocks


@njit(**KERNEL)
def _take(at: Any, vertices: Any, directions: Any, change: Any, parallel: Any, taken: Any, count: Any, z: Any) -> None:
    for m in range(len(at)):
        i, v = at[m], vertices[m]
        n = count[i]
        if n == 3:
            continue
        x, y, w = directions[m, 0], directions[m, 1], directions[m, 2]
        a, b, c = x, y, w
        for k in range(n):
            along = taken[i, k, 0] * x + taken[i, k, 1] * y + taken[i, k, 2] * w
            a -= along * taken[i, k, 0]
            b -= along * taken[i, k, 1]
            c -= along * taken[i, k, 2]
        size = np.sqrt(a * a + b * b + c * c)
        if not size > parallel:
            continue
        a, b, c = a / size, b / size, c / size
        # what is asked minus what the taken directions move along this one
        more = (change[m] - (x * z[v, 0] + y * z[v, 1] + w * z[v, 2])) / size
        z[v, 0] += more * a
        z[v, 1] += more * b
        z[v, 2] += more * c
        taken[i, n, 0], taken[i, n, 1], taken[i, n, 2] = a, b, c
        count[i] = n + 1


@njit(**KERNEL)
def _free(taken: Any, count: Any, blocks: Any) -> None:
    for i in range(len(taken)):
        for a in range(3):
            for b in range(3):
                if count[i] == 3:
                    blocks[i, a, b] = 0.0
                    continue
                value = 1.0 if a == b else 0.0
                for k in range(count[i]):
                    value -= taken[i, k, a] * taken[i, k, b]
                blocks[i, a, b] = value
