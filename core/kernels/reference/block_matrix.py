# SPDX-License-Identifier: GPL-3.0-or-later
"""Block matrices: adding blocks into one, and its product with a vector."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def scatter_blocks(slots: IntArray, blocks: FloatArray, factor: float, entries: IntArray, data: FloatArray) -> None:
    """Add `factor` times blocks (.., 3, 3) into a block matrix, in place.

    The n blocks are added up into the N blocks that slots (n,) names; entry (a, b) of block s lies in `data` at
    entries[3 a + b, s], entries (9, N).
    """
    flat = blocks.reshape(len(slots), 9)
    for entry in range(9):
        total = np.bincount(slots, weights=flat[:, entry], minlength=entries.shape[1])
        data[entries[entry]] += factor * total


def block_product(lines: FloatArray, columns: IntArray, rows: IntArray, x: FloatArray, result: FloatArray) -> None:
    """result[rows] = A x from lines (n, 3, 3 width) and columns (n, width) of 3x3 blocks, for x (V, 3)."""
    n, width = columns.shape
    result[rows] = np.einsum("nij,nj->ni", lines, x.take(columns, axis=0).reshape(n, 3 * width))


def add_scalar_product(lines: FloatArray, columns: IntArray, rows: IntArray, x: FloatArray,
                       result: FloatArray) -> None:
    """result[rows] += K x from lines (n, width) and columns (n, width) of scalars, for x (V, 3)."""
    result[rows] += np.matmul(lines[:, None, :], x.take(columns, axis=0))[:, 0]
