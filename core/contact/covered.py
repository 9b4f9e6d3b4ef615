# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the covered vertices of colliders: just in front of them, along the normal, is the inside of a closed part.

Where two solids overlap, or one intersects itself, a part of the surface is inside the other solid. Cloth cannot be in
contact with that part, and cloth between the two surfaces cannot be kept from intersecting them. Cloth that does not
collide with the other solid can: for it, what that solid covers is open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import all_of, any_of, cross, length, pick, unit
from .bvh import BVH
from .colliders import SurfaceShape
from .containment import inside

IN_FRONT = 1e-4
"""Distance in front of a vertex at which the side is looked up, over the mean edge length of its surface [-]."""


def covered(surfaces: Sequence[tuple[FloatArray, SurfaceShape, BVH]], low: FloatArray, high: FloatArray,
            room: float = 0.0) -> list[BoolArray]:
    """Return which vertices of each surface in the box `low`, `high` (3,) [m] are covered by which of the S surfaces
    (S, W).

    Args:
        surfaces: positions (W, 3) [m], shape there, and a tree around it.
        low, high: corners of the box.
        room: distance in front of a vertex from which on it is not covered [m].
    """
    result = []
    for x, shape, _ in surfaces:
        found = np.zeros((len(surfaces), len(x)), dtype=np.bool_)
        result.append(found)
        near = all_of((x >= low) & (x <= high))
        corners = shape.triangles[any_of(pick(near, shape.triangles)) & shape.closed]
        if not len(corners):
            continue
        near[:] = False
        near[corners] = True
        rows = np.flatnonzero(near)
        area = np.zeros_like(x)
        a, b, c = (pick(x, corner) for corner in corners.T)
        areas = cross(b - a, c - a)
        for axis in range(3):
            area[:, axis] = np.bincount(corners.ravel(), np.repeat(areas[:, axis], 3), minlength=len(x))
        ahead = max(room, IN_FRONT * float(length(b - a).mean()))
        front = pick(x, rows) + ahead * unit(pick(area, rows))
        for number, (y, other, tree) in enumerate(surfaces):
            if other.closed.any():
                found[number, rows] = inside(front, y, other.triangles, other.closed, tree)
    return result


@dataclass(frozen=True)
class Covered:
    """Which vertices of colliders are covered for which cloth: by a collider that this cloth collides with.

    Attributes:
        flags: (G, W) for each group of vertices of cloth that collide with the same colliders.
        group: (V,) of each vertex of cloth.
    """

    flags: BoolArray
    group: IntArray

    @classmethod
    def of(cls, by: BoolArray, groups: tuple[BoolArray, IntArray]) -> Covered:
        """Of vertices that colliders cover (S, W); groups: which colliders each of G collides with (S, G), and the
        group of each vertex of cloth (V,)."""
        sets, group = groups
        return cls((sets.T[:, :, None] & by).any(axis=1), group)

    def among(self, rows: IntArray) -> BoolArray:
        """Return which vertices in rows (N, k) of all vertices are covered for the cloth in their row, of which there
        is one at least; none of cloth is."""
        count = len(self.group)
        own = rows < count
        first = rows[np.arange(len(rows)), np.argmax(own, axis=1)]
        group, solid = self.group[np.minimum(first, count - 1)], np.where(own, 0, rows - count)
        result: BoolArray = ~own & self.flags[group[:, None], solid]
        return result
