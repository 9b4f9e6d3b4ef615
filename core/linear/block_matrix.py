# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric matrices of 3x3 blocks on a fixed pattern, and beside them a matrix of scalars, A = blocks + scalar I.

The patterns follow from the elements' vertices and never change, so that a step only fills in numbers. A row's three
lines over all its blocks lie together, see `row_groups`.
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
from .scalar_matrix import ScalarPattern
from .sparsity import entries_of


class BlockPattern:
    """Which blocks exist, and where each element's blocks go.

    Args:
        vertex_count: block rows and columns.
        families: per element family its vertices (E, k).
        scalar_families: of those elements whose blocks are constant scalars times the identity.
        cores: per family how many vertices of an element are coupled to all of them (see `entries_of`).

    Attributes:
        rows, columns (N,): the blocks, row by row, columns ascending; diagonal (V,): number of block (i, i) among them;
        layout: their rows, grouped by width; size: numbers in a matrix, padding included;
        scalar: pattern of the scalar part.
    """

    def __init__(self, vertex_count: int, families: Sequence[IntArray],
                 scalar_families: Sequence[IntArray] = (), cores: Sequence[int | None] | None = None) -> None:
        self._families: list[IntArray] = []                     # each once
        self._cores: list[int | None] = []
        for family, core in zip(families, cores or [None] * len(families), strict=True):
            self._add_family(family, core)
        self.vertex_count = vertex_count
        self.rows, self.columns, self._positions = entries_of(vertex_count, self._families, diagonal=True,
                                                              cores=self._cores)
        self.diagonal: IntArray = np.flatnonzero(self.rows == self.columns)
        self.layout = padded_rows(self.rows, self.columns, vertex_count)
        self.size = 9 * self.layout.size
        row_start = np.searchsorted(self.rows, np.arange(vertex_count))
        for vertices, places in zip(self._families, self._positions, strict=True):
            places.reshape(-1, vertices.shape[1])[:] -= row_start[vertices.reshape(-1, 1)]
        self.scalar = ScalarPattern(vertex_count, scalar_families)
        own = np.flatnonzero(self.scalar.rows == self.scalar.columns)
        self.scalar_diagonal, self.scalar_own = self.scalar.layout.place[own], self.scalar.rows[own]

    def _add_family(self, vertices: IntArray, core: int | None) -> None:
        number = self._find(vertices)
        if number is None:
            self._families.append(vertices)
            self._cores.append(core)
        elif self._cores[number] != core:
            self._cores[number] = None                          # the family that couples all vertices decides

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

    # Where numbers lie in the data: a row of width w takes 9 w, three lines of w blocks' rows

    def places(self, blocks: IntArray) -> IntArray:
        """Where entry 3 a + b of each of `blocks` (n,) lies in the data: (9, n)."""
        start, line = self.starts(blocks)
        places: IntArray = np.array([start + (a * line + b) for a in range(3) for b in range(3)])
        return places

    def starts(self, blocks: IntArray) -> tuple[IntArray, IntArray]:
        """Where `blocks` (n,) begin in the data, and how far apart the three rows of each are: (n,) each."""
        rows = self.rows[blocks]
        return 3 * self.layout.place[blocks] + 6 * self.layout.row_start[rows], 3 * self.layout.row_width[rows]

    @cached_property
    def own_places(self) -> npt.NDArray[np.int32]:
        """Where the blocks (i, i) begin in the data, and their scalars in the scalar part, -1 for none: (V, 2)."""
        places = np.full((self.vertex_count, 2), -1, dtype=np.int32)
        places[:, 0] = self.starts(self.diagonal)[0]
        places[self.scalar_own, 1] = self.scalar_diagonal
        return places

    @cached_property
    def line(self) -> npt.NDArray[np.int32]:
        """How far apart the three rows of a block are in each block row (V,)."""
        line: npt.NDArray[np.int32] = (3 * self.layout.row_width).astype(np.int32)
        return line

    def folded(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Where scalars lie that have a block, and the numbers of these; where the others lie, and their rows. Found
        anew each time: on 400^2 vertices that is 33 MB."""
        n, scalar = self.vertex_count, self.scalar
        pattern, keys = self.rows * n + self.columns, scalar.rows * n + scalar.columns
        at = np.minimum(np.searchsorted(pattern, keys), len(pattern) - 1)
        met = pattern[at] == keys
        return scalar.layout.place[met], at[met], scalar.layout.place[~met], scalar.rows[~met]

    @cached_property
    def packed_rows(self) -> PackedRows:
        """The layout of a packed matrix of this pattern, and the workspace for its numbers: one matrix at a time."""
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
    """Numbers on a pattern: `data` (size,), per row three lines over all its blocks, and `scalar`, the values of
    the scalar part or None where there is none.

    Attributes:
        assembled: whether these numbers are all of the matrix.
    """

    assembled = True

    def __init__(self, pattern: BlockPattern, data: FloatArray | None = None,
                 scalar: FloatArray | None = None) -> None:
        self.pattern, self.scalar = pattern, scalar
        self.data = np.zeros(pattern.size) if data is None else data

    @property
    def scalars(self) -> FloatArray:
        """The scalar part's values, zeros where there is none."""
        return np.zeros(self.pattern.scalar.layout.size) if self.scalar is None else self.scalar

    def add(self, family: int, element_blocks: FloatArray, factor: float = 1.0) -> None:
        """Add `factor` times the blocks (E, k, k, 3, 3) of a family's elements."""
        p = self.pattern
        current().block_matrix.add_element_blocks(p.vertices(family), p.positions(family), factor * element_blocks,
                                                  p.layout, self.data)

    def add_diagonal(self, values: FloatArray) -> None:
        """Add to the diagonal: values (V,) times the identity, or blocks (V, 3, 3)."""
        kernels, start, line = current().block_matrix, self.pattern.own_places[:, 0], self.pattern.line
        (kernels.add_multiples if values.ndim == 1 else kernels.add_diagonal)(start, line, values, self.data)

    def blocks(self) -> FloatArray:
        """Blocks (N, 3, 3) in the order of the pattern's rows and columns, with the scalar part in them.

        Scalars between vertices that have no block go to the diagonal with their absolute value: the blocks stand for
        a matrix that is no less than this one, v^T blocks v >= v^T A v, and the same where there are none.
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
        """The blocks (i, i) of A as (V, 3, 3)."""
        p = self.pattern
        blocks: FloatArray = self.data[p.places(p.diagonal).T].reshape(-1, 3, 3)
        if self.scalar is not None:
            for i in range(3):
                blocks[p.scalar_own, i, i] += self.scalar[p.scalar_diagonal]
        return blocks

    def multiply(self, x: FloatArray) -> FloatArray:
        """A x for x (V, 3)."""
        result: FloatArray = current().block_matrix.product(self.data, self.pattern.layout, self.scalar,
                                                            self.pattern.scalar.layout, x)
        return result


def _row_starts(rows: IntArray, count: int) -> IntArray:
    """Return where each of `count` rows begins among entries sorted by row."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
