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


class ScalarMatrix:
    """A matrix of scalars on a pattern.

    Attributes:
        values: (size,), in the layout of the pattern.
        row_sums: (V,), the sum of each row, known exactly from the parts of the matrix; None where all are zero.
    """

    def __init__(self, pattern: ScalarPattern, values: FloatArray, row_sums: FloatArray | None = None) -> None:
        self.pattern, self.values, self.row_sums = pattern, values, row_sums

    def product(self, x: FloatArray) -> FloatArray:
        """Return K x for x (V, 3)."""
        result = np.zeros_like(x)
        self.add_product(x, result)
        return result

    def add_product(self, x: FloatArray, result: FloatArray) -> None:
        """Add K x to result, for x (V, 3): sum_j K_ij (x_j - x_i) + r_i x_i with the sums r of the rows.

        A translation of elements with zero sums is multiplied by exactly zero, wherever they are.
        """
        current().block_matrix.add_scalar_product(self.values, self.pattern.layout, x, result)
        if self.row_sums is not None:
            result += self.row_sums[:, None] * x

    def __add__(self, other: ScalarMatrix) -> ScalarMatrix:
        """Return the sum of two matrices on one pattern."""
        sums = [part for part in (self.row_sums, other.row_sums) if part is not None]
        return ScalarMatrix(self.pattern, self.values + other.values, sum(sums[1:], start=sums[0]) if sums else None)

    def __rmul__(self, factor: float) -> ScalarMatrix:
        """Return `factor` times the matrix."""
        return ScalarMatrix(self.pattern, factor * self.values,
                            None if self.row_sums is None else factor * self.row_sums)


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

    def with_sums(self, values: FloatArray) -> ScalarMatrix:
        """Return the matrix of values (size,), with the sums of its rows as they are."""
        sums = np.bincount(self.rows, values[self.layout.place], self.vertex_count).astype(np.float64)
        return ScalarMatrix(self, values, sums)
