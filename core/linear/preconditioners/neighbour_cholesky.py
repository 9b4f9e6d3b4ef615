# SPDX-License-Identifier: GPL-3.0-or-later
"""A direct factor of A, with couplings beyond neighbours added to the diagonal.

    P = S (A_near + sum_far |A_ij| I) S + d (I - S),      d_i = trace(A_ii) / 3

Near blocks are those of the diagonal and of edges of the mesh. Far blocks, of bending, would double every separator of
the factor; each adds the largest of its absolute row and column sums to the diagonals i and j. That makes P >= A, and
so positive definite, and changes little, because bending is much softer than stretch. S is the filter of pins and
contacts, which P contains exactly.

It is the most expensive preconditioner to make, once per linearisation, and needs a few iterations whatever the
stiffness, step, folds and contacts. It pays where others need a hundred iterations, see docs/decisions/0011.
"""

from __future__ import annotations

import numpy as np

from ...arrays import SINGLE_PRECISION, FloatArray, IntArray
from ..block_cholesky import BlockCholesky
from ..block_matrix import BlockMatrix, BlockPattern
from ..constraint_filter import ConstraintFilter
from ..neighbour_blocks import NeighbourBlocks
from ..nested_dissection import NestedDissection


class NeighbourCholesky:
    """Make the preconditioner of each step. The ordering is computed once, from a system's pattern; `at` factors.

    Args:
        pattern: of the matrices.
        edges: (E, 2), pairs of neighbours.
        positions: (V, 3), which determine the cuts of the nested dissection.
    """

    def __init__(self, pattern: BlockPattern, edges: IntArray, positions: FloatArray) -> None:
        self._near = NeighbourBlocks(pattern, edges)
        self._tree = NestedDissection(self._near.edges, positions, blocks=True)
        self._workspace: BlockCholesky | None = None               # the last factor, whose memory is reused

    def bytes(self, single: bool) -> int:
        """Return the memory of a factor [bytes]."""
        return 9 * self._tree.numbers * (4 if single else 8)

    def at(self, matrix: BlockMatrix, filter_: ConstraintFilter, *, single: bool = True) -> BlockCholesky:
        """Return the factor of P for `matrix`, which must be positive definite in the free directions of `filter_`.

        It is valid until the next call, which reuses its memory.

        Raises:
            ArithmeticError: P is not positive definite.
        """
        old, self._workspace = self._workspace, None
        if single:
            try:
                near = self._near.of(matrix, filter_, grow=1.0 + SINGLE_PRECISION, dtype=np.float32)
                self._workspace = BlockCholesky(self._tree, *near, quick=True, old=old)
                return self._workspace
            except ArithmeticError:                                # too ill-conditioned for single precision
                pass
        self._workspace = BlockCholesky(self._tree, *self._near.of(matrix, filter_), single=single, old=old)
        return self._workspace
