# SPDX-License-Identifier: GPL-3.0-or-later
"""3-vectors as tuples of plain numbers, for compiled loops: the operations of `numpy.vectors`, in their order."""

from __future__ import annotations

from typing import Any

from numba import njit

from .options import INLINED


@njit(**INLINED)
def at(x: Any, row: Any) -> Any:
    """Row of x (N, 3)."""
    return x[row, 0], x[row, 1], x[row, 2]


@njit(**INLINED)
def add(a: Any, b: Any) -> Any:
    """a + b"""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@njit(**INLINED)
def subtract(a: Any, b: Any) -> Any:
    """a - b"""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@njit(**INLINED)
def scale(k: Any, a: Any) -> Any:
    """k a"""
    return k * a[0], k * a[1], k * a[2]


@njit(**INLINED)
def dot(a: Any, b: Any) -> Any:
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@njit(**INLINED)
def cross(a: Any, b: Any) -> Any:
    """a x b"""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(**INLINED)
def divide(numerator: Any, denominator: Any) -> Any:
    """numerator / denominator, 0 where the denominator is 0."""
    return numerator / denominator if denominator != 0.0 else 0.0
