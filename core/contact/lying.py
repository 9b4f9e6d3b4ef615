# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices that lie in triangles, of cloth or of colliders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels.numpy.conservative_advancement import Candidates
from ..row_ops import unit
from .bvh import touching_boxes
from .colliders import SurfaceShape
from .continuous import near_pairs
from .distance import point_triangle
from .triangle_surface import TriangleSurface

SIDE_ROUNDING = 1e-15
"""Distance, over the largest coordinate, that says nothing about sides [-]."""


@dataclass(frozen=True)
class Lying:
    """P vertices that lie in triangles.

    Attributes:
        vertex (P,): which. among (P,): the triangle's sheet, or collider: these are numbered after the sheets.
        across (P, 3): unit normal of the triangle. above (P,) [m]: how far in front of it the vertex is.
    """

    vertex: IntArray
    among: IntArray
    across: FloatArray
    above: FloatArray

    def __getitem__(self, rows: IntArray) -> Lying:
        return Lying(self.vertex[rows], self.among[rows], self.across[rows], self.above[rows])

    @staticmethod
    def joined(parts: Sequence[Lying]) -> Lying:
        """All rows of the parts, one part after the other."""
        return Lying(*(np.concatenate([getattr(part, name) for part in parts]) for name in vars(parts[0])))


def in_cloth(surface: TriangleSurface, sheet: IntArray, within: float,
             allowed: Callable[[Candidates], Candidates] | None = None) -> Lying:
    """Vertices of the surface that lie `within` [m] of its triangles, which belong to `sheet` (T,); `allowed` as in
    `near_pairs`."""
    x = surface.positions
    if (sheet == sheet[0]).all():
        none = np.zeros(0, dtype=np.int64)
        return Lying(none, none, np.zeros((0, 3)), np.zeros(0))
    found = near_pairs(surface, x, x, within, np.zeros(len(x)), allowed=allowed)
    own, face = found.primitives[:found.faces].T
    return Lying(own, sheet[face], *_height(x, own, x[surface.triangles[face]]))


def in_solid(x: FloatArray, vertices: IntArray, positions: FloatArray, shape: SurfaceShape, number: int, within: float,
             *, some: BoolArray | None = None) -> Lying:
    """Those of the `vertices` at x (V, 3) [m] that lie `within` [m] of a collider's triangles, or of `some` of them
    (T,). A closed one has them in front, however much rounding says."""
    own, face = touching_boxes(shape.tree, x[vertices] - within, x[vertices] + within).T
    if some is not None:
        own, face = own[some[face]], face[some[face]]
    own, corners = vertices[own], positions[shape.triangles[face]]
    near = point_triangle(x[own], corners[:, 0], corners[:, 1], corners[:, 2]).distance <= within
    own, face, corners = own[near], face[near], corners[near]
    across, above = _height(x, own, corners)
    return Lying(own, np.full(len(own), number), across, np.where(shape.closed[face], np.maximum(above, 0.0), above))


def _height(x: FloatArray, own: IntArray, corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Unit normals of triangles (P, 3, 3) [m], and how far in front of them `own` (P,) vertices are [m]."""
    across = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    above = np.einsum("pi,pi->p", x[own] - corners[:, 0], across)
    above[np.abs(above) <= SIDE_ROUNDING * np.abs(x).max()] = 0.0
    return across, above
