# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums of rows by groups, compiled: all columns in one pass. Arguments and results are those of the NumPy kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .kernel_cache import njit
from .options import KERNEL


def sums(group: IntArray, rows: FloatArray, count: int) -> FloatArray:
    """Return the sum (count, k) of the rows (N, k) of each group; group (N,): the number of each row's."""
    result = np.zeros((count, rows.shape[1]))
    _add(group, np.ascontiguousarray(rows), result)
    return result


@njit(**KERNEL)
def _add(group: Any, rows: Any, result: Any) -> None:
    """Add each row to the row of its group in `result`."""
    for n in range(np.uintp(len(group))):
        for k in range(rows.shape[1]):
            result[group[n], k] += rows[n, k]
