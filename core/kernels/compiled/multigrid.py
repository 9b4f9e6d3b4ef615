# SPDX-License-Identifier: GPL-3.0-or-later
"""Between a mesh and its coarse level of groups of vertices: sums of blocks, restriction, prolongation."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def sum_blocks(data, place, line, starts):  # type: ignore[no-untyped-def]
    """As in `reference`."""
    n = len(starts)
    total = np.zeros((n, 3, 3))
    for k in range(n):
        end = starts[k + 1] if k + 1 < n else len(place)
        for s in range(starts[k], end):
            for a in range(3):
                at = place[s] + a * line[s]
                for b in range(3):
                    total[k, a, b] += data[at + b]
    return total


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def restrict(r, order, starts):  # type: ignore[no-untyped-def]
    """As in `reference`."""
    n = len(starts)
    total = np.zeros((n, 3))
    for k in range(n):
        end = starts[k + 1] if k + 1 < n else len(order)
        for s in range(starts[k], end):
            i = order[s]
            for a in range(3):
                total[k, a] += r[i, a]
    return total


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def prolong(coarse, group, result):  # type: ignore[no-untyped-def]
    """As in `reference`."""
    for i in range(len(group)):
        for a in range(3):
            result[i, a] += coarse[group[i], a]
