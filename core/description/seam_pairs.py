# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of vertices that seams and buttons join: they count as one in contact and in the graph of the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray

MOST_POINTS = 4
"""Largest number of vertices of a pair of points [-]: one vertex and the corners of a triangle."""


@dataclass(frozen=True)
class Links:
    """Links between vertices of seams and buttons.

    Attributes:
        ends: (L, 2) linked vertices.
        vertices, weights: (L, 4) of the two points that a link joins; their offset is sum_k w_k x_k.
    """

    ends: IntArray
    vertices: IntArray
    weights: FloatArray

    @staticmethod
    def joined(parts: Sequence[tuple[Links, int]]) -> Links:
        """Return the links of several cloths, each given with the number of its first vertex."""
        return Links(np.concatenate([np.zeros((0, 2), dtype=np.int64), *(p.ends + first for p, first in parts)]),
                     np.concatenate([np.zeros((0, MOST_POINTS), dtype=np.int64),
                                     *(p.vertices + first for p, first in parts)]),
                     np.concatenate([np.zeros((0, MOST_POINTS)), *(p.weights for p, _ in parts)]))

    def gaps(self, x: FloatArray) -> FloatArray:
        """Return the distance of the two points of each link (L,) [m], vertices at x (V, 3) [m]."""
        return np.linalg.norm(np.einsum("lk,lki->li", self.weights, x[self.vertices]), axis=1)
