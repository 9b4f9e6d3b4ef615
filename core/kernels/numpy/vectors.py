# SPDX-License-Identifier: GPL-3.0-or-later
"""3-vectors of many pairs at once as component tuples: between rows (N, 3) and what formulas take."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas.vectors import Vector, add, cross, divide, dot, scale, select_vector, subtract

__all__ = ["Vector", "add", "cross", "divide", "dot", "join", "scale", "select_vector", "split", "subtract", "take",
           "unit"]


def take(x: FloatArray, rows: IntArray) -> Vector:
    """Return rows of x (N, 3) as components."""
    return x[rows, 0], x[rows, 1], x[rows, 2]


def split(x: FloatArray) -> Vector:
    """Return x (P, 3) as contiguous components."""
    return np.ascontiguousarray(x[:, 0]), np.ascontiguousarray(x[:, 1]), np.ascontiguousarray(x[:, 2])


def join(a: Vector) -> FloatArray:
    """Return components as rows (P, 3)."""
    return np.stack(a, axis=1)


def unit(a: Vector) -> Vector:
    """a / |a|, 0 where a is 0. Divided by its largest component first: no square over- or underflows."""
    largest = np.maximum(np.maximum(np.abs(a[0]), np.abs(a[1])), np.abs(a[2]))
    safe = np.where(largest > 0.0, largest, 1.0)
    a = a[0] / safe, a[1] / safe, a[2] / safe
    size = np.sqrt(dot(a, a))
    return divide(a[0], size), divide(a[1], size), divide(a[2], size)
