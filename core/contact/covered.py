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
from ..row_ops import all_of, any_of, box, cross, length, pick, unit
from .bvh import BVH
from .colliders import SurfaceShape
from .containment import inside

IN_FRONT = 1e-4
"""Distance in front of a vertex at which the side is looked up, over the mean edge length of its surface [-]."""


def covered(surfaces: Sequence[tuple[FloatArray, SurfaceShape, BVH]], low: FloatArray, high: FloatArray,
            room: float = 0.0) -> list[IntArray]:
    """Return what covers the vertices of each surface in the box `low`, `high` (3,) [m]: (K, 2) numbers of a surface
    and of a vertex that it covers.

    Args:
        surfaces: positions (W, 3) [m], shape there, and a tree around it.
        low, high: corners of the box.
        room: distance in front of a vertex from which on it is not covered [m].
    """
    none, result = np.zeros((0, 2), dtype=np.int64), []
    closed = np.array([shape.closed.any() for _, shape, _ in surfaces], dtype=np.bool_)
    boxes = np.array([tree.box for _, _, tree in surfaces]).reshape(-1, 2, 3)
    for x, shape, _ in surfaces:
        near = all_of((x >= low) & (x <= high))
        corners = shape.triangles[any_of(pick(near, shape.triangles)) & shape.closed]
        if not len(corners):
            result.append(none)
            continue
        rows, front = in_front(x, corners, room)
        found, (below, above) = [none], box(front)
        for number in np.flatnonzero(closed & all_of((boxes[:, 0] <= above) & (below <= boxes[:, 1]))):
            y, other, tree = surfaces[number]
            under = rows[inside(front, y, other.triangles, other.closed, tree)]
            found.append(np.stack([np.full(len(under), number), under], axis=1))
        result.append(np.concatenate(found))
    return result


def in_front(x: FloatArray, triangles: IntArray, room: float = 0.0) -> tuple[IntArray, FloatArray]:
    """Return the vertices (n,) of triangles (T, 3) on x (W, 3) [m], and the points (n, 3) [m] just in front of them, at
    least `room` [m] away."""
    used, area = np.zeros(len(x), dtype=np.bool_), np.zeros_like(x)
    used[triangles] = True
    rows = np.flatnonzero(used)
    a, b, c = (pick(x, corner) for corner in triangles.T)
    areas = cross(b - a, c - a)
    for axis in range(3):
        area[:, axis] = np.bincount(triangles.ravel(), np.repeat(areas[:, axis], 3), minlength=len(x))
    ahead = max(room, IN_FRONT * float(length(b - a).mean()))
    return rows, pick(x, rows) + ahead * unit(pick(area, rows))


@dataclass(frozen=True)
class Covered:
    """Mark the covered vertices of colliders, separately for vertices of cloth that collide with other colliders.

    A collider covers a vertex only for cloth that collides with this collider. Vertices of cloth that collide with the
    same colliders form a group.

    Attributes:
        flags: (G, W) whether each of W vertices of colliders is covered for each of G groups.
        group: (V,) number of the group of each vertex of cloth.
    """

    flags: BoolArray
    group: IntArray

    @classmethod
    def of(cls, found: IntArray, count: int, groups: tuple[BoolArray, IntArray]) -> Covered:
        """Return the marks for `found` (K, 2): the number of a collider and of a vertex that it covers.

        Args:
            found: as above.
            count: number of vertices of all colliders, W.
            groups: whether each of S colliders collides with each of G groups (S, G), and the group of each vertex of
                cloth (V,).
        """
        sets, group = groups
        flags = np.zeros((sets.shape[1], count), dtype=np.bool_)
        row, own = np.nonzero(sets[found[:, 0]])
        flags[own, found[row, 1]] = True
        return cls(flags, group)

    def among(self, rows: IntArray) -> BoolArray:
        """Return which entries of rows (N, k), vertices of cloth and colliders, are covered for the cloth in their row.

        Each row has a vertex of cloth or more. Vertices of cloth are never covered.
        """
        count = len(self.group)
        own = rows < count
        first = rows[np.arange(len(rows)), np.argmax(own, axis=1)]
        group, solid = self.group[np.minimum(first, count - 1)], np.where(own, 0, rows - count)
        result: BoolArray = ~own & self.flags[group[:, None], solid]
        return result
