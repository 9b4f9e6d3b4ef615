# SPDX-License-Identifier: GPL-3.0-or-later
"""Products with a matrix, alone or with what contacts add to it, as functions that compiled kernels have, too."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..kernels.layouts import OperatorArrays, PackedRows
from .block_matrix import BlockMatrix, unit_translations

PairTerms = tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray]
"""Terms of contacts as the kernels `pair_penalty` take them: vertices and weights (P, 4), n (P, 3), a and b (P,)."""


class Product(Protocol):
    """x -> A x for x (V, 3)."""

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return A x (V, 3)."""

    def translations(self) -> FloatArray:
        """Return A t (3, V, 3) for the unit translations t along the axes."""


class Assembled:
    """x -> A x for x (V, 3), with the numbers that A has when it is called."""

    def __init__(self, matrix: BlockMatrix) -> None:
        self._matrix = matrix

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return A x (V, 3)."""
        return self._matrix.multiply(x)

    def translations(self) -> FloatArray:
        """Return A t (3, V, 3) for the unit translations t along the axes."""
        return self._matrix.translations()

    @property
    def arrays(self) -> OperatorArrays | None:
        """Return it as compiled kernels take it, None if A has parts that are not assembled."""
        A, p = self._matrix, self._matrix.pattern
        if A.beside is not None or not A.assembled:
            return None
        scalar = A.data[:0] if A.scalar is None else A.scalar
        rows, scalars = p.layout, p.scalar.layout
        return OperatorArrays("assembled", ((
            A.data, rows.row_start, rows.row_width, rows.columns, scalar, scalars.row_start, scalars.row_width,
            scalars.columns, A.row_sums), _no_pairs()))


class Packed:
    """x -> A x for x (V, 3): the packed copy of A in `rows`, plus the parts of A that are not assembled."""

    def __init__(self, rows: PackedRows, matrix: BlockMatrix) -> None:
        self._rows, self._matrix, self._beside = rows, matrix, matrix.beside

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return A x (V, 3)."""
        kernels = current().packed                                   # there are none in NumPy
        result: FloatArray = kernels.product(self._rows, x)
        if self._beside is not None:
            self._beside.add_product(x, result)
        return result

    def translations(self) -> FloatArray:
        """Return A t (3, V, 3) for the unit translations t along the axes, which the copy does not change."""
        return self._matrix.translations()

    @property
    def arrays(self) -> OperatorArrays | None:
        """Return it as compiled kernels take it, None if A has parts that are not assembled."""
        rows = self._rows
        return None if self._beside is not None else OperatorArrays("packed", ((
            rows.row_starts, rows.columns, rows.blocks, rows.diagonal, rows.far_starts, rows.far_columns, rows.far),
            _no_pairs()))


class PairProduct(Protocol):
    """The off-diagonal blocks that pairs in contact add to A."""

    def terms(self) -> PairTerms:
        """Return its terms."""

    def add_product(self, x: FloatArray, result: FloatArray) -> None:
        """Add its product with x (V, 3) to result (V, 3)."""


class WithPairs:
    """x -> A x + C x for x (V, 3), with a `multiply` of A that has the diagonal blocks of C already."""

    def __init__(self, multiply: Product, pairs: PairProduct) -> None:
        self._multiply, self._pairs = multiply, pairs

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return A x + C x (V, 3)."""
        result = self._multiply(x)
        self._pairs.add_product(x, result)
        return result

    def translations(self) -> FloatArray:
        """Return (A + C) t (3, V, 3) for the unit translations t along the axes."""
        result = self._multiply.translations()
        for t, total in zip(unit_translations(result.shape[1]), result, strict=True):
            self._pairs.add_product(t, total)
        return result

    @property
    def arrays(self) -> OperatorArrays | None:
        """Return it as compiled kernels take it, None if they do not have the product with A."""
        alone: OperatorArrays | None = getattr(self._multiply, "arrays", None)
        return None if alone is None else OperatorArrays(alone.kind, (alone.arrays[0], self._pairs.terms()))


def _no_pairs() -> PairTerms:
    return np.zeros((0, 4), dtype=np.int64), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0), np.zeros(0)
