# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric matrices of 3x3 blocks on a fixed pattern.

The pattern follows from the elements' vertices and never changes, so that a step only fills in numbers. Rows with
about as many blocks are stored together, padded to one width: the product then reads the numbers in the order they lie
in and needs no sum over ragged rows (five times quicker in NumPy than compressed rows on a sheet of 3,600 vertices).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current

WIDTH_STEP = 4
"""Rows are padded to the next multiple of this many blocks."""


@dataclass(frozen=True)
class RowGroup:
    """n rows of equal width: rows (n,), columns (n, width) with the row itself as padding, start in the data."""

    rows: IntArray
    columns: IntArray
    start: int

    @property
    def size(self) -> int:
        """Numbers this group takes in the data."""
        return 9 * self.columns.size


class BlockPattern:
    """Which blocks exist, and where each element's blocks go.

    Args:
        vertex_count: block rows and columns.
        families: per element family its vertices (E, k).

    Attributes:
        rows, columns (N,): the blocks, row by row, columns ascending; diagonal (V,): number of block (i, i) among them;
        groups: rows of one width each; size: numbers in a matrix, padding included;
        slots: per family the number (E * k * k,) of block (i, j) of each element, i before j;
        entries (9, N): where entry 3 a + b of each block lies in the data.
    """

    def __init__(self, vertex_count: int, families: Sequence[IntArray]) -> None:
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
        self._group_rows()

    def family(self, vertices: IntArray) -> int:
        """Number of the family with this very array of vertices, or with an equal one."""
        for number, known in enumerate(self._families):
            if known is vertices:
                return number
        for number, known in enumerate(self._families):
            if np.array_equal(known, vertices):
                return number
        raise KeyError("these elements are not in the pattern")

    def _group_rows(self) -> None:
        starts = np.searchsorted(self.rows, np.arange(self.vertex_count + 1))
        lengths = np.diff(starts)
        widths = -(-lengths // WIDTH_STEP) * WIDTH_STEP
        self.groups: list[RowGroup] = []
        place = np.empty(len(self.columns), dtype=np.int64)               # of a block's first entry
        self.size = 0
        for width in np.unique(widths):
            rows = np.flatnonzero(widths == width)
            columns = np.repeat(rows[:, None], width, axis=1)
            filled = np.arange(width) < lengths[rows][:, None]
            blocks = np.flatnonzero(widths[self.rows] == width)           # in row order, as `filled` counts them
            columns[filled] = self.columns[blocks]
            at = np.arange(len(rows))[:, None] * (9 * width) + 3 * np.arange(width)
            place[blocks] = self.size + at[filled]
            self.groups.append(RowGroup(rows, columns, self.size))
            self.size += 9 * columns.size
        line = 3 * widths[self.rows]                                      # from one of a block's lines to the next
        self.entries: IntArray = np.array([place + a * line + b for a in range(3) for b in range(3)])


class BlockMatrix:
    """Numbers on a pattern: `data` (size,), per group (rows, 3, 3 width), a row's three lines over all its blocks."""

    def __init__(self, pattern: BlockPattern, data: FloatArray | None = None) -> None:
        self.pattern = pattern
        self.data = np.zeros(pattern.size) if data is None else data

    def add(self, family: int, element_blocks: FloatArray, factor: float = 1.0) -> None:
        """Add `factor` times the blocks (E, k, k, 3, 3) of a family's elements."""
        current().block_matrix.scatter_blocks(self.pattern.slots[family], element_blocks, factor, self.pattern.entries, self.data)

    def add_diagonal(self, values: FloatArray) -> None:
        """Add to the diagonal: values (V,) times the identity, or blocks (V, 3, 3)."""
        at = self.pattern.entries[:, self.pattern.diagonal]
        if values.ndim == 1:
            for entry in (0, 4, 8):
                self.data[at[entry]] += values
        else:
            self.data[at] += values.reshape(-1, 9).T

    def blocks(self) -> FloatArray:
        """All blocks (N, 3, 3) in the order of the pattern's rows and columns."""
        return self.data[self.pattern.entries.T].reshape(-1, 3, 3)

    def diagonal_blocks(self) -> FloatArray:
        """The blocks (i, i) as (V, 3, 3)."""
        return self.data[self.pattern.entries[:, self.pattern.diagonal].T].reshape(-1, 3, 3)

    def multiply(self, x: FloatArray) -> FloatArray:
        """A x for x (V, 3)."""
        result = np.empty_like(x)
        for group in self.pattern.groups:
            n, width = group.columns.shape
            lines = self.data[group.start:group.start + group.size].reshape(n, 3, 3 * width)
            result[group.rows] = current().block_matrix.block_product(lines, group.columns, x)
        return result
