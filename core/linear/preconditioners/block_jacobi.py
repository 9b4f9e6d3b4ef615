# SPDX-License-Identifier: GPL-3.0-or-later
"""Block Jacobi: P is the 3x3 diagonal of A.

001 takes the diagonal entries alone; the whole block costs the same to apply and does not depend on how the
coordinate axes lie. Where contacts and pins take directions of a vertex, the block is restricted to those left: what a
taken direction couples them to would spoil them.

    P_i = S_i A_ii S_i + d_i (I - S_i),     d_i = trace(A_ii) / 3
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..block_matrix import BlockMatrix
from ..constraint_filter import ConstraintFilter


class BlockJacobi:
    """P^-1 r with P the diagonal blocks of `matrix`, which must be positive definite, where `filter_` leaves free."""

    def __init__(self, matrix: BlockMatrix, filter_: ConstraintFilter | None = None) -> None:
        blocks = matrix.diagonal_blocks()
        if filter_ is not None and len(filter_.rows):
            rows, S = filter_.rows, free_directions(filter_)
            blocks[rows] = restricted(blocks[rows], S)
        self._inverse = _inverse(blocks)

    def __call__(self, r: FloatArray) -> FloatArray:
        """P^-1 r for r (V, 3)."""
        result = np.empty_like(r)
        for i, row in enumerate(self._inverse):
            result[:, i] = row[0] * r[:, 0] + row[1] * r[:, 1] + row[2] * r[:, 2]
        return result


def free_directions(filter_: ConstraintFilter) -> FloatArray:
    """S_i (n, 3, 3) of the vertices `filter_.rows`: the projection on what is left to them."""
    S: FloatArray = np.eye(3) - np.einsum("nki,nkj->nij", filter_.taken, filter_.taken)
    return S


def restricted(blocks: FloatArray, S: FloatArray) -> FloatArray:
    """S A S + d (I - S) of diagonal blocks A (n, 3, 3)."""
    size = np.trace(blocks, axis1=1, axis2=2)[:, None, None] / 3.0
    result: FloatArray = S @ blocks @ S + size * (np.eye(3) - S)
    return 0.5 * (result + result.transpose(0, 2, 1))


def _inverse(blocks: FloatArray) -> FloatArray:
    """Inverses of symmetric 3x3 blocks (V, 3, 3) by cofactors, as entries (3, 3, V)."""
    (a, b, c), (_, d, e), (_, _, f) = blocks.transpose(1, 2, 0)
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    D, E, F = a * f - c * c, b * c - a * e, a * d - b * b
    inverse = np.array([[A, B, C], [B, D, E], [C, E, F]])
    inverse /= a * A + b * B + c * C
    return inverse
