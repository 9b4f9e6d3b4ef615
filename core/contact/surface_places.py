# SPDX-License-Identifier: GPL-3.0-or-later
"""Places on colliders that are followed along the surface, from triangle to neighbouring triangle.

The nearest point of a whole surface jumps from one sheet of it to another: from the palm of a hand to its back. A place
that is followed stays on its sheet: from a known triangle it goes on to the neighbour that is nearer, until none is,
and never to one that faces another way than where it began.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..row_ops import any_of, pick
from .colliders import MovingSurface, SurfaceShape

LEAST_ALIKE = 0.3
"""Cosine of the angle between the normals of triangles of one sheet, from where a search begins, above which it goes
on [-]."""
MOST_MOVES = 32
"""Largest number of neighbours that a place goes through in one search [-]: it bounds the cost, and what is further
away is found in the next steps."""


@dataclass(frozen=True)
class Places:
    """N places on triangles of all colliders.

    Attributes:
        triangle: (N,) in the numbering of all colliders.
        weights: (N, 3) barycentric.
        point: (N, 3) [m].
        normal: (N, 3) unit normals of the triangles.
        front: (N,) whether the point that was looked for is not behind the surface, by the pseudo-normal there.
    """

    triangle: IntArray
    weights: FloatArray
    point: FloatArray
    normal: FloatArray
    front: BoolArray


class SurfacePlaces:
    """Neighbours of the triangles of all colliders, in one numbering.

    Args:
        shapes: of the colliders.

    Attributes:
        first: (S + 1,) where the triangles of each collider begin.
    """

    def __init__(self, shapes: Sequence[SurfaceShape]) -> None:
        self.first: IntArray = np.cumsum([0, *(len(shape.triangles) for shape in shapes)])
        parts = [_near(shape) + begin for shape, begin in zip(shapes, self.first, strict=False)]
        self._near: IntArray = np.concatenate([np.zeros((0, 13), dtype=np.int64), *parts])

    def collider_of(self, triangle: IntArray) -> IntArray:
        """Return the collider (N,) of triangles (N,)."""
        found: IntArray = np.searchsorted(self.first, triangle, side="right") - 1
        return found

    def beside(self, one: IntArray, other: IntArray) -> BoolArray:
        """Return whether triangles (N,) are the same as others (N,), or near to them."""
        result: BoolArray = any_of(pick(self._near, one) == other[:, None])
        return result

    def follow(self, points: FloatArray, triangle: IntArray, moving: Sequence[MovingSurface], *, end: bool) -> Places:
        """Return the places nearest to points (N, 3) [m] on the sheets of triangles (N,), at the start or the `end` of
        a step."""
        at, owner, kernels = triangle.copy(), self.collider_of(triangle), current().surface_places
        weights, point = np.zeros((len(at), 3)), np.zeros((len(at), 3))
        normal, front = np.zeros((len(at), 3)), np.zeros(len(at), dtype=np.bool_)
        for number in np.unique(owner):
            surface, first = moving[number], self.first[number]
            x, corners = (surface.x_t1 if end else surface.x_t0), surface.shape.triangles
            mine = np.flatnonzero(owner == number)
            triangle, weights[mine], point[mine], feature = kernels.follow(
                points[mine], at[mine] - first, self._near, int(first), corners, x, LEAST_ALIKE, MOST_MOVES)
            at[mine] = triangle + first
            pseudo = surface.normals_t1 if end else surface.normals_t0
            outward = pick(pseudo, surface.shape.features[triangle, feature])
            front[mine] = np.einsum("ni,ni->n", points[mine] - point[mine], outward) >= 0.0
            normal[mine] = kernels.unit_normals(corners[triangle], x)
        return Places(at, weights, point, normal, front)

    def carried(self, places: Places, moving: Sequence[MovingSurface]) -> FloatArray:
        """Return where the material at places of the start of a step is at its end (N, 3) [m]."""
        result, owner = places.point.copy(), self.collider_of(places.triangle)
        for number in np.unique(owner):
            surface, mine = moving[number], np.flatnonzero(owner == number)
            corners = surface.shape.triangles[places.triangle[mine] - self.first[number]]
            result[mine] = np.einsum("nk,nki->ni", places.weights[mine], pick(surface.x_t1, corners))
        return result


def _near(shape: SurfaceShape) -> IntArray:
    """Return each triangle, its three neighbours across edges and the three of each of these (T, 13); where there is
    none, itself again."""
    count = len(shape.triangles)
    side = shape.features[:, 1:4].ravel()
    order = np.argsort(side, kind="stable")
    twice = shape.degree[side[order]] == 2
    pairs = order[twice].reshape(-1, 2)
    beside = np.repeat(np.arange(count), 3)
    beside[pairs[:, 0]], beside[pairs[:, 1]] = pairs[:, 1] // 3, pairs[:, 0] // 3
    beside = beside.reshape(count, 3)
    return np.concatenate([np.arange(count)[:, None], beside, beside[beside].reshape(count, 9)], axis=1)
