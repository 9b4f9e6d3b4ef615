# SPDX-License-Identifier: GPL-3.0-or-later
"""A multifrontal Cholesky factor: dense fronts on the tree of a nested dissection (Duff and Reid 1983).

The algorithm is in the kernels, see `core/kernels/numpy/multifrontal.py`. This module chooses the precision and scales
the numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import FloatArray
from ..kernels.layouts import OperatorArrays
from .nested_dissection import NestedDissection


class BlockCholesky:
    """P^-1 for a symmetric positive definite P of blocks w x w on a graph.

    Args:
        tree: the order of elimination of the graph, for the kernels with which it was made.
        diagonal: (V, w, w) symmetric blocks.
        off_diagonal: (E, w, w), block (i, j) of each edge (i, j) of the tree's graph.
        single: keep and apply the factor in single precision, which takes half the memory and up to half the time.
            That suffices to precondition a solve to 1e-6; for smaller tolerances conjugate gradients need a
            preconditioner that is symmetric to more digits.
        quick: compute the factor in single precision, too, for blocks whose diagonal is increased by
            `SINGLE_PRECISION`.
        old: a factor on the same tree that is not used any more; its memory is reused.

    Raises:
        ArithmeticError: P is not positive definite.
    """

    def __init__(self, tree: NestedDissection, diagonal: FloatArray, off_diagonal: FloatArray, *,
                 single: bool = True, quick: bool = False, old: BlockCholesky | None = None) -> None:
        self._tree, self._width = tree, diagonal.shape[1]
        largest = float(np.abs(diagonal).max(initial=0.0))
        # a power of two, so that results do not depend on units; single precision has a narrow range
        self._unit = 2.0 ** -np.round(np.log2(largest)) if 0.0 < largest < np.inf else 1.0
        unit = diagonal.dtype.type(self._unit)
        self._factor: Any = tree.fronts.factor(tree.plan, diagonal * unit, off_diagonal * unit,
                                               np.float32 if quick else np.float64,
                                               np.float32 if single else np.float64,
                                               None if old is None else old._factor)

    @property
    def bytes(self) -> int:
        """Return the memory of the factor [bytes]."""
        return int(self._tree.fronts.memory(self._factor))

    @property
    def arrays(self) -> OperatorArrays | None:
        """Return P^-1 on vectors (V, 3) as compiled kernels take it, None if P is scalar."""
        if self._width != 3:
            return None
        return OperatorArrays("factor", (self._tree.plan, self._factor, self._unit))

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return P^-1 r, so that the factor is a preconditioner."""
        return self.solve(r)

    def solve(self, r: FloatArray) -> FloatArray:
        """Return P^-1 r for r (V, w), or for r (V, any) if P is scalar."""
        size = float(np.abs(r).max(initial=0.0))
        if not (0.0 < size < np.inf):
            return np.full_like(r, 0.0 if size == 0.0 else np.nan)
        blocks = np.ascontiguousarray(r).reshape(self._tree.vertex_count, self._width, -1)
        result: FloatArray = self._tree.fronts.solve(self._tree.plan, self._factor, blocks, size, size * self._unit)
        return result.reshape(r.shape)
