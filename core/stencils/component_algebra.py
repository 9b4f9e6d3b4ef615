# SPDX-License-Identifier: GPL-3.0-or-later
"""Algebra on 3-vectors and 3x3 blocks stored as tuples of components.

A vector is (x, y, z) and a block is its three rows. The components may be arrays (E,), one entry per element, or
numbers. The functions work on both, so laws written with them run in NumPy and in a compiled loop.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray

Vector = tuple[FloatArray, FloatArray, FloatArray]
"""A 3-vector per element as its components, each (E,)."""
Columns = tuple[Vector, ...]
"""C vectors per element."""
Block = tuple[Vector, Vector, Vector]
"""A 3x3 matrix per element as its rows."""

SMALLEST_DIVISOR = 1e-300
"""Smallest divisor: it turns 0/0 into 0. It is far below any squared length in SI units, so it is not a tolerance."""


def dot(a: Vector, b: Vector) -> FloatArray:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def length(a: Vector) -> FloatArray:
    """Return |a|."""
    return np.sqrt(dot(a, a))


def direction(a: Vector) -> Vector:
    """Return a / |a|, or zero where a is zero."""
    return scale(1.0 / np.maximum(length(a), SMALLEST_DIVISOR), a)


def scale(k: FloatArray, a: Vector) -> Vector:
    """Return k a."""
    return (k * a[0], k * a[1], k * a[2])


def outer(k: FloatArray, a: Vector, b: Vector) -> Block:
    """Return k a b^T."""
    return (scale(k * a[0], b), scale(k * a[1], b), scale(k * a[2], b))


def identity_block(k: FloatArray) -> Block:
    """Return k I."""
    zero = 0.0 * k
    return ((k, zero, zero), (zero, k, zero), (zero, zero, k))


def add_blocks(a: Block, b: Block) -> Block:
    """Return a + b."""
    return (add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2]))


def scale_block(k: FloatArray, a: Block) -> Block:
    """Return k a."""
    return (scale(k, a[0]), scale(k, a[1]), scale(k, a[2]))


def transpose(a: Block) -> Block:
    """Return a^T."""
    return ((a[0][0], a[1][0], a[2][0]), (a[0][1], a[1][1], a[2][1]), (a[0][2], a[1][2], a[2][2]))


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def spring_stress(d: Vector, k: FloatArray, rest: FloatArray) -> Vector:
    """Return k (|d| - rest) d/|d|, the gradient of k/2 (|d| - rest)^2."""
    return scale(k * (length(d) - rest), direction(d))


def spring_tangent(d: Vector, size: FloatArray, k: FloatArray, across: FloatArray) -> Block:
    """Return k (u u^T + across (I - u u^T)) with u = d / size.

    `across` is 1 - rest/size, or that value clamped at zero.
    """
    u = scale(1.0 / size, d)                          # divide before squaring: d = 0 gives 0, not inf times 0
    return add_blocks(outer(k * (1.0 - across), u, u), identity_block(k * across))


def either(which: BoolArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a where `which` is true, else b; both must be finite.

    np.where is not used because Numba returns an array from it when the arguments are numbers.
    """
    return which * a + (1.0 - which) * b


def cross(a: Vector, b: Vector) -> Vector:
    """Return a x b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def cross_block(k: FloatArray, a: Vector) -> Block:
    """Return k [a]x, the matrix with [a]x b = a x b."""
    zero = 0.0 * k
    return ((zero, -k * a[2], k * a[1]), (k * a[2], zero, -k * a[0]), (-k * a[1], k * a[0], zero))


def block_product(a: Block, b: Block) -> Block:
    """Return the matrix product a b."""
    t = transpose(b)
    return ((dot(a[0], t[0]), dot(a[0], t[1]), dot(a[0], t[2])),
            (dot(a[1], t[0]), dot(a[1], t[1]), dot(a[1], t[2])),
            (dot(a[2], t[0]), dot(a[2], t[1]), dot(a[2], t[2])))
