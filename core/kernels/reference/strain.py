# SPDX-License-Identifier: GPL-3.0-or-later
"""Relaxation of edges that are too long."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def relax(x: FloatArray, edges: IntArray, longest: FloatArray, weights: FloatArray, starts: IntArray, close: float,
          sweeps: int, further: float) -> None:
    """Move x (V, 3) until no edge (E, 2) is more than a part `close` longer than `longest` (E,), or `sweeps` are over.

    weights (V,): how readily each moves, 0 for not at all; starts (C + 1,): where the sets of edges begin that share no
    vertex, which are gone through forth and back in turn; further: over-relaxation, until the last fifth of the sweeps.
    """
    sets = [slice(int(a), int(b)) for a, b in zip(starts[:-1], starts[1:], strict=True)]
    parts = [(edges[s, 0], edges[s, 1], longest[s], weights[edges[s, 0]], weights[edges[s, 1]]) for s in sets]
    for sweep in range(sweeps):
        worst, part = 0.0, further if 5 * sweep < 4 * sweeps else 1.0
        for i, j, most, wi, wj in parts if sweep % 2 == 0 else reversed(parts):
            d = x[j] - x[i]
            length = np.sqrt(np.einsum("ei,ei->e", d, d))
            moves = wi + wj
            over = np.where((length > most) & (moves > 0.0), length - most, 0.0)
            worst = max(worst, float(np.max(over / most, initial=0.0)))
            pull = d * (part * over / np.where(over > 0.0, length * moves, 1.0))[:, None]
            x[i] += wi[:, None] * pull
            x[j] -= wj[:, None] * pull
        if worst <= close:
            return
