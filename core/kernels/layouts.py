# SPDX-License-Identifier: GPL-3.0-or-later
"""Layouts of matrices, meshes and operators: records of arrays that kernels are given beside a matrix's numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import FloatArray, IntArray

Columns = npt.NDArray[np.int32]


class HalfEdges(NamedTuple):
    """The half-edges of closed surfaces, ordered by the vertex at which they start.

    Attributes:
        starts: (V + 1,), first half-edge of each vertex.
        ends: (H,), vertex at the end of each.
    """

    starts: IntArray
    ends: Columns


class RowGroup(NamedTuple):
    """Rows of one width.

    Attributes:
        rows: (n,).
        columns: (n, width), padded with the row itself.
        start: first place; a row's places follow each other.
    """

    rows: IntArray
    columns: Columns
    start: int


class PaddedRows(NamedTuple):
    """The layout of a sparse matrix in groups of rows of one width. A place holds one entry.

    Attributes:
        groups: of all rows that have entries.
        columns: (size,), of all groups.
        place: (N,), of each entry.
        row_start, row_width: (V,), first place of each row and number of its places.
        size: places in all, padding included.
    """

    groups: list[RowGroup]
    columns: Columns
    place: IntArray
    row_start: IntArray
    row_width: IntArray
    size: int


class PackedRows(NamedTuple):
    """The layout of a packed matrix, and a workspace for the numbers of one.

    Attributes:
        layout: of the matrix that is packed.
        beside: (size,), place of the scalar that couples the same two vertices as each block, -1 for none.
        row_starts, columns: (V + 1,), (n,), where the blocks of each row begin, and their columns; no diagonal blocks.
        far_starts, far_places, far_columns: (V + 1,), (m,), (m,), where the scalars without a block of each row begin,
            their places and their columns.
        blocks, diagonal, far: workspace for the numbers, (9 n + 1,), (V, 3, 3) and (m,); blocks column by column.
    """

    layout: PaddedRows
    beside: Columns
    row_starts: IntArray
    columns: Columns
    far_starts: IntArray
    far_places: Columns
    far_columns: Columns
    blocks: npt.NDArray[np.float32]
    diagonal: FloatArray
    far: npt.NDArray[np.float32]


class OperatorArrays(NamedTuple):
    """A linear map on vectors (V, 3) as compiled kernels take it.

    Attributes:
        kind: name of the map among the compiled kernels `operators`.
        arrays: its arguments, in the order documented there.
    """

    kind: str
    arrays: tuple[Any, ...]
