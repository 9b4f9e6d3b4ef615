# SPDX-License-Identifier: GPL-3.0-or-later
"""A block matrix in half the bytes, for the products of one solve.

An iteration with multigrid is little more than a product, and that takes as long as its numbers take to be read. So
where an iteration is cheap the matrix is written once more, in single precision beside the diagonal (what for, and what
it does to a row, says `core/kernels/numba/packed.py`).

Is it the same matrix? With E what rounding takes from a row, and gives its diagonal, the absolute values of a row of E
are at most 2 u sum |A_ij|, u = 2^-24. Where that is less than the row's mass, A + E is positive definite as A is, and E
does least where much moves together. Otherwise products are of A as it is. Answers differ by some millionths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current

if TYPE_CHECKING:
    from .block_matrix import BlockMatrix, BlockPattern
    from .modified_pcg import Operator

LARGEST = 0.4
"""Part of its mass that rounding may take from a row, in the sum of absolute values: twice that is below one [-]."""
FINEST = 1e-4
"""Tolerance of a solve below which it wants all digits [-]: rounding moved answers by 2e-7 to 3e-6 of their energy."""


class Packing:
    """Where the numbers of matrices of a pattern lie when packed, and memory for one of them.

    Attributes:
        layout: of the pattern; beside: of each place there, where the scalar of the same vertices lies, -1 for none;
        starts (V + 1,), columns: blocks of each row beside its diagonal; far_starts (V + 1,), far_places, far_columns:
        scalars without a block; blocks, diagonal (V, 3, 3), far: their numbers, 3x3 blocks column by column.
    """

    def __init__(self, pattern: BlockPattern) -> None:
        V, layout, scalar = pattern.vertex_count, pattern.layout, pattern.scalar
        self.layout = layout
        met, block, far, far_rows = pattern.folded()
        self.beside = np.full(layout.size, -1, dtype=np.int32)
        self.beside[layout.place[block]] = met
        others = pattern.rows != pattern.columns
        self.starts = _starts(pattern.rows[others], V)
        self.columns = pattern.columns[others].astype(np.int32)
        self.far_starts, self.far_places = _starts(far_rows, V), far.astype(np.int32)
        self.far_columns = scalar.layout.columns[far]
        self.blocks = np.zeros(9 * len(self.columns) + 1, dtype=np.float32)      # a vector reads one more
        self.diagonal, self.far = np.zeros((V, 3, 3)), np.zeros(len(far), dtype=np.float32)


def packed(matrix: BlockMatrix, mass: FloatArray, tolerance: float) -> Operator:
    """x -> A x for x (V, 3) by a packed copy, or by A itself where that is not quicker or not the same; good until the
    next matrix of its pattern is packed.

    Args:
        matrix: A, symmetric.
        mass: (V,), its part of A's diagonal.
        tolerance: of the solve that the products are for [-].
    """
    kernels = current().packed
    if not kernels.QUICKER or tolerance < FINEST:
        return matrix.multiply
    packing = matrix.pattern.packing
    fits = kernels.pack(matrix.data, matrix.scalars, packing, mass, LARGEST)
    return (lambda x: kernels.product(packing, x)) if fits else matrix.multiply


def _starts(rows: IntArray, count: int) -> IntArray:
    """Where each of `count` rows begins among entries sorted by row."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
