# SPDX-License-Identifier: GPL-3.0-or-later
"""A matrix of which only the diagonal is assembled: products with the rest are made by elements, scatter(H gather d)
(000).

It has the interface of `BlockMatrix`. Masses, drag and contacts are blocks on the diagonal; constant isotropic
stiffness is a matrix of scalars that is assembled once. Elements keep only H, and springs only {k, l, alpha, d}.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .block_matrix import BlockMatrix, BlockPattern, unit_translations
from .scalar_matrix import ScalarMatrix
from .side_operator import SideOperator


class Elements(Protocol):
    """A stencil: columns F_c = sum_i w_ic x_i, with vertices (E, k) and weights (E, k, C)."""

    @property
    def vertices(self) -> IntArray:
        """Return the vertices (E, k) of the elements."""

    @property
    def weights(self) -> FloatArray:
        """Return the weights (E, k, C) of the elements."""


class Part(Protocol):
    """The contribution of some elements to the matrix."""

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add K x to total (V, 3)."""

    def add_diagonal(self, blocks: FloatArray) -> None:
        """Add the blocks (i, i) of K to blocks (V, 3, 3)."""

    @property
    def nbytes(self) -> int:
        """Return the memory that is kept for products [bytes]."""


class ImplicitMatrix(BlockMatrix):
    """A = diagonal blocks and scalars of a `BlockMatrix` + `parts`, on a pattern with diagonal blocks only."""

    assembled = False

    def __init__(self, pattern: BlockPattern, scalar: ScalarMatrix | None, parts: Sequence[Part],
                 beside: SideOperator | None = None) -> None:
        super().__init__(pattern, None, scalar, beside)
        self.parts = parts

    def translations(self) -> FloatArray:
        """Return A t (3, V, 3) for the unit translations t along the axes."""
        result = super().translations()
        for t, total in zip(unit_translations(len(self.row_sums)), result, strict=True):
            for part in self.parts:
                part.add_product(t, total)
        return result

    def multiply(self, x: FloatArray) -> FloatArray:
        """Return A x for x (V, 3)."""
        total = super().multiply(x)
        for part in self.parts:
            part.add_product(x, total)
        return total

    def diagonal_blocks(self) -> FloatArray:
        """Return the blocks (i, i) of A, (V, 3, 3)."""
        blocks = super().diagonal_blocks()
        for part in self.parts:
            part.add_diagonal(blocks)
        return blocks

    def diagonal(self) -> BlockMatrix:
        """Return the matrix of the diagonal blocks, for a preconditioner."""
        alone = BlockMatrix(self.pattern)
        alone.add_diagonal(self.diagonal_blocks())
        return alone


class ElementProduct:
    """The matrix of the elements of a stencil with H (E, C (C + 1) / 2, 9), blocks c <= d row by row."""

    def __init__(self, stencil: Elements, H: FloatArray) -> None:
        self._stencil, self._H = stencil, H

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add K x to total (V, 3)."""
        current().matrix_free.add_element_product(self._stencil, self._H, x, total)

    def add_diagonal(self, blocks: FloatArray) -> None:
        """Add the blocks (i, i) of K to blocks (V, 3, 3)."""
        vertices, w = self._stencil.vertices, self._stencil.weights
        C = w.shape[2]
        H = self._H.reshape(*self._H.shape[:2], 3, 3)
        for i in range(w.shape[1]):
            block, number = np.zeros((len(w), 3, 3)), 0
            for c in range(C):
                for d in range(c, C):
                    both = H[:, number] if c == d else H[:, number] + H[:, number].transpose(0, 2, 1)
                    block += (w[:, i, c] * w[:, i, d])[:, None, None] * both
                    number += 1
            _add_rows(blocks, vertices[:, i], block)
        _add_repeated(blocks, self._stencil, H)

    @property
    def nbytes(self) -> int:
        """Memory that is kept for products [bytes]."""
        return self._H.nbytes


class OuterProduct:
    """The matrix with block sum_q q q^T for any two corners of an element, also for a corner and itself.

    Each element has R vectors q (E, R, 3).
    """

    def __init__(self, stencil: Elements, q: FloatArray) -> None:
        self._stencil, self._q = stencil, q

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add K x to total (V, 3)."""
        force = np.zeros_like(total)
        current().drag.add_force(self._stencil, self._q, x, force)
        total -= force

    def add_diagonal(self, blocks: FloatArray) -> None:
        """Add the blocks (i, i) of K to blocks (V, 3, 3)."""
        outer = np.einsum("era,erb->eab", self._q, self._q)
        for corner in self._stencil.vertices.T:
            _add_rows(blocks, corner, outer)

    @property
    def nbytes(self) -> int:
        """Memory that is kept for products [bytes]."""
        return self._q.nbytes


def _add_rows(blocks: FloatArray, rows: IntArray, added: FloatArray) -> None:
    for a in range(3):
        for b in range(3):
            blocks[:, a, b] += np.bincount(rows, weights=added[:, a, b], minlength=len(blocks))


def _add_repeated(blocks: FloatArray, stencil: Elements, H: FloatArray) -> None:
    """Add the coupling of the two corners of elements that have one vertex twice, as one-sided differences do."""
    vertices, w = stencil.vertices, stencil.weights
    k, C = w.shape[1], w.shape[2]
    for i in range(k):
        for j in range(k):
            if i == j:
                continue
            same = np.flatnonzero(vertices[:, i] == vertices[:, j])
            if len(same) == 0:
                continue
            block, number = np.zeros((len(same), 3, 3)), 0
            for c in range(C):
                for d in range(c, C):
                    part = H[same, number]
                    block += (w[same, i, c] * w[same, j, d])[:, None, None] * part
                    if d > c:
                        block += (w[same, i, d] * w[same, j, c])[:, None, None] * part.transpose(0, 2, 1)
                    number += 1
            _add_rows(blocks, vertices[same, i], block)
