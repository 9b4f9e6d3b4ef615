# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces that force fields start from, and colliders that absorb them: nearest points, and segments in their way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..contact.bvh import BVH, element_boxes
from ..description.collider import Collider
from ..kernels import current
from ..row_ops import unit


class Mesh:
    """Triangles (T, 3), or edges as triangles with a corner twice, whose vertices may move.

    Args:
        triangles: (T, 3).
        start: (V, 3) [m], from which the tree is built.
    """

    def __init__(self, triangles: IntArray, start: FloatArray) -> None:
        self._triangles = triangles
        self._order = BVH.build(*element_boxes(triangles, np.ascontiguousarray(start))).order

    def nearest(self, x: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the points nearest to points (P, 3) [m], (P, 3) [m], and the unit normals there; vertices x (V, 3).

        The normal of an edge is its direction, from the second vertex to the first.
        """
        nodes = current().trees.fitted_around(self._order, self._triangles, x, x)
        found, place = current().surface_queries.nearest(self._order, nodes, self._triangles, x, points)
        a, b, c = (x[self._triangles[found, k]] for k in range(3))
        edges = self._triangles[found, 1] == self._triangles[found, 2]
        normal = np.where(edges[:, None], a - b, np.cross(b - a, c - a))
        return place, unit(normal)

    def meets(self, x: FloatArray, starts: FloatArray, ends: FloatArray) -> BoolArray:
        """Return which segments, from starts to ends (P, 3) [m], meet a triangle; vertices x (V, 3) [m]."""
        nodes = current().trees.fitted_around(self._order, self._triangles, x, x)
        hit: BoolArray = current().surface_queries.blocked(self._order, nodes, self._triangles, x, starts, ends)
        return hit


@dataclass(frozen=True)
class Absorber:
    """A collider at one time that absorbs a `part` of the fields behind it."""

    name: str
    part: float
    mesh: Mesh
    x: FloatArray

    def blocks(self, starts: FloatArray, ends: FloatArray) -> BoolArray:
        """Return which segments, from starts to ends (P, 3) [m], the collider is in the way of."""
        return self.mesh.meets(self.x, starts, ends)


class Absorbers:
    """The colliders of a scene that may absorb fields."""

    def __init__(self, colliders: Sequence[Collider]) -> None:
        self._colliders = [c for c in colliders if callable(c.absorption) or c.absorption > 0.0]

    def at(self, time: float) -> list[Absorber]:
        """Return those that absorb at `time` [s]."""
        parts = [(c, c.absorption_at(time)) for c in self._colliders]
        return [Absorber(c.name, part, self._meshes[c], np.ascontiguousarray(c.at(time))) for c, part in parts if part]

    @cached_property
    def _meshes(self) -> dict[Collider, Mesh]:
        return {c: Mesh(c.triangles, c.at(0.0)) for c in self._colliders}
