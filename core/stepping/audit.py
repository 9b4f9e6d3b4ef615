# SPDX-License-Identifier: GPL-3.0-or-later
"""Audit positions: count crossings, measure the smallest gap and the deepest penetration.

The audit reads finished positions only. It shares bounding-volume trees and distance functions with the solver, but
decides crossings by the exact signs of volumes, which the solver does not use.

Positions at one time cannot show cloth that went through a surface completely between two frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, float_rows, index_rows
from ..contact.bvh import BVH
from ..contact.colliders import SurfaceShape
from ..contact.containment import inside, nearest
from ..contact.exclusions import Exclusions
from ..contact.narrow_places import narrow
from ..contact.rooms import shapes_of
from ..contact.triangle_surface import TriangleSurface
from ..description.topology import bodies
from ..did_you_mean import names_arguments
from ..errors import SceneError
from .meetings import Crossings, Meetings, PartialMeetings, all_meetings

Mesh = tuple[FloatArray, IntArray]
"""positions (V, 3) [m], triangles (T, 3)"""

LARGEST_GAP = 0.5
"""Largest gap that is reported, over the mean edge length of the cloths [-]."""
GAP_DECAY = 0.8
"""Part of the expected gap that is kept per audit [-]."""
GAP_MARGIN = 1.5
"""First search radius, over the gap expected from the last audits [-]."""


@dataclass(frozen=True)
class Audit:
    """Result of an audit. Objects are numbered, cloths first, then colliders.

    Attributes:
        crossings: number of pairs of an edge and a triangle that it pierces; at least one of the two belongs to cloth.
        smallest_gap: smallest distance between cloth and colliders, and between parts of cloth that are not neighbours
            [m]; 0 with crossings, None if it is above half a mean edge length or was not asked for.
        deepest_penetration: largest depth of a cloth vertex inside a closed collider that is not a room [m].
        edge_object: (N,) object of the edge of each crossing.
        edges: (N, 2) vertices of the edge, numbered within its object.
        triangle_object: (N,) object of the triangle of each crossing.
        triangles: (N,) triangle, numbered within its object.
    """

    crossings: int
    smallest_gap: float | None
    deepest_penetration: float
    edge_object: IntArray
    edges: IntArray
    triangle_object: IntArray
    triangles: IntArray

    def by_objects(self) -> list[tuple[int, int, int]]:
        """Return (object, other or same object, number of crossings), most crossings first."""
        one, other = self.edge_object, self.triangle_object
        low, high = np.minimum(one, other), np.maximum(one, other)
        count = 1 + int(high.max(initial=0))
        pairs, counts = np.unique(low * count + high, return_counts=True)    # as numbers: rows take ten times as long
        order = np.argsort(-counts, kind="stable")
        return [(int(k) // count, int(k) % count, int(n)) for k, n in zip(pairs[order], counts[order], strict=True)]


@names_arguments(SceneError)
def audit(cloths: Sequence[Mesh], colliders: Sequence[Mesh] = ()) -> Audit:
    """Audit cloths and colliders, each given as (positions (V, 3) [m], triangles (T, 3)).

    All pairs count, also those that `ClothContact` excludes; in a certificate these do not.

    Raises:
        SceneError: an entry is not such a pair, names a vertex that does not exist, or is not finite.
    """
    for what, meshes in (("cloths", cloths), ("colliders", colliders)):
        if not _is_list(meshes):
            raise SceneError(f"{what} is {meshes!r}, it must be a list of pairs (positions, triangles)")
    auditor = Auditor(cloths, colliders)
    return auditor.look([float_rows(x, 3) for x, _ in cloths], [float_rows(x, 3) for x, _ in colliders])


class Auditor:
    """Audit the same meshes at many positions; topology and trees are built once.

    Args:
        cloths: (positions (V, 3) [m], triangles (T, 3)) of each cloth.
        colliders: the same of each collider.
        surface: surface of all cloths in order, if it exists already. Only its vertices count then.
        shapes: shapes of the colliders, if they exist already; otherwise these positions decide which are rooms.
        exclusions: what is excluded from contact, and does not count here; None if nothing is.
    """

    def __init__(self, cloths: Sequence[Mesh], colliders: Sequence[Mesh] = (), *,
                 surface: TriangleSurface | None = None, shapes: Sequence[SurfaceShape] | None = None,
                 exclusions: Exclusions | None = None) -> None:
        self._cloths, self._colliders = _Stack("cloth", cloths, surface), _Stack("collider", colliders)
        self._shapes = shapes if shapes is not None else self._own_shapes(colliders)
        self._last_placed: list[tuple[FloatArray, SurfaceShape, BVH] | None] = [None] * len(self._shapes)
        ends = self._cloths.surface.positions[self._cloths.surface.edges]
        lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        self._radius = LARGEST_GAP * float(lengths.mean()) if len(lengths) else 0.0
        piece = bodies(self._cloths.surface.edges, int(self._cloths.first_vertex[-1]))
        judged: IntArray = np.arange(len(piece)) if surface is None else np.sort(surface.vertices)
        self._judged = judged
        self._of_pieces = judged[np.unique(piece[judged], return_index=True)[1]]    # a vertex of each connected piece
        self._expected_gap = np.inf                                  # [m]; a memory of cost, not of results
        self._crossed = False                                        # at the last audit; likewise
        self._search, self._allowed = all_meetings, None
        if exclusions is not None and exclusions.exclude:
            self._allowed = exclusions.with_solids()
            self._search = PartialMeetings(exclusions, self._cloths.surface, self._colliders.surface,
                                           self._colliders.first_triangle.tolist()).find

    def _own_shapes(self, colliders: Sequence[Mesh]) -> list[SurfaceShape]:
        surface = self._cloths.surface
        return shapes_of([_checked("collider", i, mesh) for i, mesh in enumerate(colliders)], surface.positions,
                         bodies(surface.edges, len(surface.positions)), surface)

    def look(
        self, cloths: Sequence[FloatArray], colliders: Sequence[FloatArray] = (), *, gap: bool = True
    ) -> Audit:
        """Return the audit at positions (V, 3) [m] of each cloth and each collider; without `gap`, no smallest gap."""
        cloth, solid = self._cloths.at(cloths), self._colliders.at(colliders)
        meetings = self._meetings(cloth, solid, self._radius if gap else 0.0)
        found = [self._own_numbers(crossings, len(cloths)) for crossings in meetings.crossings]
        edge_object, edges, triangle_object, triangles = (np.concatenate(c) for c in zip(*found, strict=True))
        self._crossed = len(edges) > 0
        smallest = 0.0 if self._crossed else meetings.gap
        return Audit(
            len(edges),
            smallest if gap and smallest < self._radius else None,
            self._deepest(cloth.positions, colliders, meetings.any_crossings(with_solids=True)),
            edge_object,
            edges,
            triangle_object,
            triangles,
        )

    def narrow(self, points: FloatArray, colliders: Sequence[FloatArray], room: float, some: IntArray) -> BoolArray:
        """Return which points (N, 3) [m] are where `some` of the colliders (n,), at positions (W, 3) [m], leave less
        than `room` [m]."""
        placed = [self._placed(number, colliders[number]) for number in some]
        return narrow(points, [(x, shape, tree if shape.closed.any() else tree.around(shape.triangles, x))
                               for x, shape, tree in placed], room)

    def _meetings(self, cloth: TriangleSurface, solid: TriangleSurface, radius: float) -> Meetings:
        """Return how cloth meets colliders and cloth within a radius [m]."""
        if self._crossed and radius > 0.0:                           # likely again, and then the gap is 0
            found = self._search(cloth, solid, 0.0)
            if found.any_crossings():
                return found
        expected = min(radius, GAP_MARGIN * self._expected_gap)
        found = self._search(cloth, solid, expected)
        if found.gap == expected < radius:                           # nothing that near: search further
            found = self._search(cloth, solid, radius)
        if radius > 0.0:                                             # decays slowly, so that few audits search twice
            decayed = GAP_DECAY * self._expected_gap
            self._expected_gap = max(found.gap, decayed) if self._expected_gap < np.inf else found.gap
        return found

    def _deepest(self, points: FloatArray, colliders: Sequence[FloatArray], crossed: bool) -> float:
        """Return the largest depth of vertices at points (V, 3) [m] in closed colliders [m].

        Without crossings each connected piece of cloth is inside or outside as a whole: one vertex per piece decides,
        where all of it may be in contact.
        """
        deepest = 0.0
        for number, x in enumerate(colliders):
            _, shape, tree = self._placed(number, x)
            judged = self._judged
            if self._allowed is not None:
                judged, crossed = judged[self._allowed[number, judged]], True
            if not (crossed or inside(points[self._of_pieces], x, shape.triangles, shape.closed, tree).any()):
                continue
            within = points[judged]
            within = within[inside(within, x, shape.triangles, shape.closed, tree)]
            deepest = max(deepest, float(nearest(within, x, shape.triangles, tree)[1].distance.max(initial=0.0)))
        return deepest

    def _own_numbers(self, found: Crossings, cloths: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the objects and the indices within them of crossings: object of each edge (N,), its vertices (N, 2),
        object of each triangle (N,), and its index (N,). There are so many `cloths`, and colliders after them."""
        of_edges, of_triangles = ((self._colliders if solids else self._cloths)
                                  for solids in (found.edges_of_solids, found.triangles_of_solids))
        edge_object = np.searchsorted(of_edges.first_vertex, found.edges[:, 0], side="right") - 1
        triangle_object = np.searchsorted(of_triangles.first_triangle, found.triangles, side="right") - 1
        return (edge_object + (cloths if found.edges_of_solids else 0),
                found.edges - of_edges.first_vertex[edge_object][:, None],
                triangle_object + (cloths if found.triangles_of_solids else 0),
                found.triangles - of_triangles.first_triangle[triangle_object])

    def _placed(self, number: int, x: FloatArray) -> tuple[FloatArray, SurfaceShape, BVH]:
        """Return a collider at x (V, 3) [m], its shape there and a tree around it; made once while it rests."""
        last = self._last_placed[number]
        if last is None or not np.array_equal(last[0], x):
            shape = self._shapes[number].between(x, x)[0]
            tree = shape.tree.around(shape.triangles, x) if shape.closed.any() else shape.tree
            last = self._last_placed[number] = x.copy(), shape, tree
        return last


class _Stack:
    """Several meshes as one surface.

    Attributes:
        first_vertex, first_triangle: (M + 1,) where the vertices and triangles of each mesh begin.
    """

    def __init__(self, what: str, meshes: Sequence[Mesh], surface: TriangleSurface | None = None) -> None:
        checked = [_checked(what, number, mesh) for number, mesh in enumerate(meshes)]
        positions, triangles = [x for x, _ in checked], [t for _, t in checked]
        self.first_vertex = np.cumsum([0, *map(len, positions)])
        self.first_triangle = np.cumsum([0, *map(len, triangles)])
        moved = [t + first for t, first in zip(triangles, self.first_vertex, strict=False)]
        self._last: TriangleSurface | None = None                    # a memory of cost, not of results
        self.surface = surface or TriangleSurface.build(
            np.concatenate([np.zeros((0, 3)), *positions]), np.concatenate([np.zeros((0, 3), dtype=np.int64), *moved])
        )

    def at(self, positions: Sequence[FloatArray]) -> TriangleSurface:
        """Return the surface at other positions (V, 3) [m] of each mesh."""
        counts = [len(x) for x in positions]
        if counts != np.diff(self.first_vertex).tolist():
            raise SceneError(f"the meshes have {counts} vertices, they must have "
                             f"{np.diff(self.first_vertex).tolist()} as before")
        for number, x in enumerate(positions):
            finite = np.isfinite(x)
            if not finite.all():
                vertex = int(np.argmin(finite.all(axis=1)))
                raise SceneError(f"vertex {vertex} of mesh {number} is at {x[vertex].tolist()}, which is not a number; "
                                 "leave this frame out of the audit")
        together = np.concatenate([np.zeros((0, 3)), *positions])
        if self._last is None or not np.array_equal(self._last.positions, together):
            self._last = self.surface.at(together)                   # meshes at rest keep their boxes
        return self._last


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _checked(what: str, number: int, mesh: Any) -> Mesh:
    """Return mesh `number` of the cloths or colliders (`what`) as arrays.

    Raises:
        SceneError: it is not a mesh, or names a vertex that does not exist.
    """
    name = f"{what} {number}"
    if not (_is_list(mesh) and len(mesh) == 2):
        raise SceneError("must be a pair (positions, triangles)", object_name=name)
    try:
        positions, triangles = float_rows(mesh[0], 3), index_rows(mesh[1], 3)
    except ValueError as error:
        raise SceneError(f"positions or triangles: {error}", object_name=name) from None
    outside = (triangles < 0) | (triangles >= len(positions))
    if outside.any():
        t = int(np.argmax(outside.any(axis=1)))
        raise SceneError(f"triangle {t} {triangles[t].tolist()} names a vertex that does not exist, they must be in "
                         f"0..{len(positions) - 1}", object_name=name)
    return positions, triangles
