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
from .padded_rows import padded_rows
from .sparsity import entries_of

PIECE = 1 << 20
"""Numbers added up at a time [-]."""


class ScalarPattern:
    """Which entries exist.

    Args:
        vertex_count: rows and columns.
        families: per element family its vertices (E, k).

    Attributes:
        rows, columns (N,): in lexicographic order; layout: where each lies.
    """

    def __init__(self, vertex_count: int, families: Sequence[IntArray]) -> None:
        self.vertex_count = vertex_count
        self.rows, self.columns, self._places = entries_of(vertex_count, families)
        self.layout = padded_rows(self.rows, self.columns, vertex_count)

    def assemble(self, entries: Sequence[FloatArray]) -> FloatArray:
        """Values of a matrix from its families' entries (E, k, k), added up, laid out for `product`."""
        total = np.zeros(len(self.rows))
        for places, family in zip(self._places, entries, strict=True):
            flat = family.ravel()
            for first in range(0, len(flat), PIECE):               # where neighbours are near in number, few rows each
                some = places[first:first + PIECE]
                low, high = int(some.min()), int(some.max()) + 1
                total[low:high] += np.bincount(some - low, weights=flat[first:first + PIECE], minlength=high - low)
        values = np.zeros(self.layout.size)
        values[self.layout.place] = total
        return values

    def forget_elements(self) -> None:
        """Drop what only `assemble` needs."""
        self._places = []

    def product(self, values: FloatArray, x: FloatArray) -> FloatArray:
        """K x for x (V, 3)."""
        result = np.zeros_like(x)
        self.add_product(values, x, result)
        return result

    def add_product(self, values: FloatArray, x: FloatArray, result: FloatArray) -> None:
        """result += K x for x (V, 3)."""
        current().block_matrix.add_scalar_product(values, self.layout, x, result)
