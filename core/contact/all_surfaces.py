# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of all there is: every cloth, and after it every collider.

Vertices, edges and triangles have one numbering, cloth first. What moves how is known of the colliders' part only:
along straight lines from where they are at the start of a step to where they are at its end.

Pairs are looked for where at least one side is cloth. Each collider has three trees, over its triangles, edges and
vertices, that the cloth's vertices, edges and triangles are sent down; they are fitted when cloth comes near.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..collider import Collider
from ..kernels import current
from .bvh import BVH, element_boxes, median_order, touching_boxes
from .colliders import MovingSurface
from .containment import inside
from .crossings import crossing_pairs
from .triangle_surface import TriangleSurface


class AllSurfaces:
    """What is fixed about V vertices of cloth and W of colliders.

    Attributes:
        cloth: its surface. count: V. total: V + W. triangles (T, 3), edges (E, 2): of all.
    """

    def __init__(self, cloth: TriangleSurface, count: int, colliders: Sequence[Collider] = ()) -> None:
        self.cloth, self.count = cloth, count
        solids = [TriangleSurface.build(c.at(0.0), c.triangles) for c in colliders]
        parts = [cloth, *solids]
        begin = np.cumsum([0, count, *(len(s.positions) for s in solids)])
        self.total = int(begin[-1])
        self.triangles: IntArray = np.concatenate([p.triangles + k for p, k in zip(parts, begin, strict=False)])
        self.edges: IntArray = np.concatenate([p.edges + k for p, k in zip(parts, begin, strict=False)])
        triangle = np.cumsum([len(p.triangles) for p in parts])
        edge = np.cumsum([len(p.edges) for p in parts])
        self.solids = [_Solid(s, c.thickness, c.friction, int(begin[k + 1]), int(triangle[k]), int(edge[k]))
                       for k, (s, c) in enumerate(zip(solids, colliders, strict=True))]
        self._last: tuple[Sequence[MovingSurface], Motion] | None = None

    def beside(self, cloth: FloatArray, solids: Sequence[float]) -> FloatArray:
        """A quantity of all vertices (V + W,), from the cloth's (V,) and that of each collider."""
        counts = [len(s.surface.positions) for s in self.solids]
        return np.concatenate([cloth, np.repeat(np.asarray(solids, dtype=np.float64), counts)])

    def motion(self, moving: Sequence[MovingSurface]) -> Motion:
        """The colliders during a step; the same object for the same sequence."""
        if self._last is None or self._last[0] is not moving:
            self._last = moving, Motion(self, moving)
        return self._last[1]


@dataclass
class _Solid:
    """A collider: its surface where it started, and where it begins in the numbering of all."""

    surface: TriangleSurface
    thickness: float
    friction: float
    first_vertex: int
    first_triangle: int
    first_edge: int
    fitted: tuple[MovingSurface, BVH, BVH] | None = None        # trees over its edges and vertices, and when

    @cached_property
    def points(self) -> IntArray:
        """Its vertices (N, 1)."""
        return self.surface.vertices[:, None]

    @cached_property
    def point_order(self) -> IntArray:
        """Leaves of a tree over `points`."""
        return median_order(*element_boxes(self.points, self.surface.positions))

    def trees(self, moving: MovingSurface) -> tuple[BVH, BVH]:
        """Over edges and over vertices, in the frame of the surface's own tree."""
        if self.fitted is None or self.fitted[0] is not moving:
            x_t0 = moving.x_t0 + moving.drift if moving.drift.any() else moving.x_t0
            edges, points = (BVH(order, current().trees.fitted_around(order, elements, x_t0, moving.x_t1))
                             for order, elements in ((self.surface.edge_order, self.surface.edges),
                                                     (self.point_order, self.points)))
            self.fitted = moving, edges, points
        return self.fitted[1], self.fitted[2]


class Motion:
    """All colliders during one step.

    Attributes:
        x_t0, x_t1 (W, 3) [m]: where their vertices are at its start and at its end.
    """

    def __init__(self, owner: AllSurfaces, moving: Sequence[MovingSurface]) -> None:
        self._owner, self._moving = owner, moving
        nothing = np.zeros((0, 3))
        self.x_t0: FloatArray = np.concatenate([nothing, *(m.x_t0 for m in moving)])
        self.x_t1: FloatArray = np.concatenate([nothing, *(m.x_t1 for m in moving)])

    def candidates(self, x0: FloatArray, x1: FloatArray, radius: float) -> tuple[IntArray, IntArray]:
        """Pairs of cloth that moves x0 -> x1 (V, 3) [m] with colliders, whose swept boxes are within `radius` [m] as
        seen by one who moves with the collider: vertices with triangles (N, 2), edges with edges (M, 2)."""
        cloth, none = self._owner.cloth, np.zeros((0, 2), dtype=np.int64)
        vertex_triangle, edge_edge = [none], [none]
        for solid, moving in zip(self._owner.solids, self._moving, strict=True):
            start = x0 + moving.drift if moving.drift.any() else x0
            if not _near(moving.tree, start, x1, radius):
                continue
            edges, points = solid.trees(moving)
            found = []
            for tree, elements in ((moving.tree, np.arange(len(x0))[:, None]), (points, cloth.triangles),
                                   (edges, cloth.edges)):
                low, high = element_boxes(elements, start, x1)
                found.append(touching_boxes(tree, low - radius, high + radius))
            near, tips, crossed = found
            vertex_triangle.append(near + [0, solid.first_triangle])
            vertex_triangle.append(np.stack([solid.points[tips[:, 1], 0] + solid.first_vertex, tips[:, 0]], axis=1))
            edge_edge.append(crossed + [0, solid.first_edge])
        return np.concatenate(vertex_triangle), np.concatenate(edge_edge)

    def crossings(self, x0: FloatArray) -> IntArray:
        """Edges and triangles that they pierce (N, 2), one of cloth at x0 (V, 3) [m] and one of a collider, at the
        start of the step."""
        found, cloth = [np.zeros((0, 2), dtype=np.int64)], None
        for solid, moving in zip(self._owner.solids, self._moving, strict=True):
            low, high = moving.x_t0.min(axis=0), moving.x_t0.max(axis=0)
            if ((x0.min(axis=0) <= high) & (low <= x0.max(axis=0))).all():
                cloth = cloth or self._owner.cloth.at(x0)
                there = solid.surface.at(moving.x_t0)
                found.append(crossing_pairs(cloth, there) + [0, solid.first_triangle])
                found.append(crossing_pairs(there, cloth) + [solid.first_edge, 0])
        return np.concatenate(found)

    def swallowed(self, x0: FloatArray) -> BoolArray:
        """Which vertices of cloth at x0 (V, 3) [m] are inside a closed part of a collider at the start (V,)."""
        result = np.zeros(len(x0), dtype=np.bool_)
        for moving in self._moving:
            shape = moving.shape
            if shape.closed.any():
                low, high = moving.x_t0.min(axis=0), moving.x_t0.max(axis=0)
                rows = np.flatnonzero(((low <= x0) & (x0 <= high)).all(axis=1))
                tree = shape.tree.around(shape.triangles, moving.x_t0)
                result[rows] |= inside(x0[rows], moving.x_t0, shape.triangles, shape.closed, tree)
        return result


def _near(tree: BVH, start: FloatArray, end: FloatArray, radius: float) -> bool:
    """Whether the boxes around what moves from start to end (V, 3) [m] and around a tree are within radius [m]."""
    low, high = tree.box
    below = np.minimum(start.min(axis=0), end.min(axis=0)) - radius
    above = np.maximum(start.max(axis=0), end.max(axis=0)) + radius
    return bool((below <= high).all() and (low <= above).all())
