# SPDX-License-Identifier: GPL-3.0-or-later
"""Half spaces that vertices have to stay in, for corrections of positions that know no contacts.

    sum_k  shares_k  n . x_k  >=  least [m]

over up to four vertices: one that a solid keeps on its side of a plane, or a pair of primitives that keep apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from .continuous import Pairs

APART = 2.0
"""Distance that a pair which would meet is given, over what it has to keep [-]."""


@dataclass(frozen=True)
class Bounds:
    """B half spaces: corners (B, 4), of which some may be there twice, shares (B, 4) [-], normals (B, 3), least (B,)
    [m]."""

    corners: IntArray
    shares: FloatArray
    normals: FloatArray
    least: FloatArray

    def __len__(self) -> int:
        return len(self.corners)

    @staticmethod
    def none() -> Bounds:
        """No bounds."""
        return Bounds.of_vertices(np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros(0))

    @staticmethod
    def of_vertices(vertex: IntArray, normals: FloatArray, least: FloatArray) -> Bounds:
        """n . x >= least (B,) [m] for one vertex (B,) each."""
        return Bounds(np.repeat(vertex[:, None], 4, axis=1), np.tile((1.0, 0.0, 0.0, 0.0), (len(vertex), 1)), normals,
                      least)

    @staticmethod
    def of_pairs(pairs: Pairs, x: FloatArray, count: int) -> Bounds:
        """Pairs that keep apart across their normals; from vertex `count` on they stay where they are in x (V, 3)."""
        known = pairs.vertices >= count
        height = np.einsum("pki,pi->pk", x[pairs.vertices], pairs.normal)
        least = APART * pairs.keep - np.where(known, pairs.weights * height, 0.0).sum(axis=1)
        first = np.take_along_axis(pairs.vertices, np.argmin(known, axis=1)[:, None], axis=1)
        return Bounds(np.where(known, first, pairs.vertices), np.where(known, 0.0, pairs.weights), pairs.normal, least)

    def joined(self, other: Bounds) -> Bounds:
        """These and the others."""
        if len(other) == 0:
            return self
        return Bounds(*(np.concatenate([a, b]) for a, b in (
            (self.corners, other.corners), (self.shares, other.shares), (self.normals, other.normals),
            (self.least, other.least))))

    def lack(self, x: FloatArray) -> FloatArray:
        """How far beyond each of them x (V, 3) [m] is (B,) [m], negative inside."""
        lack: FloatArray = self.least - np.einsum("pk,pki,pi->p", self.shares, x[self.corners], self.normals)
        return lack
