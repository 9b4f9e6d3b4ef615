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
from ...stencils.component_algebra import SMALLEST_DIVISOR, Block, Vector, add, cross, dot, length, scale

__all__ = ["COORDINATE_ROUNDING", "SMALLEST_DIVISOR", "Block", "Vector", "add", "clip", "cross", "divide", "dot",
           "identity", "is_nonzero", "length", "maximum", "minimum", "outer_square", "power", "scale", "select",
           "select_vector", "subtract", "subtract_outer", "unit", "weighted_sum", "whole"]

COORDINATE_ROUNDING = 1e-14
"""Largest rounding error of a distance along a direction, over the size of the coordinates [-]."""


def subtract(a: Vector, b: Vector) -> Vector:
    """Return a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def select(condition: BoolArray, a: Any, b: Any) -> Any:
    """Return a where the condition is true, else b; both are evaluated."""
    return np.where(condition, a, b)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of a and b."""
    return np.minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of a and b."""
    return np.maximum(a, b)


def clip(a: FloatArray, low: float, high: float) -> FloatArray:
    """Return a, limited to low..high."""
    return np.clip(a, low, high)


def divide(numerator: FloatArray | float, denominator: FloatArray) -> FloatArray:
    """Return numerator / denominator, or 0 where the denominator is 0."""
    result: FloatArray = np.divide(numerator, denominator, out=np.zeros_like(denominator), where=denominator != 0.0)
    return result


def power(base: Any, exponent: float) -> Any:
    """Return base to the exponent; base > 0. Whole exponents that fields often have need no logarithm."""
    if exponent == 0.0:
        return 0.0 * base + 1.0
    if exponent == -1.0:
        return 1.0 / base
    if exponent == -2.0:
        return 1.0 / (base * base)
    return base ** exponent


def whole(a: FloatArray) -> Any:
    """Return the largest whole number up to a, as an integer."""
    return np.floor(a).astype(np.int64)


def select_vector(condition: BoolArray, a: Any, b: Any) -> Vector:
    """Return the vector a where the condition is true, else b."""
    return select(condition, a[0], b[0]), select(condition, a[1], b[1]), select(condition, a[2], b[2])


def is_nonzero(a: Vector) -> BoolArray:
    """Return whether any component of a is not 0."""
    return (a[0] != 0.0) | (a[1] != 0.0) | (a[2] != 0.0)


def unit(a: Vector) -> Vector:
    """Return a / |a|, or 0 where a is 0.

    The largest component becomes 1 first, so that no square over- or underflows.
    """
    largest = maximum(maximum(np.abs(a[0]), np.abs(a[1])), np.abs(a[2]))
    a = scale(divide(1.0, largest), a)
    return scale(divide(1.0, length(a)), a)


def weighted_sum(start: Any, weights: Any, vectors: Any) -> Vector:
    """Return start + sum_k weights[k] vectors[k], for the four vertices of a pair."""
    total: Vector = start
    for k in range(4):
        total = add(total, scale(weights[k], vectors[k]))
    return total


def identity() -> Any:
    """Return the identity I as rows of numbers."""
    return (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def outer_square(n: Vector) -> Block:
    """Return n n^T."""
    return scale(n[0], n), scale(n[1], n), scale(n[2], n)


def subtract_outer(a: Block, n: Vector) -> Block:
    """Return a - n n^T."""
    b = outer_square(n)
    return subtract(a[0], b[0]), subtract(a[1], b[1]), subtract(a[2], b[2])
