# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric matrices of 3x3 blocks on a fixed pattern, in compressed rows.

The pattern follows from the elements' vertices and never changes, so that a step only fills in numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import reference as kernels


class BlockPattern:
    """Which blocks exist, and where each element's blocks go.

    Args:
        vertex_count: block rows and columns.
        families: per element family its vertices (E, k).

    Attributes:
        row_starts (V + 1,), columns (N,): compressed rows, columns ascending; diagonal (V,): place of block (i, i);
        slots: per family the place (E * k * k,) of block (i, j) of each element, i before j.
    """

    def __init__(self, vertex_count: int, families: Sequence[IntArray]) -> None:
        own = np.arange(vertex_count) * (vertex_count + 1)
        self._families: list[IntArray] = []                     # kept, so that their identity stays theirs
        for family in families:
            if not any(family is known for known in self._families):
                self._families.append(family)
        keys = [(v[:, :, None] * vertex_count + v[:, None, :]).ravel() for v in self._families]
        pattern = np.unique(np.concatenate([own, *[np.unique(k) for k in keys]]))
        rows = pattern // vertex_count
        self.vertex_count = vertex_count
        self.columns: IntArray = pattern % vertex_count
        self.row_starts: IntArray = np.searchsorted(rows, np.arange(vertex_count + 1))
        self.diagonal: IntArray = np.searchsorted(pattern, own)
        self.slots: list[IntArray] = [np.searchsorted(pattern, k) for k in keys]

    def family(self, vertices: IntArray) -> int:
        """Number of the family with this very array of vertices, or with an equal one."""
        for number, known in enumerate(self._families):
            if known is vertices:
                return number
        for number, known in enumerate(self._families):
            if np.array_equal(known, vertices):
                return number
        raise KeyError("these elements are not in the pattern")


class BlockMatrix:
    """Blocks (9, N) on a pattern: entry 3 i + j of each block, which is the order the product reads."""

    def __init__(self, pattern: BlockPattern, blocks: FloatArray | None = None) -> None:
        self.pattern = pattern
        self.blocks = np.zeros((9, len(pattern.columns))) if blocks is None else blocks

    def add(self, family: int, element_blocks: FloatArray, factor: float = 1.0) -> None:
        """Add `factor` times the blocks (E, k, k, 3, 3) of a family's elements."""
        kernels.scatter_blocks(self.pattern.slots[family], element_blocks, factor, self.blocks)

    def add_diagonal(self, values: FloatArray) -> None:
        """Add to the diagonal: values (V,) times the identity, or blocks (V, 3, 3)."""
        at = self.pattern.diagonal
        if values.ndim == 1:
            for entry in (0, 4, 8):
                self.blocks[entry, at] += values
        else:
            self.blocks[:, at] += values.reshape(-1, 9).T

    def diagonal_blocks(self) -> FloatArray:
        """The blocks (i, i) as (V, 3, 3)."""
        return np.ascontiguousarray(self.blocks[:, self.pattern.diagonal].T).reshape(-1, 3, 3)

    def multiply(self, x: FloatArray) -> FloatArray:
        """A x for x (V, 3)."""
        return kernels.block_product(self.pattern.row_starts, self.pattern.columns, self.blocks, x)
