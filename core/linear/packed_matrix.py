# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of a block matrix in half the bytes, for the products of one solve.

An iteration with multigrid is little more than a product, and a product takes as long as reading its numbers. So where
an iteration is cheap, the matrix is copied, in single precision off the diagonal (see `core/kernels/numba/packed.py`).

The copy is A + E. The error E is the rounding of the numbers off the diagonal; the symmetric part of the sum of a row's
errors is added to the diagonal of the row. The absolute values of a row of E add up to at most 2 u sum |A_ij|, with
u = 2^-24. Where that is less than the row's mass, A + E is positive definite as A is, and the row is so little stiffer
than its mass that products need no differences. Otherwise products are made with A itself. Solutions differ by some
millionths, see docs/decisions/0013.
"""

from __future__ import annotations

from ..arrays import FloatArray
from ..kernels import current
from ..kernels.tuning import tuning
from .block_matrix import BlockMatrix
from .products import Assembled, Packed, Product

LARGEST_ROUNDING = 0.4
"""Largest sum of a row's absolute rounding errors, over the mass of the row [-]: twice that must be below one."""
LEAST_PACKED_TOLERANCE = 1e-4
"""Least tolerance of a solve with a packed matrix [-]: rounding changes the energy of solutions by some millionths."""


def packed(matrix: BlockMatrix, mass: FloatArray, tolerance: float) -> Product:
    """Return x -> A x for x (V, 3), by a packed copy of A, or by A itself where that is not faster or not accurate.

    The copy is in a workspace of the pattern, and valid until the next matrix of this pattern is packed.

    Args:
        matrix: A, symmetric.
        mass: (V,), its part of A's diagonal.
        tolerance: of the solve that the products are for [-].
    """
    if not (tuning().packs_matrices and matrix.assembled) or tolerance < LEAST_PACKED_TOLERANCE:
        return Assembled(matrix)
    rows, kernels = matrix.pattern.packed_rows, current().packed
    fits = kernels.pack(matrix.data, matrix.scalars, rows, mass, LARGEST_ROUNDING)
    return Packed(rows, matrix) if fits else Assembled(matrix)
