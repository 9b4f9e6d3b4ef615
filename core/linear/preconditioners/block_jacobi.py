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
        self._inverse = _inverse(matrix.diagonal_blocks())

    def __call__(self, r: FloatArray) -> FloatArray:
        """P^-1 r for r (V, 3)."""
        result = np.empty_like(r)
        for i, row in enumerate(self._inverse):
            result[:, i] = row[0] * r[:, 0] + row[1] * r[:, 1] + row[2] * r[:, 2]
        return result


def _inverse(blocks: FloatArray) -> FloatArray:
    """Inverses of symmetric 3x3 blocks (V, 3, 3) by cofactors, as entries (3, 3, V)."""
    (a, b, c), (_, d, e), (_, _, f) = blocks.transpose(1, 2, 0)
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    D, E, F = a * f - c * c, b * c - a * e, a * d - b * b
    inverse = np.array([[A, B, C], [B, D, E], [C, E, F]])
    inverse /= a * A + b * B + c * C
    return inverse
