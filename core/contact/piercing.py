# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that pierce triangles: where, and how the surfaces lie there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import unit
from .nearness import Features, Primitives


@dataclass(frozen=True)
class Piercings:
    """N places where an edge of a surface pierces a triangle of it.

    Attributes:
        edge (N,): which of the surface's edges. ends (N, 2), corners (N, 3): vertices of the edge and of the triangle.
        share (N,): part of the edge before the place [-]. place (N, 3) [m].
        length (N,): of the edge, or of the triangle if that is smaller [m]: one may be a collider's, as large as it
            likes.
        along (N, 3): direction of the edge. area, across (N, 3): unit normals of the triangle and of the surface at
            the edge, 0 where that has no triangles.
        inward (2, N, 3): from the edge into its triangles, square to it [m], 0 where there is none.
    """

    edge: IntArray
    ends: IntArray
    corners: IntArray
    share: FloatArray
    place: FloatArray
    length: FloatArray
    along: FloatArray
    area: FloatArray
    across: FloatArray
    inward: FloatArray

    @classmethod
    def at(cls, surface: Primitives, crossings: IntArray, features: Features, x: FloatArray) -> Piercings:
        """Those of the crossings (N, 2), edges and triangles of the surface at x (V, 3) [m]."""
        ends, corners = surface.edges[crossings[:, 0]], surface.triangles[crossings[:, 1]]
        p, q, a = x[ends[:, 0]], x[ends[:, 1]], x[corners[:, 0]]
        spread = np.cross(x[corners[:, 1]] - a, x[corners[:, 2]] - a)
        area, along = unit(spread), unit(q - p)
        length = np.minimum(np.linalg.norm(q - p, axis=1), np.sqrt(np.linalg.norm(spread, axis=1)))
        above, drop = ((p - a) * area).sum(axis=1), ((p - q) * area).sum(axis=1)
        share = np.clip(above / np.where(drop != 0.0, drop, 1.0), 0.0, 1.0)

        opposite = features.opposite[crossings[:, 0]].T
        inward = x[opposite] - p
        inward -= (inward * along).sum(axis=2)[..., None] * along
        inward[opposite < 0] = 0.0
        across = unit(unit(np.cross(along, inward[0])) - unit(np.cross(along, inward[1])))
        return cls(crossings[:, 0], ends, corners, share, p + share[:, None] * (q - p), length, along, area, across,
                   inward)

    def __getitem__(self, rows: IntArray | BoolArray) -> Piercings:
        """Return some of the places."""
        return Piercings(self.edge[rows], self.ends[rows], self.corners[rows], self.share[rows], self.place[rows],
                         self.length[rows], self.along[rows], self.area[rows], self.across[rows],
                         self.inward[:, rows])

    @property
    def vertices(self) -> IntArray:
        """Of the edge and the triangle (N, 5)."""
        return np.concatenate([self.ends, self.corners], axis=1)
