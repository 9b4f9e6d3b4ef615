# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag of triangles: as in `reference`, one loop over triangles, and one over vertices that adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray, IntArray
from ...stencils.component_algebra import SMALLEST_DIVISOR
from .assembly import subtract_scattered
from .kernel_cache import njit
from .options import KERNEL
from .thread_pool import LEAST_VERTICES, share

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def add_force(stencil: Stencil, vectors: FloatArray, u: FloatArray, total: FloatArray) -> None:
    """As in `reference`."""
    P = np.empty((len(vectors), 1, 3))
    share(_stresses, len(vectors), LEAST_VERTICES, stencil.vertices, vectors, u, P)
    subtract_scattered(stencil, P, total)


def drag_vectors(triangles: IntArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """As in `reference`."""
    q = np.empty((len(triangles), 3))
    share(_vectors, len(triangles), LEAST_VERTICES, triangles, coefficients, x, q)
    return q


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _vectors(begin, end, triangles, coefficients, x, q):  # type: ignore[no-untyped-def]
    for t in range(begin, end):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
        size = max(np.sqrt(nx * nx + ny * ny + nz * nz), SMALLEST_DIVISOR)
        factor = np.sqrt(coefficients[t] / (18.0 * size))
        q[t, 0], q[t, 1], q[t, 2] = factor * nx, factor * ny, factor * nz


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _stresses(begin, end, triangles, q, u, P):  # type: ignore[no-untyped-def]
    for t in range(begin, end):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        along = 0.0
        for a in range(3):
            along += q[t, a] * (u[i, a] + u[j, a] + u[k, a])
        for a in range(3):
            P[t, 0, a] = along * q[t, a]
