# SPDX-License-Identifier: GPL-3.0-or-later
"""Symmetric matrices of 3x3 blocks on a fixed pattern, and beside them a matrix of scalars, A = blocks + scalar I.

The patterns follow from the elements' vertices and never change, so that a step only fills in numbers. A row's three
lines over all its blocks lie together, see `row_groups`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .packed_matrix import Packing, packed
from .padded_rows import RowGroups
from .scalar_matrix import ScalarPattern
from .sparsity import entries_of

if TYPE_CHECKING:
    from .modified_pcg import Operator


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
        self._known: list[tuple[IntArray, int]] = []            # kept, so that their identity stays theirs
        self._families: list[IntArray] = []
        self._cores: list[int | None] = []
        for family, core in zip(families, cores or [None] * len(families), strict=True):
            self._know(family, core)
        self.vertex_count = vertex_count
        self.rows, self.columns, self._positions = entries_of(vertex_count, self._families, diagonal=True,
                                                              cores=self._cores)
        self.diagonal: IntArray = np.flatnonzero(self.rows == self.columns)
        self.layout = RowGroups.build(self.rows, self.columns, vertex_count)
        self.size = 9 * self.layout.size
        self._row_start = np.searchsorted(self.rows, np.arange(vertex_count))
        for vertices, places in zip(self._families, self._positions, strict=True):
            places.reshape(-1, vertices.shape[1])[:] -= self._row_start[vertices.reshape(-1, 1)]
        self._slots: dict[int, IntArray] = {}
        self._by_corner: dict[int, IntArray] = {}
        self.scalar = ScalarPattern(vertex_count, scalar_families)
        own = np.flatnonzero(self.scalar.rows == self.scalar.columns)
        self.scalar_diagonal, self.scalar_own = self.scalar.layout.place[own], self.scalar.rows[own]

    def _know(self, vertices: IntArray, core: int | None) -> None:
        same = (n for n, known in enumerate(self._families) if known is vertices or np.array_equal(known, vertices))
        number = next(same, len(self._families))
        if number == len(self._families):
            self._families.append(vertices)
            self._cores.append(core)
        elif self._cores[number] != core:
            self._cores[number] = None                          # what couples all of them has the last word
        self._known.append((vertices, number))

    def family(self, vertices: IntArray) -> int:
        """Number of the family with this very array of vertices, or with an equal one."""
        for known, number in self._known:
            if known is vertices:
                return number
        for known, number in self._known:
            if np.array_equal(known, vertices):
                return number
        raise KeyError("these elements are not in the pattern")

    def positions(self, family: int) -> npt.NDArray[np.int32]:
        """Where in its row the block (i, j) of each element of a family lies: (E * k * k,), i before j."""
        return self._positions[family]

    def slots(self, family: int) -> IntArray:
        """Number (E * k * k,) of block (i, j) of each element of a family, i before j."""
        if family not in self._slots:
            vertices = self._families[family]
            positions = self._positions[family].reshape(-1, vertices.shape[1])
            self._slots[family] = (self._row_start[vertices.reshape(-1, 1)] + positions).ravel()
        return self._slots[family]

    def places_by_corner(self, family: int) -> IntArray:
        """Where among the layout's places block (i, j) of each element of a family lies: (k * k * E,)."""
        if family not in self._by_corner:
            k = self._families[family].shape[1]
            self._by_corner[family] = self.layout.place[self.slots(family).reshape(-1, k * k).T.ravel()]
        return self._by_corner[family]

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
    def entries(self) -> IntArray:
        """(9, N): where entry 3 a + b of each block lies in the data."""
        return self.places(np.arange(len(self.rows)))

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
    def packing(self) -> Packing:
        """Room for one of its matrices in half the bytes."""
        return Packing(self)


class BlockMatrix:
    """Numbers on a pattern: `data` (size,), per row three lines over all its blocks, and `scalar`, the values of
    the scalar part or None where there is none."""

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
        current().block_matrix.scatter_blocks(self.pattern.slots(family), element_blocks, factor, self.pattern.entries,
                                              self.data)

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
        blocks: FloatArray = self.data[p.entries.T].reshape(-1, 3, 3)
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

    def packed(self, mass: FloatArray, tolerance: float) -> Operator:
        """x -> A x as `packed_matrix` has it, for the products of a solve to `tolerance`; `mass` (V,) is its part of
        A's diagonal."""
        return packed(self, mass, tolerance)
