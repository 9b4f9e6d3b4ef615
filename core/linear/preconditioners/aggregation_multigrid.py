# SPDX-License-Identifier: GPL-3.0-or-later
"""Aggregation multigrid: block Jacobi plus a direct solve for groups of vertices that move together.

    P^-1 = J^-1 + S Q A_c^-1 Q^T S,     A_c = Q^T S A S Q  (regularised in `galerkin`)

Q maps the motions of groups to their vertices, and S is the filter of pins and contacts. Groups are made once, from the
mesh at rest; a step adds A's blocks to A_c, which has a ninth of the vertices, and factors it. J covers motions within
a group, A_c motions of groups, with the stiffness of the cloth in each direction, which no scalar matrix has.

Two levels suffice: the second is small enough for a direct solve up to a million vertices. The levels are added, not
alternated: a cycle with smoothing before and after needs half the iterations, but three products in each, see
docs/decisions/0010.
"""

from __future__ import annotations

import numpy as np

from ...arrays import SINGLE_PRECISION, FloatArray, IntArray
from ...kernels import current
from ...kernels.layouts import OperatorArrays
from ..aggregation import aggregates
from ..block_cholesky import BlockCholesky
from ..block_matrix import BlockMatrix, BlockPattern
from ..constraint_filter import ConstraintFilter
from ..galerkin import CoarsePattern
from ..nested_dissection import NestedDissection
from .block_jacobi import BlockJacobi

GROUP_VERTICES = 9
"""Vertices in a group [-]: smaller groups save fewer iterations than their factor costs."""


class AggregationMultigrid:
    """Make the preconditioner of each step. Groups are formed once, from a system's pattern; `at` factors.

    Args:
        pattern: of the matrices.
        edges: (E, 2), pairs of neighbours.
        positions: (V, 3), at rest.
        size: vertices in a group.
    """

    def __init__(self, pattern: BlockPattern, edges: IntArray, positions: FloatArray, *,
                 size: int = GROUP_VERTICES) -> None:
        self._group = aggregates(edges, positions, size)
        self._order: IntArray = np.argsort(self._group, kind="stable")
        counts = np.bincount(self._group)
        self._starts: IntArray = np.concatenate([[0], np.cumsum(counts)])
        self._coarse = CoarsePattern(pattern, self._group)
        middles = np.add.reduceat(positions[self._order], self._starts[:-1], axis=0) / counts[:, None]
        self._tree = NestedDissection(self._coarse.edges, middles, blocks=True)

    def at(self, matrix: BlockMatrix, filter_: ConstraintFilter, *, single: bool = True) -> TwoLevels:
        """Return P for `matrix`, which must be positive definite in the free directions of `filter_`.

        Raises:
            ArithmeticError: the coarse matrix is not positive definite.
        """
        return TwoLevels(BlockJacobi(matrix, filter_), self._factor(matrix, filter_, single), filter_, self._group,
                         self._order, self._starts)

    def _factor(self, matrix: BlockMatrix, filter_: ConstraintFilter, single: bool) -> BlockCholesky:
        if single:
            try:
                coarse = self._coarse.product(matrix, filter_, grow=1.0 + SINGLE_PRECISION, dtype=np.float32)
                return BlockCholesky(self._tree, *coarse, quick=True)
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
        """Return the memory of the coarse factor [bytes]."""
        return self._coarse.bytes

    @property
    def arrays(self) -> OperatorArrays | None:
        """Return P^-1 as compiled kernels take it."""
        coarse = self._coarse.arrays
        return None if coarse is None else OperatorArrays("two_levels", (
            self._order, self._starts, self._group, self._inverse, self._number, self._S, coarse.arrays))

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return P^-1 r for r (V, 3)."""
        kernels = current().multigrid
        motion = self._coarse.solve(kernels.restrict(r, self._order, self._starts, self._number, self._S))
        result = np.empty_like(r)
        kernels.prolong(motion, self._group, self._number, self._S, self._inverse, r, result)
        return result
