# SPDX-License-Identifier: GPL-3.0-or-later
"""The layout of sparse rows, padded so that rows of about equal length are stored together.

A product then reads the numbers in the order in which they are stored, and needs no sum over ragged rows.
"""

from __future__ import annotations

import numpy as np

from ..arrays import IntArray
from ..kernels.layouts import PaddedRows, RowGroup
from ..kernels.tuning import tuning


def padded_rows(rows: IntArray, columns: IntArray, count: int) -> PaddedRows:
    """Return the layout of `count` rows with entries (rows, columns), each (N,), in lexicographic order.

    Rows are padded to a multiple of the width that suits the kernels.
    """
    step = tuning().row_step
    starts = np.searchsorted(rows, np.arange(count + 1))
    lengths = np.diff(starts)
    widths = -(-lengths // step) * step
    groups: list[RowGroup] = []
    row_start = np.zeros(count, dtype=np.int64)
    flat = np.empty(int(widths.sum()), dtype=np.int32)
    size = 0
    for width in np.unique(widths[widths > 0]):
        some = np.flatnonzero(widths == width)
        padded = flat[size:size + width * len(some)].reshape(-1, width)
        padded[:] = some[:, None]
        padded[np.arange(width) < lengths[some][:, None]] = columns[widths[rows] == width]
        row_start[some] = size + width * np.arange(len(some))
        groups.append(RowGroup(some, padded, size))
        size += padded.size
    place: IntArray = row_start[rows] + np.arange(len(rows)) - starts[rows]
    return PaddedRows(groups, flat, place, row_start, widths, size)
