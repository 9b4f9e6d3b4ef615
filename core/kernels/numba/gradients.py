# SPDX-License-Identifier: GPL-3.0-or-later
"""Vector operations of an iteration of conjugate gradients, each in one pass over its vectors.

In NumPy these are a dozen passes on one thread, over arrays as large as a core's cache. Sums are added in parts of a
fixed size, so that they do not depend on threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray
from .kernel_cache import njit
from .options import KERNEL, SUMMING
from .thread_pool import LEAST_SUMMANDS, LEAST_UPDATES, share

NUMBERS_PER_SUM = 4096
"""Numbers that are added in one sum [-]: a sum is never divided between threads."""


def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product of a and b (V, 3).

    BLAS is not used: its threads take longer than the sum, and their number changes the last bits.
    """
    parts = np.empty(-(-a.size // NUMBERS_PER_SUM))
    share(_dot, len(parts), LEAST_SUMMANDS // NUMBERS_PER_SUM, _flat(a), _flat(b), parts)
    return float(parts.sum())


def advance(alpha: float, c: FloatArray, q: FloatArray, x: FloatArray, r: FloatArray) -> float:
    """Add alpha c to x and subtract alpha q from r, in place; return the new r . r."""
    parts = np.empty(-(-r.size // NUMBERS_PER_SUM))
    share(_advance, len(parts), LEAST_UPDATES // NUMBERS_PER_SUM, alpha, _flat(c), _flat(q), x.reshape(-1),
          r.reshape(-1), parts)
    return float(parts.sum())


def turn(beta: float, s: FloatArray, c: FloatArray) -> None:
    """Set c to s + beta c, in place."""
    share(_turn, c.size, LEAST_UPDATES, beta, _flat(s), c.reshape(-1))


def _flat(a: FloatArray) -> FloatArray:
    """Return a contiguous array as one row of numbers, without a copy if it is contiguous already."""
    return np.ascontiguousarray(a).reshape(-1)


@njit(**SUMMING)
def _dot(begin: Any, end: Any, a: Any, b: Any, parts: Any) -> None:
    """Write the sums of a b over parts begin..end - 1, each of `NUMBERS_PER_SUM` numbers, to `parts`."""
    for part in range(begin, end):
        total = 0.0
        for i in range(np.uintp(part * NUMBERS_PER_SUM), np.uintp(min((part + 1) * NUMBERS_PER_SUM, len(a)))):
            total += a[i] * b[i]
        parts[part] = total


@njit(**SUMMING)
def _advance(begin: Any, end: Any, alpha: Any, c: Any, q: Any, x: Any, r: Any, parts: Any) -> None:
    """Advance x and r as `advance`, for parts begin..end - 1; write their sums of r r to `parts`."""
    for part in range(begin, end):
        total = 0.0
        for i in range(np.uintp(part * NUMBERS_PER_SUM), np.uintp(min((part + 1) * NUMBERS_PER_SUM, len(r)))):
            x[i] += alpha * c[i]
            left = r[i] - alpha * q[i]
            r[i] = left
            total += left * left
        parts[part] = total


@njit(**KERNEL)
def _turn(begin: Any, end: Any, beta: Any, s: Any, c: Any) -> None:
    """Set c to s + beta c for numbers begin..end - 1."""
    for i in range(np.uintp(begin), np.uintp(end)):
        c[i] = s[i] + beta * c[i]
