# SPDX-License-Identifier: GPL-3.0-or-later
"""Directions in which constraints prescribe velocities of particles, compiled: one particle after the other.

Arguments and results are those of `kernels.numpy.constraint_directions`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import constraint_directions as formulas
from ..formulas.constraint_directions import prescribe_along, subtract_projection
from ..formulas.vectors import identity, length, subtract_outer
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .plain_functions import register
from .vectors import at as row

register(formulas, INLINED)


def take(at: IntArray, vertices: IntArray, directions: FloatArray, change: FloatArray, parallel: float,
         taken: FloatArray, count: IntArray, z: FloatArray) -> None:
    """Take one more unit direction (m, 3) of each of the particles `at` (m,), all different, in place."""
    _take(at, vertices, np.ascontiguousarray(directions), np.ascontiguousarray(change), parallel, taken, count, z)


def free(taken: FloatArray, count: IntArray) -> FloatArray:
    """Return S = I - sum of p p^T over the taken directions p (n, 3, 3); exactly zero where all three are taken."""
    blocks = np.empty_like(taken)
    _free(taken, count, blocks)
    return blocks


@njit(**KERNEL)
def _take(at: Any, vertices: Any, directions: Any, change: Any, parallel: Any, taken: Any, count: Any, z: Any) -> None:
    """Take directions, of one particle after the other."""
    for m in range(len(at)):
        i, v = at[m], vertices[m]
        n = count[i]
        if n == 3:
            continue
        direction = row(directions, m)
        left = direction
        for k in range(n):
            left = subtract_projection(left, direction, _taken(taken, i, k))
        size = length(left)
        if not size > parallel:
            continue
        unit = left[0] / size, left[1] / size, left[2] / size
        z[v, 0], z[v, 1], z[v, 2] = prescribe_along(row(z, v), direction, change[m], unit, size)
        taken[i, n, 0], taken[i, n, 1], taken[i, n, 2] = unit
        count[i] = n + 1


@njit(**KERNEL)
def _free(taken: Any, count: Any, blocks: Any) -> None:
    """Write S (n, 3, 3)."""
    for i in range(len(taken)):
        rest = identity()
        for k in range(count[i]):
            rest = subtract_outer(rest, _taken(taken, i, k))
        for a in range(3):
            for b in range(3):
                blocks[i, a, b] = rest[a][b] if count[i] < 3 else 0.0


@njit(**INNER)
def _taken(taken: Any, i: Any, k: Any) -> Any:
    """Return direction k of particle i."""
    return taken[i, k, 0], taken[i, k, 1], taken[i, k, 2]
