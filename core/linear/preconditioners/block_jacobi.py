# SPDX-License-Identifier: GPL-3.0-or-later
"""Block Jacobi: P is the 3x3 diagonal of A.

001 takes the diagonal entries alone; the whole block costs the same to apply and does not depend on how the
coordinate axes lie.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..block_matrix import BlockMatrix


class BlockJacobi:
    """P^-1 r with P the diagonal blocks of `matrix`, which must be positive definite."""

    def __init__(self, matrix: BlockMatrix) -> None:
        self._inverse = np.ascontiguousarray(np.linalg.inv(matrix.diagonal_blocks()).transpose(1, 2, 0))

    def __call__(self, r: FloatArray) -> FloatArray:
        """P^-1 r for r (V, 3)."""
        result = np.empty_like(r)
        for i, row in enumerate(self._inverse):
            result[:, i] = row[0] * r[:, 0] + row[1] * r[:, 1] + row[2] * r[:, 2]
        return result
