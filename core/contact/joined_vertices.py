# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices that count as one in contact: the two sides of a closed seam, and those of a tear that has hardly opened.

Primitives with a common vertex always touch and are no pair. What a seam joins, or what was one vertex until it tore,
starts at one place, too: contact could not tell its sides, and would throw apart what only has to move on. So it is no
pair as long as it is nearer than where contact begins. From then on it is cloth like any other.

Sides of a tear are kept apart in another way while they are that near (`tear_sides`), but not by all means. If they are
entangled later, they have no contact until they are free again, and nothing pulls them apart: a tear must not create
energy.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.seam_pairs import Links
from ..description.topology import bodies
from ..row_ops import length

CLOSED = 1.25
"""Distance of the two sides of a seam or tear at which it counts as closed, over the thickness of both [-]: more than
at which they would press, and hold it open."""


class JoinedVertices:
    """Vertices of V that seams join, and that were one before they tore.

    Args:
        seams: None if there are none.
        tears: (N, 2) vertices that were one; None if nothing has torn.
        thickness: (V,) [m] of cloth on cloth. edges: (E, 2).
    """

    def __init__(self, seams: Links | None, tears: IntArray | None, thickness: FloatArray, edges: IntArray
                 ) -> None:
        self._seams, self._tears, self._thickness = seams, tears, thickness
        self._whole: IntArray | None = None                          # number of the vertex that each one was
        if tears is not None:
            self._whole = bodies(tears, len(thickness))
            ends = np.sort(self._whole[edges], axis=1)
            self._edges = np.unique(ends[:, 0] * len(thickness) + ends[:, 1])

    def at(self, x: FloatArray) -> IntArray | None:
        """Return the same number (V,) for vertices that count as one at x (V, 3) [m]; None if there are none."""
        seams = self._seams
        if seams is None:
            return self._numbers([], x)
        closed = seams.gaps(x) <= CLOSED * self._thickness[seams.ends].sum(axis=1)
        return self._numbers([seams.ends[closed]], x)

    def with_all_seams(self, x: FloatArray) -> IntArray | None:
        """Return the same as `at`, open seams counted as closed."""
        return self._numbers([] if self._seams is None else [self._seams.ends], x)

    def closed_tears(self, x: FloatArray) -> IntArray:
        """Return the pairs (N, 2) of vertices that were one and are hardly apart at x (V, 3) [m]."""
        if self._tears is None:
            return np.zeros((0, 2), dtype=np.int64)
        one, other = self._tears.T
        return self._tears[length(x[one] - x[other]) <= CLOSED * (self._thickness[one] + self._thickness[other])]

    def were_neighbours(self, one: IntArray, other: IntArray) -> BoolArray:
        """Return which pairs (P,) of primitives with vertices (P, a) and (P, b) had a common vertex before it tore, or
        vertices that an edge connected."""
        if self._whole is None:
            return np.zeros(len(one), dtype=np.bool_)
        a, b = self._whole[one][:, :, None], self._whole[other][:, None, :]
        keys = np.minimum(a, b) * len(self._whole) + np.maximum(a, b)
        at = np.minimum(np.searchsorted(self._edges, keys), len(self._edges) - 1)
        result: BoolArray = ((a == b) | (self._edges[at] == keys)).any(axis=(1, 2))
        return result

    def _numbers(self, seams: list[IntArray], x: FloatArray) -> IntArray | None:
        ends = seams if self._tears is None else [*seams, self.closed_tears(x)]
        return bodies(np.concatenate(ends), len(self._thickness)) if ends else None
