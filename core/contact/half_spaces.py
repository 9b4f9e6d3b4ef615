# SPDX-License-Identifier: GPL-3.0-or-later
"""Half spaces that vertices have to stay in, for corrections of positions that know no contacts.

    sum_k  shares_k  n . x_k  >=  least [m]

over up to four vertices: one that a solid keeps on its side of a plane, or a pair of primitives that keep apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray


@dataclass(frozen=True)
class HalfSpaces:
    """B half spaces: corners (B, 4), of which some may be there twice, shares (B, 4) [-], normals (B, 3), least (B,)
    [m]."""

    corners: IntArray
    shares: FloatArray
    normals: FloatArray
    least: FloatArray

    def __len__(self) -> int:
        return len(self.corners)

    @staticmethod
    def none() -> HalfSpaces:
        """No half spaces."""
        return HalfSpaces.of_vertices(np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros(0))

    @staticmethod
    def of_vertices(vertex: IntArray, normals: FloatArray, least: FloatArray) -> HalfSpaces:
        """n . x >= least (B,) [m] for one vertex (B,) each."""
        return HalfSpaces(np.repeat(vertex[:, None], 4, axis=1), np.tile((1.0, 0.0, 0.0, 0.0), (len(vertex), 1)),
                          normals, least)

    def joined(self, other: HalfSpaces) -> HalfSpaces:
        """These and the others."""
        if len(other) == 0:
            return self
        return HalfSpaces(*(np.concatenate([a, b]) for a, b in (
            (self.corners, other.corners), (self.shares, other.shares), (self.normals, other.normals),
            (self.least, other.least))))

    def lack(self, x: FloatArray) -> FloatArray:
        """How far beyond each of them x (V, 3) [m] is (B,) [m], negative inside."""
        lack: FloatArray = self.least - np.einsum("pk,pki,pi->p", self.shares, x[self.corners], self.normals)
        return lack
