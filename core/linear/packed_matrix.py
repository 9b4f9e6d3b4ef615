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

from ..arrays import FloatArray
from ..kernels import current
from .block_matrix import BlockMatrix
from .modified_pcg import Operator

LARGEST = 0.4
"""Part of its mass that rounding may take from a row, in the sum of absolute values: twice that is below one [-]."""
FINEST = 1e-4
"""Tolerance of a solve below which it wants all digits [-]: rounding moved answers by 2e-7 to 3e-6 of their energy."""


def packed(matrix: BlockMatrix, mass: FloatArray, tolerance: float) -> Operator:
    """x -> A x for x (V, 3) by a packed copy, or by A itself where that is not quicker or not the same; good until the
    next matrix of its pattern is packed.

    Args:
        matrix: A, symmetric.
        mass: (V,), its part of A's diagonal.
        tolerance: of the solve that the products are for [-].
    """
    kernels = current().packed
    if not (kernels.QUICKER and matrix.assembled) or tolerance < FINEST:
        return matrix.multiply
    rows = matrix.pattern.packed_rows
    fits = kernels.pack(matrix.data, matrix.scalars, rows, mass, LARGEST)
    return (lambda x: kernels.product(rows, x)) if fits else matrix.multiply
