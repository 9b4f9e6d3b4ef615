# SPDX-License-Identifier: GPL-3.0-or-later
"""Reduce a matrix to its diagonal and the blocks between neighbours; the other blocks are added to the diagonal.

    near = S (A_near + sum_far |A_ij| I) S + d (I - S),      d_i = trace(A_ii) / 3

The places of blocks are found once; a step makes one pass over the numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .block_matrix import BlockMatrix, BlockPattern
from .constraint_filter import ConstraintFilter

Numbers = npt.NDArray[np.int32]


class NeighbourBlocks:
    """The places of near and far blocks and of scalars of a pattern.

    Args:
        pattern: of the matrices.
        edges: (E, 2), pairs of neighbours; pairs without a block are left out.

    Attributes:
        edges: (E, 2), the pairs that have a block, the smaller number first.
    """

    def __init__(self, pattern: BlockPattern, edges: IntArray) -> None:
        n = pattern.vertex_count
        keys = pattern.rows * n + pattern.columns
        wanted = np.unique(np.minimum(*edges.T) * n + np.maximum(*edges.T))
        edges = np.column_stack(np.divmod(wanted, n))
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        there = keys[place] == wanted                              # an edge without stiffness has no block
        self.edges, near = edges[there], place[there]
        far = np.ones(len(keys), dtype=np.bool_)
        far[pattern.diagonal] = far[near] = False
        far[np.searchsorted(keys, self.edges[:, 1] * n + self.edges[:, 0])] = False
        far_blocks = np.flatnonzero(far)

        scalar = np.full(len(keys), -1)                            # place of each block's scalar, if it has one
        met_place, met, beyond, beyond_row = pattern.folded()
        scalar[met] = met_place

        def places(blocks: IntArray) -> Numbers:
            return np.column_stack([pattern.starts(blocks)[0], scalar[blocks]]).astype(np.int32)

        self._pattern, self._near = pattern, places(near)
        rows = np.concatenate([pattern.rows[far_blocks], beyond_row])
        order = np.argsort(rows, kind="stable")
        alone = np.column_stack([np.full(len(beyond), -1), beyond]).astype(np.int32)
        self._far: Numbers = np.concatenate([places(far_blocks), alone])[order]
        self._far_starts: IntArray = np.searchsorted(rows[order], np.arange(n + 1))

    def of(self, matrix: BlockMatrix, filter_: ConstraintFilter, *, grow: float = 1.0,
           dtype: Any = np.float64) -> tuple[FloatArray, FloatArray]:
        """Return diagonal blocks (V, 3, 3) times `grow`, and blocks (E, 3, 3) of the edges, as `dtype`."""
        p = self._pattern
        diagonal = np.empty((p.vertex_count, 3, 3), dtype=dtype)
        off = np.empty((len(self._near), 3, 3), dtype=dtype)
        current().block_matrix.neighbour_blocks(matrix.data, matrix.scalars, p.line, p.own_places, self.edges,
                                                self._near, self._far_starts, self._far, *filter_.numbered(), grow,
                                                diagonal, off)
        return diagonal, off
