# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of pair contacts as an operator, compiled: one pair after the other, as they share vertices."""

from __future__ import annotations

from typing import Any

from numba import njit

from ...arrays import FloatArray, IntArray
from .options import KERNEL
from .vectors import add, at, dot, scale, subtract


def add_product(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
                x: FloatArray, result: FloatArray) -> None:
    """As in `reference`."""
    _add_product(vertices, weights, normals, along, across, x, result)


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
