# SPDX-License-Identifier: GPL-3.0-or-later
"""A collider at the start: its nearest points, and those that face a given way."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...arrays import NUMBERS_PER_PIECE, BoolArray, FloatArray, IntArray
from ..bvh import BVH, touching_boxes
from ..colliders import SurfaceShape
from ..containment import inside, nearest
from ..distance import VERTICES, point_triangle
from ..triangle_surface import TriangleSurface

WIDENINGS = 6
"""How often the search for a point that faces a given way is widened to twice its radius before it gives up [-]."""


@dataclass(frozen=True)
class SurfacePoints:
    """A point of a collider for each of Q points.

    Attributes:
        triangle: (Q,). point: (Q, 3) [m]. normal: (Q, 3) pseudo-normal there. distance: (Q,) [m].
        border: (Q,) whether the point is on the border of an open part.
    """

    triangle: IntArray
    point: FloatArray
    normal: FloatArray
    distance: FloatArray
    border: BoolArray


class ColliderSurface:
    """A collider of W vertices at the start.

    Args:
        x: (W, 3) [m].
        shape: closed parts have their normals outwards.
        surface: its triangles in the order of the shape.
        thickness: extra distance kept from it [m].

    Attributes:
        x, shape, thickness: as given. surface: at x.
    """

    def __init__(self, x: FloatArray, shape: SurfaceShape, surface: TriangleSurface, thickness: float) -> None:
        self.x, self.shape, self.thickness = x, shape.between(x, x)[0], thickness
        self.surface = surface.at(x)
        self._normals = self.shape.normals(x)
        self._tree = self.shape.tree.around(self.shape.triangles, x)

    @cached_property
    def vertex_normals(self) -> FloatArray:
        """Pseudo-normals of the vertices (W, 3), 0 where no triangle is."""
        result = np.zeros_like(self.x)
        result[self.shape.triangles] = self._normals[self.shape.features[:, list(VERTICES)]]
        return result

    @cached_property
    def face_normals(self) -> FloatArray:
        """Normals of the triangles (T, 3)."""
        return self._normals[self.shape.features[:, 0]]

    @cached_property
    def closed_vertices(self) -> BoolArray:
        """Return which vertices (W,) belong to a closed part."""
        result = np.zeros(len(self.x), dtype=np.bool_)
        result[self.shape.triangles[self.shape.closed]] = True
        return result

    @cached_property
    def _vertex_tree(self) -> BVH:
        return BVH.build(self.x, self.x)

    def vertices_near(self, lower: FloatArray, upper: FloatArray) -> IntArray:
        """Return the vertices (n,) in any of the boxes lower, upper (Q, 3) [m]."""
        return np.unique(touching_boxes(self._vertex_tree, lower, upper)[:, 1])

    def nearest(self, points: FloatArray) -> SurfacePoints:
        """Return the nearest point of each of `points` (Q, 3) [m]."""
        triangle, close = nearest(points, self.x, self.shape.triangles, self._tree)
        return self._points(triangle, close.feature, close.point, close.distance)

    def near(self, points: FloatArray, radius: FloatArray, also: BoolArray) -> tuple[IntArray, SurfacePoints]:
        """Return the rows (n,) of those `points` (Q, 3) [m] that are within their `radius` (Q,) [m], inside a closed
        part, or `also` wanted (Q,), and the nearest point of each."""
        query, triangle = touching_boxes(self._tree, points - radius[:, None], points + radius[:, None]).T
        close = point_triangle(points[query], *(self.x[self.shape.triangles[triangle, k]] for k in range(3)))
        order = np.lexsort((triangle, close.distance, query))
        order = order[close.distance[order] <= radius[query[order]]]
        best = order[np.unique(query[order], return_index=True)[1]]
        rest = also | inside(points, self.x, self.shape.triangles, self.shape.closed, self._tree)
        rest[query[best]] = False
        far = np.flatnonzero(rest)
        number, there = nearest(points[far], self.x, self.shape.triangles, self._tree)
        rows = np.concatenate([query[best], far])
        return rows, self._points(np.concatenate([triangle[best], number]),
                                  np.concatenate([close.feature[best], there.feature]),
                                  np.concatenate([close.point[best], there.point]),
                                  np.concatenate([close.distance[best], there.distance]))

    def inside(self, points: FloatArray, some: BoolArray) -> BoolArray:
        """Return which of `some` (Q,) of the points (Q, 3) [m] are inside closed parts (Q,)."""
        result, rows = some.copy(), np.flatnonzero(some)
        result[rows] = inside(points[rows], self.x, self.shape.triangles, self.shape.closed, self._tree)
        return result

    def facing(self, points: FloatArray, outward: FloatArray, radius: FloatArray) -> tuple[BoolArray, SurfacePoints]:
        """Return for each of `points` (Q, 3) [m] the best point of closed parts whose normal has a part along `outward`
        (Q, 3), near or far; and where there is one (Q,).

        The best point has the least distance times 2 - cos(angle). The search begins within `radius` (Q,) [m].
        """
        found = np.zeros(len(points), dtype=np.bool_)
        result = self.nearest(points)
        arrays = result.triangle.copy(), result.point.copy(), result.normal.copy(), result.distance.copy()
        size = radius.copy()
        for _ in range(WIDENINGS):
            left = np.flatnonzero(~found)
            if len(left) == 0:
                break
            some, *values = self._facing(points[left], outward[left], size[left])
            for array, value in zip(arrays, values, strict=True):
                array[left[some]] = value
            found[left[some]] = True
            size *= 2.0
        return found, SurfacePoints(*arrays, result.border & ~found)

    def _facing(self, points: FloatArray, outward: FloatArray, radius: FloatArray
                ) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
        """Return the rows (n,) of the points with a point that faces `outward` within the radius; its triangle (n,),
        place (n, 3) and normal (n, 3), and its distance (n,)."""
        parts = []
        per_piece = max(1, NUMBERS_PER_PIECE // max(1, len(self.shape.triangles)))
        for first in range(0, len(points), per_piece):
            p, r = points[first:first + per_piece], radius[first:first + per_piece, None]
            query, triangle = touching_boxes(self._tree, p - r, p + r).T
            closed = self.shape.closed[triangle]
            query, triangle = query[closed], triangle[closed]
            corners = (self.x[self.shape.triangles[triangle, k]] for k in range(3))
            close = point_triangle(p[query], *corners)
            normal = self._normals[self.shape.features[triangle, close.feature]]
            cosine = np.einsum("qi,qi->q", normal, outward[first + query])
            fits = np.flatnonzero((cosine > 0.0) & (close.distance <= radius[first + query]))
            cost = (close.distance * (2.0 - cosine))[fits]
            order = fits[np.lexsort((triangle[fits], cost, query[fits]))]
            best = order[np.unique(query[order], return_index=True)[1]]
            parts.append((first + query[best], triangle[best], close.point[best], normal[best], close.distance[best]))
        rows, triangle, point, normal, distance = (np.concatenate(part) for part in zip(*parts, strict=True))
        return rows, triangle, point, normal, distance

    def _points(self, triangle: IntArray, feature: IntArray, point: FloatArray, distance: FloatArray) -> SurfacePoints:
        number = self.shape.features[triangle, feature]
        edges = self.shape.features[triangle][:, 1:4]
        on_edge = (feature >= 1) & (feature <= 3) & (self.shape.degree[number] == 1)
        at_rim = (feature >= 4) & (self.shape.degree[edges] == 1).any(axis=1)
        border = (on_edge | at_rim) & ~self.shape.closed[triangle]
        return SurfacePoints(triangle, point, self._normals[number], distance, border)
