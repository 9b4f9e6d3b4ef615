# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums of rows by groups, compiled: all columns in one pass. Arguments and results are those of the NumPy kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .kernel_cache import njit
from .options import KERNEL


def sums(groups: IntArray, rows: FloatArray, count: int) -> FloatArray:
    """Return the sums (count, k) of the rows (N, k) of each group, in the order of columns of `groups`, then of rows.

    groups (N, g): numbers of the groups of each row.
    """
    result = np.zeros((count, rows.shape[1]))
    _add(groups, np.ascontiguousarray(rows), result)
    return result


@njit(**KERNEL)
def _add(groups: Any, rows: Any, result: Any) -> None:
    """Add each row to the rows of its groups in `result`."""
    for g in range(groups.shape[1]):
        for n in range(len(rows)):
            for k in range(rows.shape[1]):
                result[groups[n, g], k] += rows[n, k]
