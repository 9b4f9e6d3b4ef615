# SPDX-License-Identifier: GPL-3.0-or-later
"""Aggregation multigrid: groups of vertices that move as one, solved directly, beside block Jacobi.

    P^-1 = J^-1 + S Q A_c^-1 Q^T S,     A_c = Q^T S A S Q  (and what `galerkin` adds where everything is held)

Q gives every vertex its group's motion, S is the filter of pins and contacts. Groups are made once, from the mesh at
rest; a step adds up A's blocks into A_c and factors it, a ninth of A. J answers what vertices do within a group, A_c
what groups do: in every direction as stiff as the cloth is there, which no scalar matrix is.

Two levels are enough: the second is small enough to be solved directly up to a million vertices. They are added
and not alternated. A cycle with smoothing before and after needs half the iterations and three products in each.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...kernels import current
from ..aggregation import aggregates
from ..block_cholesky import BlockCholesky
from ..block_matrix import BlockMatrix, BlockPattern
from ..constraint_filter import ConstraintFilter
from ..galerkin import CoarsePattern
from ..nested_dissection import NestedDissection
from .block_jacobi import BlockJacobi

SIZE = 9
"""Vertices in a group: with four the factor costs five times as much and saves a third of the iterations."""
SHIFT = 1e-6
"""Added to the diagonal of what is factored in single precision, relative to it [-]: above its rounding."""


class AggregationMultigrid:
    """P of a system's matrices, for all its steps.

    Args:
        pattern: of the matrices.
        edges: (E, 2), pairs of neighbours.
        positions: (V, 3), at rest.
        size: vertices in a group.
    """

    def __init__(self, pattern: BlockPattern, edges: IntArray, positions: FloatArray, *, size: int = SIZE) -> None:
        self._group = aggregates(edges, positions, size)
        self._order: IntArray = np.argsort(self._group, kind="stable")
        counts = np.bincount(self._group)
        self._starts: IntArray = np.concatenate([[0], np.cumsum(counts)])
        self._coarse = CoarsePattern(pattern, self._group)
        middles = np.add.reduceat(positions[self._order], self._starts[:-1], axis=0) / counts[:, None]
        self._tree = NestedDissection(self._coarse.edges, middles, blocks=True)

    def at(self, matrix: BlockMatrix, filter_: ConstraintFilter, *, single: bool = True) -> TwoLevels:
        """P for `matrix`, which must be positive definite, in the directions that `filter_` leaves free.

        Raises:
            ArithmeticError: the coarse matrix is not positive definite.
        """
        return TwoLevels(BlockJacobi(matrix, filter_), self._factor(matrix, filter_, single), filter_, self._group,
                         self._order, self._starts)

    def _factor(self, matrix: BlockMatrix, filter_: ConstraintFilter, single: bool) -> BlockCholesky:
        if single:
            try:
                return BlockCholesky(self._tree, *self._coarse.product(matrix, filter_, grow=1.0 + SHIFT,
                                                                       dtype=np.float32), quick=True)
            except ArithmeticError:                                # too ill-conditioned for single precision
                pass
        return BlockCholesky(self._tree, *self._coarse.product(matrix, filter_), single=single)


class TwoLevels:
    """r -> J^-1 r + S Q A_c^-1 Q^T S r of one step."""

    def __init__(self, jacobi: BlockJacobi, coarse: BlockCholesky, filter_: ConstraintFilter, group: IntArray,
                 order: IntArray, starts: IntArray) -> None:
        self._inverse, self._coarse = jacobi.inverse, coarse
        self._number, self._S = filter_.numbered()
        self._group, self._order, self._starts = group, order, starts

    @property
    def bytes(self) -> int:
        """Memory of the coarse factor [bytes]."""
        return self._coarse.bytes

    def __call__(self, r: FloatArray) -> FloatArray:
        """P^-1 r for r (V, 3)."""
        kernels = current().multigrid
        motion = self._coarse.solve(kernels.restrict(r, self._order, self._starts, self._number, self._S))
        result = np.empty_like(r)
        kernels.prolong(motion, self._group, self._number, self._S, self._inverse, r, result)
        return result
