# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid motions of whole bodies, compiled: one pass each. Arguments and results are those of the NumPy kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .kernel_cache import njit
from .options import KERNEL
from .vectors import at, cross


def turned(axis: FloatArray, arm: FloatArray) -> FloatArray:
    """Return axis x arm (V, 3), for an axis (3,)."""
    result = np.empty_like(arm)
    _turned(axis, arm, result)
    return result


def moments(body: IntArray, d: FloatArray, arm: FloatArray, count: int) -> FloatArray:
    """Return the sums (count, 6) of d (V, 3) and of arm x d over each body (V,)."""
    result = np.zeros((count, 6))
    _moments(body, np.ascontiguousarray(d), arm, result)
    return result


def moved(w: FloatArray, shift: FloatArray, body: IntArray, arm: FloatArray) -> FloatArray:
    """Return w (V, 3), with the translation and the rotation about arms (V, 3) of each body's row of shift (B, 6)."""
    result = np.empty(w.shape)
    _moved(np.ascontiguousarray(w), shift, body, arm, result)
    return result


@njit(**KERNEL)
def _turned(axis: Any, arm: Any, result: Any) -> None:
    """Write axis x arm (V, 3) to `result`."""
    for v in range(len(arm)):
        result[v, 0], result[v, 1], result[v, 2] = cross((axis[0], axis[1], axis[2]), at(arm, v))


@njit(**KERNEL)
def _moments(body: Any, d: Any, arm: Any, result: Any) -> None:
    """Add each row of d (V, 3), and its moment, to the row of its body in `result` (B, 6)."""
    for v in range(len(d)):
        about = cross(at(arm, v), at(d, v))
        for axis in range(3):
            result[body[v], axis] += d[v, axis]
        result[body[v], 3] += about[0]
        result[body[v], 4] += about[1]
        result[body[v], 5] += about[2]


@njit(**KERNEL)
def _moved(w: Any, shift: Any, body: Any, arm: Any, result: Any) -> None:
    """Write w (V, 3), moved by the rows of shift (B, 6) of their bodies, to `result`."""
    for v in range(len(w)):
        b = body[v]
        turn = cross((shift[b, 3], shift[b, 4], shift[b, 5]), at(arm, v))
        for axis in range(3):
            result[v, axis] = w[v, axis] + shift[b, axis]
        result[v, 0], result[v, 1], result[v, 2] = (
            result[v, 0] + turn[0], result[v, 1] + turn[1], result[v, 2] + turn[2])
