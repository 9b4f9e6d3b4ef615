# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices that count as one where it matters what is next to what, as seams and buttons make them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray

MOST_POINTS = 4
"""Vertices of a pair of points at most: a vertex, and a triangle's corners."""


@dataclass(frozen=True)
class Links:
    """Vertices that are linked by what is sewn (L, 2), and the two points that each link is for: the offset of one from
    the other is sum_k w_k x_k, with vertices (L, 4) and weights (L, 4)."""

    ends: IntArray
    vertices: IntArray
    weights: FloatArray

    @staticmethod
    def joined(parts: Sequence[tuple[Links, int]]) -> Links:
        """Those of several cloths, the first vertex of each given."""
        return Links(np.concatenate([np.zeros((0, 2), dtype=np.int64), *(p.ends + first for p, first in parts)]),
                     np.concatenate([np.zeros((0, MOST_POINTS), dtype=np.int64),
                                     *(p.vertices + first for p, first in parts)]),
                     np.concatenate([np.zeros((0, MOST_POINTS)), *(p.weights for p, _ in parts)]))

    def gaps(self, x: FloatArray) -> FloatArray:
        """How far apart the two points of each link are (L,) [m], vertices at x (V, 3) [m]."""
        return np.linalg.norm(np.einsum("lk,lki->li", self.weights, x[self.vertices]), axis=1)
