# SPDX-License-Identifier: GPL-3.0-or-later
"""Pair contacts, their forces and their matrix, compiled: one pair after the other, as they share vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .kernel_cache import njit
from .options import KERNEL
from .vectors import add, at, dot, scale, subtract


def gaps(vertices: IntArray, weights: FloatArray, normals: FloatArray, fixed: FloatArray, base: FloatArray,
         velocity: FloatArray, h: float) -> FloatArray:
    """n . (sum_i w_i x_i + fixed) (P,) [m] at x = base + h velocity (V, 3), as in `reference`."""
    result = np.empty(len(vertices))
    _gaps(vertices, weights, normals, fixed, np.ascontiguousarray(base), np.ascontiguousarray(velocity), h, result)
    return result


def scattered(vertices: IntArray, weights: FloatArray, force: FloatArray, count: int) -> FloatArray:
    """Sums (V, 3) of w_i f for forces f (P, 3), as in `reference`."""
    result = np.zeros((count, 3))
    _add_scattered(vertices, weights, force, result)
    return result


def diagonal(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
             count: int) -> FloatArray:
    """The diagonal blocks (V, 3, 3) of C, as in `reference`."""
    result = np.zeros((count, 3, 3))
    _add_diagonal(vertices, weights, normals, along, across, result)
    return result


def add_product(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
                x: FloatArray, result: FloatArray) -> None:
    """As in `reference`."""
    _add_product(vertices, weights, normals, along, across, x, result)


@njit(**KERNEL)
def _gaps(vertices: Any, weights: Any, normals: Any, fixed: Any, base: Any, velocity: Any, h: Any, result: Any) -> None:
    for p in range(len(vertices)):
        total = at(fixed, p)
        for k in range(4):
            i = vertices[p, k]
            total = add(total, scale(weights[p, k], add(at(base, i), scale(h, at(velocity, i)))))
        result[p] = dot(total, at(normals, p))


@njit(**KERNEL)
def _add_scattered(vertices: Any, weights: Any, force: Any, result: Any) -> None:
    for p in range(len(vertices)):
        for k in range(4):
            for axis in range(3):
                result[vertices[p, k], axis] += weights[p, k] * force[p, axis]


@njit(**KERNEL)
def _add_diagonal(vertices: Any, weights: Any, normals: Any, along: Any, across: Any, result: Any) -> None:
    for p in range(len(vertices)):
        n = at(normals, p)
        for k in range(4):
            i, square = vertices[p, k], weights[p, k] ** 2
            for row in range(3):
                for column in range(3):
                    part = (along[p] - across[p]) * (n[row] * n[column]) + (across[p] if row == column else 0.0)
                    result[i, row, column] += square * part


@njit(**KERNEL)
def _add_product(vertices: Any, weights: Any, normals: Any, along: Any, across: Any, x: Any, result: Any) -> None:
    for p in range(len(vertices)):
        n = at(normals, p)
        total = (0.0, 0.0, 0.0)
        for k in range(4):
            total = add(total, scale(weights[p, k], at(x, vertices[p, k])))
        for k in range(4):
            i, w = vertices[p, k], weights[p, k]
            rest = subtract(total, scale(w, at(x, i)))
            part = add(scale((along[p] - across[p]) * dot(n, rest), n), scale(across[p], rest))
            for axis in range(3):
                result[i, axis] += w * part[axis]
