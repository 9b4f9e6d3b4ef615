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
from ..nested_dissection import NestedDissection
from .block_jacobi import free_directions, restricted

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
        n = pattern.vertex_count
        edges = np.unique(np.sort(edges, axis=1), axis=0)
        keys = pattern.rows * n + pattern.columns
        wanted = edges[:, 0] * n + edges[:, 1]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        there = keys[place] == wanted                              # an edge without any stiffness has no block
        self._edges, self._near = edges[there], place[there]
        far = np.ones(len(keys), dtype=np.bool_)
        far[pattern.diagonal] = far[self._near] = False
        far[np.searchsorted(keys, self._edges[:, 1] * n + self._edges[:, 0])] = False
        self._far: IntArray = np.flatnonzero(far)
        self._far_row = pattern.rows[self._far]
        self._diagonal = pattern.diagonal
        self._tree = NestedDissection(self._edges, positions, blocks=True)

    def bytes(self, single: bool) -> int:
        """Memory of a factor [bytes]."""
        return 9 * self._tree.numbers * (4 if single else 8)

    def at(self, matrix: BlockMatrix, filter_: ConstraintFilter, *, single: bool = True) -> BlockCholesky:
        """The factor of P for `matrix`, which must be positive definite, and the directions that `filter_` leaves free.

        Raises:
            ArithmeticError: P is not positive definite.
        """
        blocks = matrix.blocks()
        diagonal, off = blocks[self._diagonal], blocks[self._near]
        if len(self._far):
            size = np.abs(blocks[self._far])
            size = np.maximum(size.sum(axis=1).max(axis=1), size.sum(axis=2).max(axis=1))
            folded = np.bincount(self._far_row, weights=size, minlength=len(diagonal))
            diagonal[:, [0, 1, 2], [0, 1, 2]] += folded[:, None]
        rows = filter_.rows
        if len(rows):
            S = np.tile(np.eye(3), (len(diagonal), 1, 1))
            S[rows] = free_directions(filter_)
            diagonal[rows] = restricted(diagonal[rows], S[rows])
            held = np.zeros(len(diagonal), dtype=np.bool_)
            held[rows] = True
            some = np.flatnonzero(held[self._edges].any(axis=1))
            off[some] = S[self._edges[some, 0]] @ off[some] @ S[self._edges[some, 1]]
        if single:
            try:
                return BlockCholesky(self._tree, (1.0 + SHIFT) * diagonal, off, quick=True)
            except ArithmeticError:                                # too ill-conditioned for single precision
                pass
        return BlockCholesky(self._tree, diagonal, off, single=single)
