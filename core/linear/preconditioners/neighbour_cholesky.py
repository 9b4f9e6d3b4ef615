# SPDX-License-Identifier: GPL-3.0-or-later
"""A itself, solved directly, with what reaches beyond a vertex's neighbours folded into the diagonal.

    P = S (A_near + sum_far |A_ij| I) S + d (I - S),      d_i = trace(A_ii) / 3

Near are the blocks (i, j) of the diagonal and of edges of the mesh. The far ones, of bending, would double every
separator of the factor; each goes to the diagonals i and j with the largest of its absolute row and column sums. That
makes P >= A, and so positive definite, and changes little: bending counts little against stretch. S is the filter of
pins and contacts, so that P knows them exactly.

The dearest preconditioner to make, once per linearisation, and the one that no stiffness, step, fold or contact slows
down: a few iterations each time. It pays where others need a hundred, see `docs/performance.md`.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..block_cholesky import BlockCholesky
from ..block_matrix import BlockMatrix, BlockPattern
from ..constraint_filter import ConstraintFilter
from ..neighbour_blocks import NearBlocks
from ..nested_dissection import NestedDissection

SHIFT = 1e-6
"""Added to the diagonal of what is factored in single precision, relative to it [-]: above its rounding."""


class NeighbourCholesky:
    """P of a system's matrices, for all its steps.

    Args:
        pattern: of the matrices.
        edges: (E, 2), pairs of neighbours.
        positions: (V, 3), where the graph is cut.
    """

    def __init__(self, pattern: BlockPattern, edges: IntArray, positions: FloatArray) -> None:
        self._near = NearBlocks(pattern, edges)
        self._tree = NestedDissection(self._near.edges, positions, blocks=True)
        self._last: BlockCholesky | None = None

    def bytes(self, single: bool) -> int:
        """Memory of a factor [bytes]."""
        return 9 * self._tree.numbers * (4 if single else 8)

    def at(self, matrix: BlockMatrix, filter_: ConstraintFilter, *, single: bool = True) -> BlockCholesky:
        """The factor of P for `matrix`, which must be positive definite, and the directions that `filter_` leaves free;
        good until the next is asked for, which takes its memory.

        Raises:
            ArithmeticError: P is not positive definite.
        """
        old, self._last = self._last, None
        if single:
            try:
                near = self._near.of(matrix, filter_, grow=1.0 + SHIFT, dtype=np.float32)
                self._last = BlockCholesky(self._tree, *near, quick=True, old=old)
                return self._last
            except ArithmeticError:                                # too ill-conditioned for single precision
                pass
        self._last = BlockCholesky(self._tree, *self._near.of(matrix, filter_), single=single, old=old)
        return self._last
