# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums of rows by groups, in the order of the rows."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def sums(groups: IntArray, rows: FloatArray, count: int) -> FloatArray:
    """Return the sums (count, k) of the rows (N, k) of each group, in the order of columns of `groups`, then of rows.

    groups (N, g): numbers of the groups of each row.
    """
    flat, times = groups.T.ravel(), groups.shape[1]
    sums = [np.bincount(flat, np.tile(column, times), count) for column in rows.T]
    return np.stack(sums, axis=1).astype(np.float64, copy=False)                # integers if there are no rows
