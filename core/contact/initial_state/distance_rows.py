# SPDX-License-Identifier: GPL-3.0-or-later
"""One-sided distances between points of cloth, or from planes, and how they act on the vertices.

    sum_i  w_i  n . x_i  >=  least                                                    [m]

A row has up to four vertices. The positive weights w of its first point add up to 1, and so do the negative ones of its
second point, or there are none: then the row is a half-space. A row lacks delta = least - sum w n . x, if that is above
0. For the constant matrix of `shape_energy` its energy is bounded from above by one that couples no vertices,

    stiffness/2 delta(x)^2  <=  stiffness/2 sum_i |w_i| / share  |x_i - x_i* -/+ share delta n|^2

by the convexity of the square; the shares of both points add up to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class DistanceRows:
    """R rows.

    Attributes:
        vertices: (R, 4), some perhaps more than once.
        weights: (R, 4), see above [-].
        normal: (R, 3) unit vectors n.
        least: (R,) [m].
        stiffness: (R,) over that of an edge [-].
    """

    vertices: IntArray
    weights: FloatArray
    normal: FloatArray
    least: FloatArray
    stiffness: FloatArray

    def __len__(self) -> int:
        return len(self.vertices)

    def __getitem__(self, rows: IntArray | BoolArray) -> DistanceRows:
        return DistanceRows(self.vertices[rows], self.weights[rows], self.normal[rows], self.least[rows],
                            self.stiffness[rows])

    @staticmethod
    def joined(parts: Sequence[DistanceRows]) -> DistanceRows:
        """Return the rows of all parts, in order."""
        nothing = DistanceRows(np.zeros((0, 4), dtype=np.int64), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0),
                               np.zeros(0))
        return DistanceRows(*(np.concatenate([getattr(part, name) for part in (nothing, *parts)])
                              for name in ("vertices", "weights", "normal", "least", "stiffness")))

    def lack(self, x: FloatArray) -> FloatArray:
        """Return how much each row lacks at x (V, 3) [m] (R,) [m]; below 0 where it has more than it needs."""
        gap: FloatArray = np.einsum("rk,rki,ri->r", self.weights, x[self.vertices], self.normal)
        return self.least - gap

    def shares(self, held: BoolArray) -> FloatArray:
        """Return the share (R, 4) of a correction that the point of each vertex takes [-]: all where the vertices of
        the other point are `held` (V,)."""
        free = np.where(held[self.vertices], 0.0, self.weights)
        first = np.clip(free, 0.0, None).sum(axis=1)
        second = np.clip(-free, 0.0, None).sum(axis=1)
        total = first + second
        part = first / np.where(total > 0.0, total, 1.0)
        result: FloatArray = np.where(self.weights > 0.0, part[:, None], 1.0 - part[:, None])
        return result

    def diagonal(self, shares: FloatArray, count: int) -> FloatArray:
        """Return what the rows add to the matrix (V,) [-], of `count` vertices."""
        size = np.abs(self.weights) * self.stiffness[:, None] / np.where(shares > 0.0, shares, np.inf)
        return np.bincount(self.vertices.ravel(), size.ravel(), count).astype(np.float64)

    def force(self, x: FloatArray, most: float) -> FloatArray:
        """Return the forces (V, 3) of the rows at x (V, 3) [m], in units of the stiffness [m]; no row is corrected by
        more than `most` [m]."""
        size = self.stiffness * np.clip(self.lack(x), 0.0, most)
        push = (self.weights * size[:, None])[:, :, None] * self.normal[:, None, :]
        flat = self.vertices.ravel()
        return np.stack([np.bincount(flat, push[:, :, k].ravel(), len(x)) for k in range(3)], axis=1, dtype=np.float64)
