# SPDX-License-Identifier: GPL-3.0-or-later
"""What an iteration of conjugate gradients does with whole vectors (V, 3), besides the product and P^-1."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray


def dot(a: FloatArray, b: FloatArray) -> float:
    """a . b without BLAS: its threads cost more than this sum, and change its last bits with their number."""
    return float(np.einsum("ij,ij->", a, b))


def advance(alpha: float, c: FloatArray, q: FloatArray, x: FloatArray, r: FloatArray) -> float:
    """x += alpha c, r -= alpha q, in place; r . r then."""
    x += alpha * c
    r -= alpha * q
    return dot(r, r)


def turn(beta: float, s: FloatArray, c: FloatArray) -> None:
    """c = s + beta c, in place."""
    c *= beta
    c += s
