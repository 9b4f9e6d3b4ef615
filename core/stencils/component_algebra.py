# SPDX-License-Identifier: GPL-3.0-or-later
"""Algebra on 3-vectors and 3x3 blocks held as component tuples.

A vector is (x, y, z), a block is its three rows. The components may be arrays (E,), one entry per element, or plain
numbers: nothing here asks which, so that the laws written with it run in NumPy and in a compiled loop alike.
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
"""Smallest divisor: turns 0/0 into 0. Far below any square of a length in SI, so it is no tolerance."""


def dot(a: Vector, b: Vector) -> FloatArray:
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def length(a: Vector) -> FloatArray:
    """|a|"""
    return np.sqrt(dot(a, a))


def direction(a: Vector) -> Vector:
    """a / |a|, zero where a is zero"""
    return scale(1.0 / np.maximum(length(a), SMALLEST_DIVISOR), a)


def scale(k: FloatArray, a: Vector) -> Vector:
    """k a"""
    return (k * a[0], k * a[1], k * a[2])


def outer(k: FloatArray, a: Vector, b: Vector) -> Block:
    """k a b^T"""
    return (scale(k * a[0], b), scale(k * a[1], b), scale(k * a[2], b))


def identity_block(k: FloatArray) -> Block:
    """k I"""
    zero = 0.0 * k
    return ((k, zero, zero), (zero, k, zero), (zero, zero, k))


def add_blocks(a: Block, b: Block) -> Block:
    """a + b"""
    return (add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2]))


def scale_block(k: FloatArray, a: Block) -> Block:
    """k a"""
    return (scale(k, a[0]), scale(k, a[1]), scale(k, a[2]))


def transpose(a: Block) -> Block:
    """a^T"""
    return ((a[0][0], a[1][0], a[2][0]), (a[0][1], a[1][1], a[2][1]), (a[0][2], a[1][2], a[2][2]))


def add(a: Vector, b: Vector) -> Vector:
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def spring_stress(d: Vector, k: FloatArray, rest: FloatArray) -> Vector:
    """k (|d| - rest) d/|d|: the gradient of k/2 (|d| - rest)^2"""
    return scale(k * (length(d) - rest), direction(d))


def spring_tangent(d: Vector, size: FloatArray, k: FloatArray, across: FloatArray) -> Block:
    """k (u u^T + across (I - u u^T)) with u = d / size; across is 1 - rest/size, or that clamped"""
    u = scale(1.0 / size, d)                          # before squaring: a vanished d leaves 0, not inf times 0
    return add_blocks(outer(k * (1.0 - across), u, u), identity_block(k * across))


def either(which: BoolArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """a where `which`, else b; both finite. Numba makes an array of what np.where gives for numbers."""
    return which * a + (1.0 - which) * b


def cross(a: Vector, b: Vector) -> Vector:
    """a x b"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def cross_block(k: FloatArray, a: Vector) -> Block:
    """k [a]x, the matrix with [a]x b = a x b"""
    zero = 0.0 * k
    return ((zero, -k * a[2], k * a[1]), (k * a[2], zero, -k * a[0]), (-k * a[1], k * a[0], zero))


def block_product(a: Block, b: Block) -> Block:
    """a b"""
    t = transpose(b)
    return ((dot(a[0], t[0]), dot(a[0], t[1]), dot(a[0], t[2])),
            (dot(a[1], t[0]), dot(a[1], t[1]), dot(a[1], t[2])),
            (dot(a[2], t[0]), dot(a[2], t[1]), dot(a[2], t[2])))
