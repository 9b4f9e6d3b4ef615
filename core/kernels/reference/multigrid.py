# SPDX-License-Identifier: GPL-3.0-or-later
"""Between a mesh and its coarse level of groups of vertices: sums of blocks, restriction, prolongation."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def sum_blocks(data: FloatArray, place: IntArray, line: IntArray, starts: IntArray) -> FloatArray:
    """Sums (n, 3, 3) of runs of 3x3 blocks: run k is the blocks starts[k] to starts[k + 1], none of them empty.

    Entry (a, b) of block s lies in `data` at place[s] + a line[s] + b.
    """
    total = np.empty((len(starts), 3, 3))
    for a in range(3):
        for b in range(3):
            total[:, a, b] = np.add.reduceat(data[place + (a * line + b)], starts)
    return total


def restrict(r: FloatArray, order: IntArray, starts: IntArray) -> FloatArray:
    """Sums (n, 3) of r (V, 3) over groups: group k is the vertices order[starts[k]:starts[k + 1]]."""
    return np.add.reduceat(r[order], starts, axis=0)


def prolong(coarse: FloatArray, group: IntArray, result: FloatArray) -> None:
    """Add each group's value (n, 3) to its vertices, in place: group (V,), result (V, 3)."""
    result += coarse[group]
