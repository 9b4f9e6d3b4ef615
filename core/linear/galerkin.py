# SPDX-License-Identifier: GPL-3.0-or-later
"""The Galerkin product of groups of vertices that move as one.

    A_IJ = sum_{i in I, j in J} S_i A_ij S_j  +  delta_IJ sum_{i in I} d_i (I - S_i)

Which blocks add up where follows from the pattern and the groups and is found once; a step only adds up numbers. The
last term keeps a group whose every vertex is held from having no stiffness; where nothing is held it is zero. d_i is a
third of the trace of A_ii without its scalar part; no iteration count depends on it.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .block_matrix import BlockMatrix, BlockPattern
from .constraint_filter import ConstraintFilter


class CoarsePattern:
    """Where the blocks of a pattern go.

    Args:
        pattern: of the fine matrix.
        group: (V,), every vertex's group, numbered from 0.

    Attributes:
        count: groups; edges (E, 2): pairs of groups with a block, the smaller first.
    """

    def __init__(self, pattern: BlockPattern, group: IntArray) -> None:
        self._pattern, n = pattern, int(group.max()) + 1
        self.count = n
        keys, scalar_keys = (group[p.rows] * n + group[p.columns] for p in (pattern, pattern.scalar))
        upper, scalar_upper = (np.flatnonzero(k // n <= k % n) for k in (keys, scalar_keys))
        own = np.arange(n) * (n + 1)
        there = np.unique(np.concatenate([own, keys[upper], scalar_keys[scalar_upper]]))
        self._diagonal: IntArray = np.searchsorted(there, own)
        self._off: IntArray = np.flatnonzero(there // n != there % n)
        self.edges: IntArray = np.column_stack([there // n, there % n])[self._off]
        self._slots = len(there)
        self._group = group
        self._blocks, self._slot, self._starts = _by_slot(upper, np.searchsorted(there, keys[upper]))
        self._scalars, self._scalar_slot, self._scalar_starts = _by_slot(
            scalar_upper, np.searchsorted(there, scalar_keys[scalar_upper]))
        self._place, self._line = pattern.starts(self._blocks)
        self._scalar_place: IntArray = pattern.scalar.layout.place[self._scalars]

    def product(self, matrix: BlockMatrix, filter_: ConstraintFilter) -> tuple[FloatArray, FloatArray]:
        """Diagonal blocks (count, 3, 3) and blocks (E, 3, 3) of the edges."""
        total = np.zeros((self._slots, 3, 3))
        slots = self._slot[self._starts]
        total[slots] = current().multigrid.sum_blocks(matrix.data, self._place, self._line, self._starts)
        if matrix.scalar is not None and len(self._scalars):
            sums = np.add.reduceat(matrix.scalar[self._scalar_place], self._scalar_starts)
            total[self._scalar_slot[self._scalar_starts]] += sums[:, None, None] * np.eye(3)
        if len(filter_.rows):
            self._hold(total, matrix, filter_)
        diagonal = total[self._diagonal]
        return 0.5 * (diagonal + diagonal.transpose(0, 2, 1)), total[self._off]

    def _hold(self, total: FloatArray, matrix: BlockMatrix, filter_: ConstraintFilter) -> None:
        """Change the sums of all blocks to those of S_i A_ij S_j, and add what held directions are worth."""
        p, rows = self._pattern, filter_.rows
        held = np.zeros(p.vertex_count, dtype=np.bool_)
        held[rows] = True
        number = np.zeros(p.vertex_count, dtype=np.int64)             # of a vertex among the projections S
        number[rows] = 1 + np.arange(len(rows))
        taken = np.einsum("nki,nkj->nij", filter_.taken, filter_.taken)
        S = np.concatenate([np.eye(3)[None], np.eye(3) - taken])
        some = np.flatnonzero((held[p.rows] | held[p.columns])[self._blocks])
        at, place, line = self._blocks[some], self._place[some], self._line[some]
        three = np.arange(3)
        A = matrix.data[place[:, None, None] + three[:, None] * line[:, None, None] + three]
        change = S[number[p.rows[at]]] @ A @ S[number[p.columns[at]]] - A
        _add_at(total, self._slot[some], change)
        if matrix.scalar is not None and len(self._scalars):
            s = p.scalar
            some = np.flatnonzero((held[s.rows] | held[s.columns])[self._scalars])
            at = self._scalars[some]
            both = S[number[s.rows[at]]] @ S[number[s.columns[at]]] - np.eye(3)
            _add_at(total, self._scalar_slot[some], matrix.scalar[self._scalar_place[some], None, None] * both)
        size = matrix.data[p.places(p.diagonal[rows])[::4]].sum(axis=0) / 3.0
        _add_at(total, self._diagonal[self._group[rows]], size[:, None, None] * taken)


def _by_slot(items: IntArray, slots: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Items sorted by their slot, the slots in that order, and where each slot that has any begins."""
    order = np.argsort(slots, kind="stable")
    slots = slots[order]
    return items[order], slots, np.flatnonzero(np.diff(slots, prepend=-1))


def _add_at(total: FloatArray, slots: IntArray, blocks: FloatArray) -> None:
    """total[slots] += blocks (n, 3, 3), slots with repetitions."""
    there, inverse = np.unique(slots, return_inverse=True)
    for i in range(3):
        for j in range(3):
            total[there, i, j] += np.bincount(inverse.reshape(-1), weights=blocks[:, i, j], minlength=len(there))
