# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums of rows by groups, in the order of the rows."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def sums(group: IntArray, rows: FloatArray, count: int) -> FloatArray:
    """Return the sum (count, k) of the rows (N, k) of each group; group (N,): the number of each row's."""
    return np.stack([np.bincount(group, column, count) for column in rows.T], axis=1).astype(np.float64, copy=False)
