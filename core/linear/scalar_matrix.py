# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices of scalars times the 3x3 identity, on a fixed pattern: what forces of constant, isotropic stiffness make.

Bending reaches two rings of vertices, 18 entries to a row of a grid. Kept as scalars they are 18 numbers to read in a
product, as 3x3 blocks they would be 162.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .row_groups import RowGroups


class ScalarPattern:
    """Which entries exist.

    Args:
        vertex_count: rows and columns.
        families: per element family its vertices (E, k).

    Attributes:
        rows, columns (N,): in lexicographic order; layout: where each lies.
    """

    def __init__(self, vertex_count: int, families: Sequence[IntArray]) -> None:
        keys = [(v[:, :, None] * vertex_count + v[:, None, :]).ravel() for v in families]
        pattern, place = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *keys]), return_inverse=True)
        self.vertex_count = vertex_count
        self.rows: IntArray = pattern // vertex_count
        self.columns: IntArray = pattern % vertex_count
        self.layout = RowGroups.build(self.rows, self.columns, vertex_count)
        self._place = place.reshape(-1)

    def assemble(self, entries: Sequence[FloatArray]) -> FloatArray:
        """Values of a matrix from its families' entries (E, k, k), added up, laid out for `product`."""
        flat = np.concatenate([np.zeros(0), *(e.ravel() for e in entries)])
        values = np.zeros(self.layout.size)
        values[self.layout.place] = np.bincount(self._place, weights=flat, minlength=len(self.rows))
        return values

    def product(self, values: FloatArray, x: FloatArray) -> FloatArray:
        """K x for x (V, 3)."""
        result = np.zeros_like(x)
        self.add_product(values, x, result)
        return result

    def add_product(self, values: FloatArray, x: FloatArray, result: FloatArray) -> None:
        """result += K x for x (V, 3)."""
        for group in self.layout.groups:
            lines = values[group.start:group.start + group.columns.size].reshape(group.columns.shape)
            current().block_matrix.add_scalar_product(lines, group.columns, group.rows, x, result)
