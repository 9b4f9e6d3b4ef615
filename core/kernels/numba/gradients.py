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
    share(dot_in_parts, len(parts), LEAST_SUMMANDS // NUMBERS_PER_SUM, _flat(a), _flat(b), parts)
    return float(summed(parts))


def advance(alpha: float, c: FloatArray, q: FloatArray, x: FloatArray, r: FloatArray) -> float:
    """Add alpha c to x and subtract alpha q from r, in place; return the new r . r."""
    parts = np.empty(-(-r.size // NUMBERS_PER_SUM))
    share(advance_in_parts, len(parts), LEAST_UPDATES // NUMBERS_PER_SUM, alpha, _flat(c), _flat(q), x.reshape(-1),
          r.reshape(-1), parts)
    return float(summed(parts))


def turn(beta: float, s: FloatArray, c: FloatArray) -> None:
    """Set c to s + beta c, in place."""
    share(turn_numbers, c.size, LEAST_UPDATES, beta, _flat(s), c.reshape(-1))


def add_scaled(factor: float, a: FloatArray, total: FloatArray) -> None:
    """Add `factor` a to total, in place."""
    share(_add_scaled, total.size, LEAST_UPDATES, factor, _flat(a), total.reshape(-1))


def _flat(a: FloatArray) -> FloatArray:
    """Return a contiguous array as one row of numbers, without a copy if it is contiguous already."""
    return np.ascontiguousarray(a).reshape(-1)


@njit(**SUMMING)
def dot_in_parts(begin: Any, end: Any, a: Any, b: Any, parts: Any) -> None:
    """Write the sums of a b over parts begin..end - 1, each of `NUMBERS_PER_SUM` numbers, to `parts`."""
    for part in range(begin, end):
        total = 0.0
        for i in range(np.uintp(part * NUMBERS_PER_SUM), np.uintp(min((part + 1) * NUMBERS_PER_SUM, len(a)))):
            total += a[i] * b[i]
        parts[part] = total


@njit(**SUMMING)
def advance_in_parts(begin: Any, end: Any, alpha: Any, c: Any, q: Any, x: Any, r: Any, parts: Any) -> None:
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
def turn_numbers(begin: Any, end: Any, beta: Any, s: Any, c: Any) -> None:
    """Set c to s + beta c for numbers begin..end - 1."""
    for i in range(np.uintp(begin), np.uintp(end)):
        c[i] = s[i] + beta * c[i]


@njit(**KERNEL)
def summed(parts: Any) -> Any:
    """Return the sum of the numbers (n,), in the order in which NumPy adds up to 128 of them: eight running sums."""
    total, count = 0.0, len(parts)
    whole = count // 8 * 8
    if whole:
        a, b, c, d = parts[0], parts[1], parts[2], parts[3]
        e, f, g, h = parts[4], parts[5], parts[6], parts[7]
        for k in range(8, whole, 8):
            a, b, c, d = a + parts[k], b + parts[k + 1], c + parts[k + 2], d + parts[k + 3]
            e, f, g, h = e + parts[k + 4], f + parts[k + 5], g + parts[k + 6], h + parts[k + 7]
        total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for k in range(whole, count):
        total += parts[k]
    return total


@njit(**KERNEL)
def _add_scaled(begin: Any, end: Any, factor: Any, a: Any, total: Any) -> None:
    """Add `factor` a to total for numbers begin..end - 1."""
    for i in range(np.uintp(begin), np.uintp(end)):
        total[i] += factor * a[i]
