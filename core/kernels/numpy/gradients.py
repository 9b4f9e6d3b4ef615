# SPDX-License-Identifier: GPL-3.0-or-later
"""Vector operations of an iteration of conjugate gradients, besides the products with A and P^-1.

The compiled kernels take one pass over the vectors instead of one for each operation.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray


def dot(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product of a and b (V, 3).

    BLAS is not used: its threads take longer than the sum, and their number changes the last bits.
    """
    return float(np.einsum("ij,ij->", a, b))


def advance(alpha: float, c: FloatArray, q: FloatArray, x: FloatArray, r: FloatArray) -> float:
    """Add alpha c to x and subtract alpha q from r, in place; return the new r . r."""
    x += alpha * c
    r -= alpha * q
    return dot(r, r)


def turn(beta: float, s: FloatArray, c: FloatArray) -> None:
    """Set c to s + beta c, in place."""
    c *= beta
    c += s


def add_scaled(factor: float, a: FloatArray, total: FloatArray) -> None:
    """Add `factor` a to total, in place."""
    total += factor * a
