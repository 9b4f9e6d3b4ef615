# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric matrices of 3x3 blocks on a fixed pattern, plus a matrix of scalars: A = blocks + scalars I.

The patterns follow from the vertices of elements and never change, so that a step only writes numbers. The three lines
of a row, each over all its blocks, are contiguous, see `padded_rows`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..kernels.layouts import PackedRows
from .padded_rows import padded_rows
from .scalar_matrix import ScalarMatrix, ScalarPattern
from .side_operator import SideOperator
from .sparsity import entries_of


class BlockPattern:
    """The blocks of a matrix, and the places of each element's blocks. Fixed for a simulation.

    Args:
        vertex_count: block rows and columns.
        families: per element family its vertices (E, k).
        scalar_families: vertices of the families whose blocks are constant scalars times the identity.
        hub_counts: per family the number of leading vertices that are coupled to all (see `entries_of`).

    Attributes:
        rows, columns: (N,), of the blocks, row by row, columns ascending.
        diagonal: (V,), number of block (i, i) among them.
        layout: their rows, in groups of one width.
        size: numbers in a matrix, padding included.
        scalar: pattern of the scalar part.
    """

    def __init__(self, vertex_count: int, families: Sequence[IntArray],
                 scalar_families: Sequence[IntArray] = (), hub_counts: Sequence[int | None] | None = None) -> None:
        self._families: list[IntArray] = []                     # each once
        self._hub_counts: list[int | None] = []
        for family, hub_count in zip(families, hub_counts or [None] * len(families), strict=True):
            self._add_family(family, hub_count)
        self.vertex_count = vertex_count
        self.rows, self.columns, self._positions = entries_of(vertex_count, self._families, diagonal=True,
                                                              hub_counts=self._hub_counts)
        self.diagonal: IntArray = np.flatnonzero(self.rows == self.columns)
        self.layout = padded_rows(self.rows, self.columns, vertex_count)
        self.size = 9 * self.layout.size
        row_start = np.searchsorted(self.rows, np.arange(vertex_count))
        for vertices, places in zip(self._families, self._positions, strict=True):
            places.reshape(-1, vertices.shape[1])[:] -= row_start[vertices.reshape(-1, 1)]
        self.scalar = ScalarPattern(vertex_count, scalar_families)
        own = np.flatnonzero(self.scalar.rows == self.scalar.columns)
        self.scalar_diagonal, self.scalar_own = self.scalar.layout.place[own], self.scalar.rows[own]

    def _add_family(self, vertices: IntArray, hub_count: int | None) -> None:
        number = self._find(vertices)
        if number is None:
            self._families.append(vertices)
            self._hub_counts.append(hub_count)
        elif self._hub_counts[number] != hub_count:
            self._hub_counts[number] = None                          # the family that couples all vertices decides

    def _find(self, vertices: IntArray) -> int | None:
        equal = (n for n, known in enumerate(self._families) if known is vertices or np.array_equal(known, vertices))
        return next(equal, None)

    def family(self, vertices: IntArray) -> int:
        """Return the number of the family with these vertices (E, k)."""
        number = self._find(vertices)
        if number is None:
            raise KeyError("these elements are not in the pattern")
        return number

    def vertices(self, family: int) -> IntArray:
        """Return the vertices (E, k) of a family."""
        return self._families[family]

    def positions(self, family: int) -> npt.NDArray[np.int32]:
        """Return where in its row the block (i, j) of each element of a family is: (E * k * k,), i before j."""
        return self._positions[family]

    # Places of numbers in the data: a row of w blocks takes 9 w numbers, three lines of 3 w

    def places(self, blocks: IntArray) -> IntArray:
        """Return the place in the data of entry 3 a + b of each of `blocks` (n,): (9, n)."""
        start, line = self.starts(blocks)
        places: IntArray = np.array([start + (a * line + b) for a in range(3) for b in range(3)])
        return places

    def starts(self, blocks: IntArray) -> tuple[IntArray, IntArray]:
        """Return where `blocks` (n,) begin in the data, and the distance of the three lines of each: (n,) each."""
        rows = self.rows[blocks]
        return 3 * self.layout.place[blocks] + 6 * self.layout.row_start[rows], 3 * self.layout.row_width[rows]

    @cached_property
    def own_places(self) -> npt.NDArray[np.int32]:
        """Return (V, 2): where each diagonal block begins in `data`, and the index of its scalar, -1 without one."""
        places = np.full((self.vertex_count, 2), -1, dtype=np.int32)
        places[:, 0] = self.starts(self.diagonal)[0]
        places[self.scalar_own, 1] = self.scalar_diagonal
        return places

    @cached_property
    def line(self) -> npt.NDArray[np.int32]:
        """Return the distance (V,) of the three lines of a block in the data, for each block row."""
        line: npt.NDArray[np.int32] = (3 * self.layout.row_width).astype(np.int32)
        return line

    def folded(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return places of scalars that have a block, and the block's number; places of other scalars, and their rows.

        Computed in each call, because it is needed rarely and takes much memory.
        """
        n, scalar = self.vertex_count, self.scalar
        pattern, keys = self.rows * n + self.columns, scalar.rows * n + scalar.columns
        at = np.minimum(np.searchsorted(pattern, keys), len(pattern) - 1)
        met = pattern[at] == keys
        return scalar.layout.place[met], at[met], scalar.layout.place[~met], scalar.rows[~met]

    @cached_property
    def packed_rows(self) -> PackedRows:
        """Return the layout of a packed matrix of this pattern, with a workspace for its numbers."""
        V, layout = self.vertex_count, self.layout
        met, block, far, far_rows = self.folded()
        beside = np.full(layout.size, -1, dtype=np.int32)
        beside[layout.place[block]] = met
        others = self.rows != self.columns
        columns = self.columns[others].astype(np.int32)
        return PackedRows(
            layout, beside, _row_starts(self.rows[others], V), columns,
            _row_starts(far_rows, V), far.astype(np.int32), self.scalar.layout.columns[far],
            blocks=np.zeros(9 * len(columns) + 1, dtype=np.float32),      # a vector reads one number more
            diagonal=np.zeros((V, 3, 3)), far=np.zeros(len(far), dtype=np.float32))


class BlockMatrix:
    """The numbers of a matrix on a pattern.

    Attributes:
        data: (size,), per row three lines over all its blocks.
        scalar: values of the scalar part, None if it is zero.
        row_sums: (V, 3, 3), the sum of the blocks of each row, known exactly from the parts of the matrix: stiffness
            between vertices adds zero. Products use it for the effect of A on translations.
        beside: operator that products contain and no number of the matrix; None for none.
        assembled: True; a matrix of which only the diagonal is stored (`ImplicitMatrix`) has False.
    """

    assembled = True

    def __init__(self, pattern: BlockPattern, data: FloatArray | None = None,
                 scalar: ScalarMatrix | None = None, beside: SideOperator | None = None) -> None:
        self.pattern, self.scalar, self.beside = pattern, None if scalar is None else scalar.values, beside
        self.data = np.zeros(pattern.size) if data is None else data
        self.row_sums = np.zeros((pattern.vertex_count, 3, 3))
        if scalar is not None and scalar.row_sums is not None:
            self.row_sums[:, [0, 1, 2], [0, 1, 2]] = scalar.row_sums[:, None]

    @property
    def scalars(self) -> FloatArray:
        """Return the values of the scalar part; zeros if it is None."""
        return np.zeros(self.pattern.scalar.layout.size) if self.scalar is None else self.scalar

    def add(self, family: int, element_blocks: FloatArray, factor: float = 1.0) -> None:
        """Add `factor` times the blocks (E, k, k, 3, 3) of a family's elements."""
        p = self.pattern
        current().block_matrix.add_element_blocks(p.vertices(family), p.positions(family), factor * element_blocks,
                                                  p.layout, self.data)
        flat, sums = p.vertices(family).ravel(), factor * element_blocks.sum(axis=2).reshape(-1, 9)
        rows: FloatArray = np.stack([np.bincount(flat, weights=entry, minlength=p.vertex_count) for entry in sums.T],
                                    axis=1)
        self.add_row_sums(rows.reshape(-1, 3, 3))

    def add_row_sums(self, blocks: FloatArray) -> None:
        """Add blocks (V, 3, 3) to the sums of the rows, of elements that are added to `data` by kernels."""
        self.row_sums += blocks

    def add_diagonal(self, values: FloatArray) -> None:
        """Add to the diagonal: values (V,) times the identity, or blocks (V, 3, 3)."""
        kernels, start, line = current().block_matrix, self.pattern.own_places[:, 0], self.pattern.line
        add = kernels.add_multiples if values.ndim == 1 else kernels.add_diagonal
        add(start, line, values, self.data, self.row_sums)

    def blocks(self) -> FloatArray:
        """Return the blocks (N, 3, 3) in the order of the pattern's rows and columns, with the scalar part added.

        Absolute values of scalars without a block are added to the diagonal, so that v^T blocks v >= v^T A v. Without
        such scalars the blocks are A.
        """
        p = self.pattern
        blocks: FloatArray = self.data[p.places(np.arange(len(p.rows))).T].reshape(-1, 3, 3)
        if self.scalar is not None:
            met, block, far, row = p.folded()
            total = np.bincount(block, weights=self.scalar[met], minlength=len(blocks))
            total[p.diagonal] += np.bincount(row, weights=np.abs(self.scalar[far]), minlength=p.vertex_count)
            for i in range(3):
                blocks[:, i, i] += total
        return blocks

    def diagonal_blocks(self) -> FloatArray:
        """Return the blocks (i, i) of A, (V, 3, 3)."""
        p = self.pattern
        blocks: FloatArray = self.data[p.places(p.diagonal).T].reshape(-1, 3, 3)
        if self.scalar is not None:
            for i in range(3):
                blocks[p.scalar_own, i, i] += self.scalar[p.scalar_diagonal]
        return blocks

    def translations(self) -> FloatArray:
        """Return A t (3, V, 3) for the unit translations t along the axes: the sums of the rows."""
        result = np.ascontiguousarray(self.row_sums.transpose(2, 0, 1))
        if self.beside is not None:
            for t, total in zip(unit_translations(len(self.row_sums)), result, strict=True):
                self.beside.add_product(t, total)
        return result

    def multiply(self, x: FloatArray) -> FloatArray:
        """Return A x for x (V, 3)."""
        result: FloatArray = current().block_matrix.product(self.data, self.pattern.layout, self.scalar,
                                                            self.pattern.scalar.layout, self.row_sums, x)
        if self.beside is not None:
            self.beside.add_product(x, result)
        return result


def unit_translations(count: int) -> FloatArray:
    """Return the unit translations (3, V, 3) along the axes, of `count` vertices."""
    result = np.zeros((3, count, 3))
    for axis in range(3):
        result[axis, :, axis] = 1.0
    return result


def _row_starts(rows: IntArray, count: int) -> IntArray:
    """Return where each of `count` rows begins among entries sorted by row."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
