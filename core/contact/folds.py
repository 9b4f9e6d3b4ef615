# SPDX-License-Identifier: GPL-3.0-or-later
"""The sheets that a surface consists of: its pieces, and of a piece that is folded flat what lies between the folds.

Where a surface is folded exactly flat nothing says how its sheets lie on one another. That in which they are folded,
to and fro from one end, is an order in which they can.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import Topology, bodies
from ..row_ops import unit

FOLDED_COSINE = 0.999
"""Cosine between the ways from their common edge into two triangles above which they are folded onto each other [-]."""


def sheets(x: FloatArray, triangles: IntArray) -> IntArray:
    """Which sheet each of the triangles (T, 3) at x (V, 3) [m] belongs to (T,), in the order described above."""
    joined, folded = _neighbours(x, triangles)
    label: IntArray = bodies(joined, len(triangles))
    return label if len(folded) == 0 else _in_order(label, folded)


def _neighbours(x: FloatArray, triangles: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of triangles (N, 2) that share an edge with no other: those that go on there, and those that are folded
    there."""
    topology = Topology(triangles)
    two = np.flatnonzero(~topology.hinge_branches)
    start, end, *opposite = topology.hinges[two].T
    edge = unit(x[end] - x[start])
    arms = [x[corner] - x[start] for corner in opposite]
    one, other = (unit(arm - np.einsum("ni,ni->n", arm, edge)[:, None] * edge) for arm in arms)
    folded = np.einsum("ni,ni->n", one, other) > FOLDED_COSINE
    pairs = topology.hinge_corners[two] // 3
    return pairs[~folded], pairs[folded]


def _in_order(label: IntArray, folded: IntArray) -> IntArray:
    """Sheets (T,) numbered from fold to fold, for pairs (N, 2) of triangles that are `folded`."""
    pairs = np.unique(np.sort(label[folded], axis=1), axis=0)
    beside: dict[int, list[int]] = {int(k): [] for k in range(int(label.max()) + 1)}
    for a, b in pairs[pairs[:, 0] != pairs[:, 1]].tolist():
        beside[a].append(b)
        beside[b].append(a)
    number: dict[int, int] = {}
    for first in sorted(beside, key=lambda k: (len(beside[k]), k)):       # from the ends
        waiting = [first]
        while waiting:
            sheet = waiting.pop()
            if sheet not in number:
                number[sheet] = len(number)
                waiting += [k for k in reversed(beside[sheet]) if k not in number]
    order: IntArray = np.array([number[k] for k in range(len(number))])
    return order[label]


class Corners:
    """Each vertex once for each sheet that it is a corner of, K in all: several where there is a fold.

    Args:
        triangles (T, 3), and which `sheet` (T,) each belongs to.

    Attributes:
        vertex, sheet (K,). rows (T, 3): of the corners of the triangles.
    """

    def __init__(self, triangles: IntArray, sheet: IntArray) -> None:
        self._count = int(sheet.max()) + 1
        self._keys, rows = np.unique(triangles * self._count + sheet[:, None], return_inverse=True)
        self.rows: IntArray = rows.reshape(triangles.shape)
        self.vertex, self.sheet = self._keys // self._count, self._keys % self._count

    def of(self, vertices: IntArray) -> tuple[IntArray, IntArray]:
        """Of P vertices (P,) each corner: which of the P, and its row."""
        first, last = np.searchsorted(self.vertex, vertices), np.searchsorted(self.vertex, vertices, side="right")
        count = last - first
        which: IntArray = np.repeat(np.arange(len(vertices)), count)
        row: IntArray = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(which))
        return which, row

    def has(self, vertices: IntArray, numbers: IntArray) -> BoolArray:
        """Whether each of P vertices is a corner of the sheet of that number, (P,) each; of others there are none."""
        result: BoolArray = np.isin(vertices * self._count + numbers, self._keys) & (numbers < self._count)
        return result

    def normals(self, area: FloatArray) -> FloatArray:
        """Unit normals (K, 3) of the corners, each triangle with its `area` (T, 3); 0 where that is 0."""
        total = np.zeros((len(self.vertex), 3))
        for k in range(3):
            np.add.at(total, self.rows[:, k], area)
        return unit(total)

    def mean(self, values: FloatArray, count: int) -> FloatArray:
        """Of `count` vertices the mean (V, 3) of the values (K, 3) of their corners."""
        total = np.zeros((count, 3))
        np.add.at(total, self.vertex, values)
        result: FloatArray = total / np.maximum(np.bincount(self.vertex, minlength=count), 1)[:, None]
        return result
