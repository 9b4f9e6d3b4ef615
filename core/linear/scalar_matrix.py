# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrices of scalars times the 3x3 identity, on a fixed pattern: the stiffness of constant, isotropic forces.

Bending couples a vertex to two rings of neighbours, 18 entries in a row of a grid. As scalars they are 18 numbers to
read in a product, as 3x3 blocks they would be 162.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import NUMBERS_PER_PIECE, FloatArray, IntArray
from ..kernels import current
from .padded_rows import padded_rows
from .sparsity import entries_of


class ScalarPattern:
    """The entries of a matrix of scalars.

    Args:
        vertex_count: rows and columns.
        families: per element family its vertices (E, k).

    Attributes:
        rows, columns: (N,), in lexicographic order.
        layout: places of the entries.
    """

    def __init__(self, vertex_count: int, families: Sequence[IntArray]) -> None:
        self.vertex_count = vertex_count
        self.rows, self.columns, self._places = entries_of(vertex_count, families)
        self.layout = padded_rows(self.rows, self.columns, vertex_count)

    def assemble(self, entries: Sequence[FloatArray]) -> FloatArray:
        """Return the values of a matrix, the sum of its families' entries (E, k, k), in the layout for `product`."""
        total = np.zeros(len(self.rows))
        for places, family in zip(self._places, entries, strict=True):
            flat = family.ravel()
            for first in range(0, len(flat), NUMBERS_PER_PIECE):   # elements of near numbers have few rows
                piece = slice(first, first + NUMBERS_PER_PIECE)
                some = places[piece]
                low, high = int(some.min()), int(some.max()) + 1
                total[low:high] += np.bincount(some - low, weights=flat[piece], minlength=high - low)
        values = np.zeros(self.layout.size)
        values[self.layout.place] = total
        return values

    def forget_elements(self) -> None:
        """Free the places that only `assemble` needs."""
        self._places = []

    def product(self, values: FloatArray, x: FloatArray) -> FloatArray:
        """Return K x for x (V, 3)."""
        result = np.zeros_like(x)
        self.add_product(values, x, result)
        return result

    def add_product(self, values: FloatArray, x: FloatArray, result: FloatArray) -> None:
        """Add K x to result, for x (V, 3)."""
        current().block_matrix.add_scalar_product(values, self.layout, x, result)
