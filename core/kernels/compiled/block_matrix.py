# SPDX-License-Identifier: GPL-3.0-or-later
"""Block matrices: adding blocks into one, and its product with a vector."""

from __future__ import annotations

from numba import njit, prange

from ..reference.block_matrix import scatter_blocks

__all__ = ["add_scalar_product", "block_product", "scatter_blocks"]


@njit(cache=True, parallel=True, error_model="numpy", fastmath={"contract"})  # type: ignore[untyped-decorator]
def block_product(lines, columns, rows, x, result):  # type: ignore[no-untyped-def]
    """As in `reference`."""
    n, width = columns.shape
    for row in prange(n):
        a, b, c = 0.0, 0.0, 0.0
        for s in range(width):
            j = columns[row, s]
            p, q, r = x[j, 0], x[j, 1], x[j, 2]
            t = 3 * s
            a += lines[row, 0, t] * p + lines[row, 0, t + 1] * q + lines[row, 0, t + 2] * r
            b += lines[row, 1, t] * p + lines[row, 1, t + 1] * q + lines[row, 1, t + 2] * r
            c += lines[row, 2, t] * p + lines[row, 2, t + 1] * q + lines[row, 2, t + 2] * r
        i = rows[row]
        result[i, 0], result[i, 1], result[i, 2] = a, b, c


@njit(cache=True, parallel=True, error_model="numpy", fastmath={"contract"})  # type: ignore[untyped-decorator]
def add_scalar_product(lines, columns, rows, x, result):  # type: ignore[no-untyped-def]
    """As in `reference`."""
    n, width = columns.shape
    for row in prange(n):
        a, b, c = 0.0, 0.0, 0.0
        for s in range(width):
            j, w = columns[row, s], lines[row, s]
            a += w * x[j, 0]
            b += w * x[j, 1]
            c += w * x[j, 2]
        i = rows[row]
        result[i, 0] += a
        result[i, 1] += b
        result[i, 2] += c
