# SPDX-License-Identifier: GPL-3.0-or-later
"""What an iteration of conjugate gradients does with whole vectors, in one pass over them each.

In NumPy's words these are a dozen passes over arrays of which each is as large as a core's cache, on one thread: a
third of an iteration with multigrid on 40,000 vertices. Sums are of parts of one size, whichever thread adds them up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray
from .options import KERNEL, SUMMING
from .thread_pool import share

PART = 4096
"""Numbers that are one sum."""
LEAST_SUMS, LEAST = 24, 6
"""Parts worth another thread, where two arrays are read, and where more are or are written."""


def dot(a: FloatArray, b: FloatArray) -> float:
    """As in `reference`."""
    parts = np.empty(-(-a.size // PART))
    share(_dot, len(parts), LEAST_SUMS, _flat(a), _flat(b), parts)
    return float(parts.sum())


def advance(alpha: float, c: FloatArray, q: FloatArray, x: FloatArray, r: FloatArray) -> float:
    """As in `reference`."""
    parts = np.empty(-(-r.size // PART))
    share(_advance, len(parts), LEAST, alpha, _flat(c), _flat(q), x.reshape(-1), r.reshape(-1), parts)
    return float(parts.sum())


def turn(beta: float, s: FloatArray, c: FloatArray) -> None:
    """As in `reference`."""
    share(_turn, c.size, LEAST * PART, beta, _flat(s), c.reshape(-1))


def _flat(a: FloatArray) -> FloatArray:
    return np.ascontiguousarray(a).reshape(-1)


@njit(**SUMMING)
def _dot(begin: Any, end: Any, a: Any, b: Any, parts: Any) -> None:
    for part in range(begin, end):
        total = 0.0
        for i in range(np.uintp(part * PART), np.uintp(min((part + 1) * PART, len(a)))):
            total += a[i] * b[i]
        parts[part] = total


@njit(**SUMMING)
def _advance(begin: Any, end: Any, alpha: Any, c: Any, q: Any, x: Any, r: Any, parts: Any) -> None:
    for part in range(begin, end):
        total = 0.0
        for i in range(np.uintp(part * PART), np.uintp(min((part + 1) * PART, len(r)))):
            x[i] += alpha * c[i]
            left = r[i] - alpha * q[i]
            r[i] = left
            total += left * left
        parts[part] = total


@njit(**KERNEL)
def _turn(begin: Any, end: Any, beta: Any, s: Any, c: Any) -> None:
    for i in range(np.uintp(begin), np.uintp(end)):
        c[i] = s[i] + beta * c[i]
