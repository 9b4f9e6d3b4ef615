# SPDX-License-Identifier: GPL-3.0-or-later
"""Arithmetic of formulas: 3-vectors as tuples (x, y, z), choices and safe divisions.

Components are arrays (P,), one entry per pair, or plain numbers. `select`, `minimum`, `maximum` and `divide` are NumPy
calls here; for plain numbers in a compiled loop `numba.plain_functions` replaces them by one branch each.

NumPy is two to three times quicker with separate, contiguous components than with rows (P, 3).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray
from ...stencils.component_algebra import SMALLEST_DIVISOR, Vector, add, cross, dot, length, scale

__all__ = ["SMALLEST_DIVISOR", "Vector", "add", "clip", "cross", "divide", "dot", "length", "maximum", "minimum",
           "scale", "select", "select_vector", "subtract"]


def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def select(condition: BoolArray, a: Any, b: Any) -> Any:
    """Return a where the condition holds, else b. Both are evaluated."""
    return np.where(condition, a, b)


def minimum(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the smaller of a and b."""
    return np.minimum(a, b)


def maximum(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the larger of a and b."""
    return np.maximum(a, b)


def clip(a: FloatArray, low: float, high: float) -> FloatArray:
    """Return a, or the end of low..high that it is beyond."""
    return np.clip(a, low, high)


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Return numerator / denominator, or 0 where the denominator is 0."""
    result: FloatArray = np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator != 0.0)
    return result


def select_vector(condition: BoolArray, a: Vector, b: Vector) -> Vector:
    """Return the vector a where the condition holds, else b."""
    return select(condition, a[0], b[0]), select(condition, a[1], b[1]), select(condition, a[2], b[2])
