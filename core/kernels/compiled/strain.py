# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation of edges that are too long, edge by edge in the order of their sets."""

from __future__ import annotations

import numpy as np
from numba import njit

from .options import KERNEL


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def relax(x, edges, longest, weights, starts, close, sweeps, further):  # type: ignore[no-untyped-def]
    """As in `reference`."""
    sets = len(starts) - 1
    for sweep in range(sweeps):
        worst, part = 0.0, further if 5 * sweep < 4 * sweeps else 1.0
        for number in range(sets):
            s = number if sweep % 2 == 0 else sets - 1 - number
            for e in range(starts[s], starts[s + 1]):
                i, j = edges[e, 0], edges[e, 1]
                a, b, c = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                length, moves = np.sqrt(a * a + b * b + c * c), weights[i] + weights[j]
                if length > longest[e] and moves > 0.0:
                    over = length - longest[e]
                    worst = max(worst, over / longest[e])
                    pull = part * over / (length * moves)
                    x[i, 0] += weights[i] * pull * a
                    x[i, 1] += weights[i] * pull * b
                    x[i, 2] += weights[i] * pull * c
                    x[j, 0] -= weights[j] * pull * a
                    x[j, 1] -= weights[j] * pull * b
                    x[j, 2] -= weights[j] * pull * c
        if worst <= close:
            return
