# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric matrices of 3x3 blocks on a fixed pattern, and beside them a matrix of scalars, A = blocks + scalar I.

The patterns follow from the elements' vertices and never change, so that a step only fills in numbers. A row's three
lines over all its blocks lie together, see `row_groups`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .row_groups import RowGroups
from .scalar_matrix import ScalarPattern


class BlockPattern:
    """Which blocks exist, and where each element's blocks go.

    Args:
        vertex_count: block rows and columns.
        families: per element family its vertices (E, k).
        scalar_families: of those elements whose blocks are constant scalars times the identity.

    Attributes:
        rows, columns (N,): the blocks, row by row, columns ascending; diagonal (V,): number of block (i, i) among them;
        layout: their rows, grouped by width; size: numbers in a matrix, padding included;
        slots: per family the number (E * k * k,) of block (i, j) of each element, i before j;
        entries (9, N): where entry 3 a + b of each block lies in the data;
        scalar: pattern of the scalar part.
    """

    def __init__(self, vertex_count: int, families: Sequence[IntArray],
                 scalar_families: Sequence[IntArray] = ()) -> None:
        own = np.arange(vertex_count) * (vertex_count + 1)
        self._families: list[IntArray] = []                     # kept, so that their identity stays theirs
        for family in families:
            if not any(family is known for known in self._families):
                self._families.append(family)
        keys = [(v[:, :, None] * vertex_count + v[:, None, :]).ravel() for v in self._families]
        pattern = np.unique(np.concatenate([own, *[np.unique(k) for k in keys]]))
        self.vertex_count = vertex_count
        self.rows: IntArray = pattern // vertex_count
        self.columns: IntArray = pattern % vertex_count
        self.diagonal: IntArray = np.searchsorted(pattern, own)
        self.slots: list[IntArray] = [np.searchsorted(pattern, k) for k in keys]
        self.layout = RowGroups.build(self.rows, self.columns, vertex_count)
        self.size = 9 * self.layout.size
        # a row of width w takes 9 w numbers: three lines of w blocks' rows
        start = 9 * self.layout.row_start[self.rows] + 3 * (self.layout.place - self.layout.row_start[self.rows])
        line = 3 * self.layout.row_width[self.rows]
        self.entries: IntArray = np.array([start + a * line + b for a in range(3) for b in range(3)])
        self.scalar = ScalarPattern(vertex_count, scalar_families)
        self._positions: dict[int, npt.NDArray[np.int32]] = {}
        self._fold(pattern)

    def family(self, vertices: IntArray) -> int:
        """Number of the family with this very array of vertices, or with an equal one."""
        for number, known in enumerate(self._families):
            if known is vertices:
                return number
        for number, known in enumerate(self._families):
            if np.array_equal(known, vertices):
                return number
        raise KeyError("these elements are not in the pattern")

    def positions(self, family: int) -> npt.NDArray[np.int32]:
        """Where in its row the block (i, j) of each element of a family lies: (E * k * k,), i before j."""
        if family not in self._positions:
            slots = self.slots[family]
            within = self.layout.place[slots] - self.layout.row_start[self.rows[slots]]
            self._positions[family] = within.astype(np.int32)
        return self._positions[family]

    def _fold(self, pattern: IntArray) -> None:
        """Which scalar entries have a block to go to, which are on the diagonal, and which are beyond the blocks."""
        keys = self.scalar.rows * self.vertex_count + self.scalar.columns
        at = np.minimum(np.searchsorted(pattern, keys), len(pattern) - 1)
        met = pattern[at] == keys
        place = self.scalar.layout.place
        self.scalar_met, self.met_block = place[met], at[met]
        self.scalar_far, self.far_row = place[~met], self.scalar.rows[~met]
        own = self.scalar.rows == self.scalar.columns
        self.scalar_diagonal, self.scalar_own = place[own], self.scalar.rows[own]


class BlockMatrix:
    """Numbers on a pattern: `data` (size,), per row three lines over all its blocks, and `scalar`, the values of
    the scalar part or None where there is none."""

    def __init__(self, pattern: BlockPattern, data: FloatArray | None = None,
                 scalar: FloatArray | None = None) -> None:
        self.pattern, self.scalar = pattern, scalar
        self.data = np.zeros(pattern.size) if data is None else data

    def add(self, family: int, element_blocks: FloatArray, factor: float = 1.0) -> None:
        """Add `factor` times the blocks (E, k, k, 3, 3) of a family's elements."""
        current().block_matrix.scatter_blocks(self.pattern.slots[family], element_blocks, factor, self.pattern.entries,
                                              self.data)

    def add_matrix(self, other: BlockMatrix, factor: float) -> None:
        """Add `factor` times another matrix on the same pattern."""
        self.data += factor * other.data
        if other.scalar is not None:
            part = factor * other.scalar
            self.scalar = part if self.scalar is None else self.scalar + part

    def add_diagonal(self, values: FloatArray) -> None:
        """Add to the diagonal: values (V,) times the identity, or blocks (V, 3, 3)."""
        at = self.pattern.entries[:, self.pattern.diagonal]
        if values.ndim == 1:
            for entry in (0, 4, 8):
                self.data[at[entry]] += values
        else:
            self.data[at] += values.reshape(-1, 9).T

    def blocks(self) -> FloatArray:
        """Blocks (N, 3, 3) in the order of the pattern's rows and columns, with the scalar part in them.

        Scalars between vertices that have no block go to the diagonal with their absolute value: the blocks stand for
        a matrix that is no less than this one, v^T blocks v >= v^T A v, and the same where there are none.
        """
        p = self.pattern
        blocks: FloatArray = self.data[p.entries.T].reshape(-1, 3, 3)
        if self.scalar is not None:
            total = np.bincount(p.met_block, weights=self.scalar[p.scalar_met], minlength=len(blocks))
            total[p.diagonal] += np.bincount(p.far_row, weights=np.abs(self.scalar[p.scalar_far]),
                                             minlength=p.vertex_count)
            for i in range(3):
                blocks[:, i, i] += total
        return blocks

    def diagonal_blocks(self) -> FloatArray:
        """The blocks (i, i) of A as (V, 3, 3)."""
        p = self.pattern
        blocks: FloatArray = self.data[p.entries[:, p.diagonal].T].reshape(-1, 3, 3)
        if self.scalar is not None:
            for i in range(3):
                blocks[p.scalar_own, i, i] += self.scalar[p.scalar_diagonal]
        return blocks

    def multiply(self, x: FloatArray) -> FloatArray:
        """A x for x (V, 3)."""
        result = np.empty_like(x)
        for group in self.pattern.layout.groups:
            n, width = group.columns.shape
            lines = self.data[9 * group.start:9 * (group.start + n * width)].reshape(n, 3, 3 * width)
            current().block_matrix.block_product(lines, group.columns, group.rows, x, result)
        if self.scalar is not None:
            self.pattern.scalar.add_product(self.scalar, x, result)
        return result
