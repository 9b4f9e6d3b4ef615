# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface of all there is: every cloth, and after it every collider.

Vertices, edges and triangles have one numbering, cloth first. What moves how is known of the colliders' part only:
along straight lines from where they are at the start of a step to where they are at its end.

Pairs are looked for where at least one side is cloth, and for each collider only while cloth is near the whole of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.collider import Collider
from ..kernels import current
from ..row_ops import all_of, box
from .colliders import MovingSurface
from .containment import inside
from .covered import covered
from .crossings import crossing_pairs
from .kept_searches import KeptSearches
from .triangle_surface import TriangleSurface


class AllSurfaces:
    """What is fixed about V vertices of cloth and W of colliders. `skin`: how many of the V have a surface, all if not
    given; particles inside of a body come after them.

    Attributes:
        cloth: its surface. count: V. total: V + W. triangles (T, 3), edges (E, 2): of all. solid_of (V + W,): which
            collider each vertex is of, -1 for cloth.
    """

    def __init__(self, cloth: TriangleSurface, count: int, colliders: Sequence[Collider] = (), skin: int | None = None
                 ) -> None:
        self.cloth, self.count, self.skin = cloth, count, count if skin is None else skin
        solids = [TriangleSurface.build(c.at(0.0), c.triangles) for c in colliders]
        parts = [cloth, *solids]
        begin = np.cumsum([0, count, *(len(s.positions) for s in solids)])
        self.total = int(begin[-1])
        self.triangles: IntArray = np.concatenate([p.triangles + k for p, k in zip(parts, begin, strict=False)])
        self.edges: IntArray = np.concatenate([p.edges + k for p, k in zip(parts, begin, strict=False)])
        triangle = np.cumsum([len(p.triangles) for p in parts])
        edge = np.cumsum([len(p.edges) for p in parts])
        self.solids = [_Solid(s, c.thickness, int(begin[k + 1]), int(triangle[k]), int(edge[k]))
                       for k, (s, c) in enumerate(zip(solids, colliders, strict=True))]
        counts = [count, *(len(s.positions) for s in solids)]
        self.solid_of: IntArray = np.repeat(np.arange(-1, len(solids)), counts)
        self._last: Motion | None = None

    def beside(self, cloth: FloatArray, solids: Sequence[float]) -> FloatArray:
        """A quantity of all vertices (V + W,), from the cloth's (V,) and that of each collider."""
        counts = [len(s.surface.positions) for s in self.solids]
        return np.concatenate([cloth, np.repeat(np.asarray(solids, dtype=np.float64), counts)])

    def motion(self, moving: Sequence[MovingSurface], number: int) -> Motion:
        """Return the colliders during a step; motions of the same `number` are made once."""
        if self._last is None or self._last.number != number:
            self._last = Motion(self, moving, number)
        return self._last


@dataclass(frozen=True)
class _Solid:
    """A collider: its surface where it started, and where it begins in the numbering of all."""

    surface: TriangleSurface
    thickness: float
    first_vertex: int
    first_triangle: int
    first_edge: int

    @cached_property
    def triangles(self) -> IntArray:
        """Its triangles (T, 3), in the numbering of all."""
        return self.surface.triangles + self.first_vertex

    @cached_property
    def edges(self) -> IntArray:
        """Its edges (E, 2), in the numbering of all."""
        return self.surface.edges + self.first_vertex

    @cached_property
    def vertices(self) -> IntArray:
        """Its vertices, neighbours side by side, in the numbering of all."""
        return self.surface.vertices + self.first_vertex


class Motion:
    """All colliders during one step.

    Attributes:
        x_t0, x_t1 (W, 3) [m]: where their vertices are at its start and at its end. number: of `StepSurfaces`.
    """

    def __init__(self, owner: AllSurfaces, moving: Sequence[MovingSurface], number: int) -> None:
        self._owner, self._moving, self.number = owner, moving, number
        self._covered: IntArray | None = None
        self._looked: tuple[FloatArray, IntArray, BoolArray] | None = None
        nothing = np.zeros((0, 3))
        self.x_t0: FloatArray = np.concatenate([nothing, *(m.x_t0 for m in moving)])
        self.x_t1: FloatArray = np.concatenate([nothing, *(m.x_t1 for m in moving)])

    def candidates(self, start: FloatArray, end: FloatArray, slack: FloatArray, radius: FloatArray, *,
                   far: float = np.inf, some: BoolArray | None = None, kept: KeptSearches) -> tuple[IntArray, IntArray]:
        """Pairs of cloth with colliders, all moving start -> end (V + W, 3) [m], that may be within their radius at the
        start, `radius` (V + W,) [m] as in `self_pairs`, or meet on straight ways to ends within `slack` (V + W,) [m] of
        the end: vertices with triangles (N, 2), edges with edges (M, 2); of `some` vertices of cloth (V,) only, if
        given; `far` as in `self_pairs`; `kept` of searches from the same start."""
        cloth, none = self._owner.cloth, np.zeros((0, 2), dtype=np.int64)
        vertex_triangle, edge_edge = [none], [none]
        points, find = np.arange(len(start))[:, None], current().self_pairs.pairs
        marked = some if some is None else np.concatenate([some, np.zeros(len(start) - len(some), dtype=np.bool_)])
        step = start, end, slack, radius, far, marked
        near = self._nearby(start, end, radius)
        for number in set(range(len(self._moving))).difference(near):
            kept.forget(number)
        for number in near:
            solid = self._owner.solids[number]
            found = find(cloth.vertices, points, solid.surface.triangle_order, solid.triangles, False, *step,
                         kept.of("vertices of cloth", number))
            vertex_triangle.append(found + [0, solid.first_triangle])
            vertex_triangle.append(find(solid.vertices, points, cloth.triangle_order, cloth.triangles, False, *step,
                                        kept.of("triangles of cloth", number)))
            found = find(cloth.edge_order, cloth.edges, solid.surface.edge_order, solid.edges, False, *step,
                         kept.of("edges", number))
            edge_edge.append(found + [0, solid.first_edge])
        return np.concatenate(vertex_triangle), np.concatenate(edge_edge)

    def _nearby(self, start: FloatArray, end: FloatArray, radius: FloatArray) -> list[int]:
        """Numbers of the colliders that cloth moving start -> end (V + W, 3) [m] may come within a `radius` (V + W,)
        [m] of."""
        count, near = self._owner.count, []
        cloth = radius[:count].max(initial=0.0)
        (first, last), (lower, upper) = box(start[:count]), box(end[:count])
        for number, (solid, moving) in enumerate(zip(self._owner.solids, self._moving, strict=True)):
            its = radius[solid.vertices].max(initial=0.0)
            (low, high), reach = moving.tree.box, 0.5 * float(cloth + its)
            below = np.minimum(first + moving.drift, lower) - reach
            above = np.maximum(last + moving.drift, upper) + reach
            if (below <= high).all() and (low <= above).all():
                near.append(number)
        return near

    def passages(self, x0: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return where cloth at x0 (V, 3) [m] and colliders cross at the start of the step, edges and triangles that
        they pierce (N, 2), one of cloth and one of a collider; and which vertices of cloth are inside a closed part of
        each of the S colliders (S, V). Found once for the same positions."""
        if self._looked is None or not np.array_equal(self._looked[0], x0):
            self._looked = x0, self._crossings(x0), self._within(x0)
        return self._looked[1], self._looked[2].copy()

    def _crossings(self, x0: FloatArray) -> IntArray:
        """Return the first of `passages`."""
        found, cloth = [np.zeros((0, 2), dtype=np.int64)], None
        below, above = box(x0)
        for solid, moving in zip(self._owner.solids, self._moving, strict=True):
            low, high = box(moving.x_t0)
            if ((below <= high) & (low <= above)).all():
                cloth = cloth or self._owner.cloth.at(x0)
                there = solid.surface.at(moving.x_t0)
                found.append(crossing_pairs(cloth, there) + [0, solid.first_triangle])
                found.append(crossing_pairs(there, cloth) + [solid.first_edge, 0])
        return np.concatenate(found)

    @cached_property
    def open(self) -> BoolArray:
        """Which vertices of colliders are of a part with two sides (W,)."""
        result = [np.zeros(0, dtype=np.bool_)]
        for moving in self._moving:
            shape = moving.shape_t0
            result.append(np.zeros(len(moving.x_t0), dtype=np.bool_))
            result[-1][shape.triangles[~shape.closed]] = True
        return np.concatenate(result)

    def covered(self, low: FloatArray, high: FloatArray) -> IntArray:
        """Return the number of a collider and of a vertex of a collider that it covers at the end (K, 2).

        Where colliders move, vertices in the box of corners `low`, `high` (3,) [m] are looked up alone.
        """
        if self._covered is None:
            rests = all(m.x_t0 is m.x_t1 for m in self._moving)
            low, high = (np.full(3, -np.inf), np.full(3, np.inf)) if rests else (low, high)
            found = self._under(low, high, 0.0)
            if not rests:
                return found
            self._covered = found
        return self._covered

    def narrow(self, some: IntArray, room: float) -> IntArray:
        """Return the number of a closed collider and of a vertex that has it less than `room` [m] in front (K, 2).

        All of `some` vertices of colliders (n,) are looked up, at the end of the step. Cloth is pinched there.
        """
        return self._under(*box(self.x_t1[some]), room)

    def _under(self, low: FloatArray, high: FloatArray, room: float) -> IntArray:
        """Return what `covered.covered` finds at the end (K, 2), with vertices in the numbering of all colliders."""
        found = covered([(m.x_t1, m.shape, m.tree_t1) for m in self._moving], low, high, room)
        first = np.cumsum([0, *(len(m.x_t1) for m in self._moving)])[:-1]
        return np.concatenate([np.zeros((0, 2), dtype=np.int64),
                               *(pairs + [0, begin] for pairs, begin in zip(found, first, strict=True))])

    def _within(self, x0: FloatArray) -> BoolArray:
        """Return the second of `passages`."""
        result = np.zeros((len(self._moving), len(x0)), dtype=np.bool_)
        for number, (moving, there) in enumerate(zip(self._moving, result, strict=True)):
            if moving.shape_t0.closed.any():
                low, high = box(moving.x_t0)
                skin = x0[:self._owner.skin]
                rows = np.flatnonzero(all_of((low <= skin) & (skin <= high)))
                there[rows] = self.inside(number, x0[rows])
        return result

    def inside(self, number: int, points: FloatArray) -> BoolArray:
        """Return which points (n, 3) [m] are inside of a closed part of a collider at the start of the step."""
        moving = self._moving[number]
        shape = moving.shape_t0
        return inside(points, moving.x_t0, shape.triangles, shape.closed, moving.tree_t0)
