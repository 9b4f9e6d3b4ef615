# SPDX-License-Identifier: GPL-3.0-or-later
"""The Galerkin product for groups of vertices that move together.

    A_IJ = sum_{i in I, j in J} S_i A_ij S_j  +  delta_IJ sum_{i in I} d_i (I - S_i)

The places of blocks follow from the pattern and the groups and are found once; a step only adds numbers. The last term
makes the matrix regular where all vertices of a group are constrained; without constraints it is zero. d_i is a third
of the trace of A_ii without its scalar part; iteration counts do not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .block_matrix import BlockMatrix, BlockPattern
from .constraint_filter import ConstraintFilter

Places = npt.NDArray[np.int32]


class CoarsePattern:
    """The pattern of the coarse matrix, and where the blocks of the fine matrix are added.

    Args:
        pattern: of the fine matrix.
        group: (V,), every vertex's group, numbered from 0.

    Attributes:
        count: number of groups.
        edges: (E, 2), pairs of groups with a block, the smaller number first.
    """

    def __init__(self, pattern: BlockPattern, group: IntArray) -> None:
        self._pattern, n = pattern, int(group.max()) + 1
        self.count = n
        keys, scalar_keys = (group[p.rows] * n + group[p.columns] for p in (pattern, pattern.scalar))
        upper, scalar_upper = (np.flatnonzero(k // n <= k % n) for k in (keys, scalar_keys))
        there = np.unique(np.concatenate([keys[upper], scalar_keys[scalar_upper]]))
        self.edges: IntArray = np.column_stack([there // n, there % n])[there // n != there % n]
        # slots: diagonal blocks of the groups, then those of edges
        slots = np.concatenate([np.arange(n) * (n + 1), self.edges[:, 0] * n + self.edges[:, 1]])
        order = np.argsort(slots)
        self._slots = len(slots)

        def by_slot(items: IntArray, keys: IntArray, places: IntArray, p: Any) -> tuple[IntArray, Places]:
            slot = order[np.searchsorted(slots[order], keys)]
            sorted_ = np.argsort(slot, kind="stable")
            items, starts = items[sorted_], np.searchsorted(slot[sorted_], np.arange(len(slots) + 1))
            return starts, np.column_stack([places[sorted_], p.rows[items], p.columns[items]]).astype(np.int32)
        self._blocks = by_slot(upper, keys[upper], pattern.starts(upper)[0], pattern)
        self._scalars = by_slot(scalar_upper, scalar_keys[scalar_upper], pattern.scalar.layout.place[scalar_upper],
                                pattern.scalar)

    def product(self, matrix: BlockMatrix, filter_: ConstraintFilter, *, grow: float = 1.0,
                dtype: Any = np.float64) -> tuple[FloatArray, FloatArray]:
        """Return diagonal blocks (count, 3, 3) times `grow`, and blocks (E, 3, 3) of the edges, as `dtype`."""
        total = np.empty((self._slots, 3, 3), dtype=dtype)
        current().multigrid.coarse_product(matrix.data, matrix.scalars, self._pattern.line, *self._blocks,
                                           *self._scalars, *filter_.numbered(), self.count, grow, total)
        return total[:self.count], total[self.count:]
