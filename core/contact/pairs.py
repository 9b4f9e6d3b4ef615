# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of cloth vertices with moving surfaces in one step.

A contact holds one vertex on one side of a plane: through a point of the surface's material, with a unit normal n that
points to the side the cloth must stay on, and a gap less the thickness. A response that moves the predicted end x_t1
along n until gap_t1 >= 0 keeps the vertex out. Two ways lead to a contact:

- *Near*: the surface is within thickness * (1 + margin) of x_t1. Each place where the distance to the surface has a
  minimum counts once: on a smooth surface that is one, in a wedge it is one for each wall. Minima with nearly the
  same normal count as the nearest of them.
- *Entered*: the path relative to the moving triangle pierces it (see `point_triangle_ccd`), so that however far
  x_t1 lies beyond, the side of the start is kept. A vertex that is inside a closed part at the start counts as having
  entered through the nearest point. The first entry decides; where the nearest point of the end has the same side,
  that is the better place and taken instead.

What comes to a face around its edge is held where it came from, not along the face (see `around_edges`).

A vertex put back by an entry can run into the next wall of a corner, so its path to the corrected end is searched
again. A vertex inside a closed part, further than the search reaches, is pushed to the nearest surface.
An open sheet has two sides, and a vertex belongs to the one it is on at the start of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..row_ops import box, pick
from .around_edges import AROUND, around_edges
from .colliders import MovingSurface
from .planes import MAX_PER_VERTEX, SAME_SIDE, Planes, find_planes

MARGIN = 0.5
"""Share of the distance to keep by which contacts are found beyond it, to find those about to close [-]."""
PUT_BACK_LACK = 0.1
"""Share of the thickness that a vertex put back from one place may lack at the next [-]."""


@dataclass(frozen=True)
class Contacts:
    """C contacts, sorted by vertex, the deepest of a vertex first.

    Attributes:
        vertex (C,): cloth vertex.
        collider (C,): index into the surfaces given.
        triangle (C,): index into the surface's triangles.
        barycentric (C, 3): place on the triangle.
        point_t0, point_t1 (C, 3) [m]: that point of the material at the start and the end of the step.
        normal (C, 3): unit normal at the end, towards the side the cloth must stay on.
        gap_t0 (C,) [m]: distance of the start from the surface, negative inside, or its height over the plane carried
            back with the triangle where that is more (another wall of a corner), less the thickness.
        gap_t1 (C,) [m]: height of the predicted end over the plane, less the thickness.
    """

    vertex: IntArray
    collider: IntArray
    triangle: IntArray
    barycentric: FloatArray
    point_t0: FloatArray
    point_t1: FloatArray
    normal: FloatArray
    gap_t0: FloatArray
    gap_t1: FloatArray

    def __len__(self) -> int:
        return len(self.vertex)

    def __getitem__(self, rows: IntArray | BoolArray) -> Contacts:
        """The contacts of these rows."""
        some = np.arange(len(self))[rows]
        return Contacts(**{f.name: pick(getattr(self, f.name), some) for f in fields(self)})

    @staticmethod
    def join(parts: Sequence[Contacts]) -> Contacts:
        """All contacts of the parts, one part after the other."""
        names = [f.name for f in fields(Contacts)]
        return Contacts(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def find_contacts(
    x_t0: FloatArray,
    x_t1: FloatArray,
    surfaces: Sequence[MovingSurface],
    thickness: FloatArray,
    *,
    margin: float = MARGIN,
    allowed: BoolArray | None = None,
) -> Contacts:
    """Contacts of vertices moving from x_t0 to the predicted x_t1 (V, 3) [m], thickness (V,) [m], with `surfaces`.

    A surface's thickness is added to the vertex's. `margin` [-] reaches further by this share of both, to find
    contacts about to close: their gap_t1 is positive. `allowed` (S, V): which vertices may be in contact with each of
    the surfaces; None for all.
    """
    found = _no_contacts()
    rows: IntArray | None = None                                       # all
    target = x_t1
    for turn in range(MAX_PER_VERTEX):
        entered = _no_contacts()
        start, end = (x_t0, target) if rows is None else (x_t0[rows], target[rows])
        start_box, end_box = box(start), box(end)
        for number, surface in enumerate(surfaces):
            reach = (thickness + surface.thickness) * (1.0 + margin)
            if rows is not None:
                reach = reach[rows]
            if not _meets(surface, start_box, end_box, float(reach.max(initial=0.0))):
                continue
            if allowed is not None and not allowed[number].any():
                continue
            planes, distance = find_planes(surface, start, end, reach, deep=turn == 0)
            if allowed is not None:
                planes = planes[allowed[number][planes.vertex if rows is None else rows[planes.vertex]]]
            if len(planes) == 0:
                continue
            vertex = planes.vertex if rows is None else rows[planes.vertex]
            new = _measured(number, surface, planes, distance[planes.vertex], vertex, x_t0, x_t1, thickness)
            room = (thickness if rows is None else thickness[rows]) + surface.thickness
            near = np.flatnonzero(new.gap_t1 < -AROUND * room[planes.vertex]) if rows is None else np.arange(len(new))
            turned = around_edges(planes, surface, start, end, distance, room, near)
            if turned is not planes:
                planes = turned
                new = _measured(number, surface, planes, distance[planes.vertex], vertex, x_t0, x_t1, thickness)
            fresh = np.ones(len(new), dtype=bool)
            if len(found):
                fresh, stale = _compared(new, found, target, thickness, surface.thickness)
                new, found = new[fresh], found[~stale]
            found = Contacts.join([found, new]) if len(found) else new
            if planes.entered.any():
                entered = Contacts.join([entered, new[planes.entered[fresh]]])
        if len(entered) == 0:
            break
        target = _put_back(target, entered, thickness, surfaces)
        rows = np.unique(entered.vertex)
    return found if (np.diff(found.vertex) > 0).all() else found[_deepest_first(found)]


def _meets(
    surface: MovingSurface, start: tuple[FloatArray, FloatArray], end: tuple[FloatArray, FloatArray], reach: float
) -> bool:
    """Whether what moves from box to box [m] can come within reach [m] of the surface at all."""
    low, high = surface.tree.box
    below = np.minimum(start[0] + surface.drift, end[0]) - reach
    above = np.maximum(start[1] + surface.drift, end[1]) + reach
    return bool((below <= high).all() and (low <= above).all())


def _deepest_first(found: Contacts) -> IntArray:
    """Rows in order of vertex, gap, collider and triangle, at most MAX_PER_VERTEX a vertex."""
    order: IntArray = np.argsort(found.vertex, kind="stable")
    vertex = found.vertex[order]
    count = np.bincount(vertex)[vertex] if len(vertex) else vertex
    several = np.flatnonzero(count > 1)                                    # few: sorting is for these alone
    row = order[several]
    order[several] = row[np.lexsort((found.triangle[row], found.collider[row], found.gap_t1[row], found.vertex[row]))]
    rank = np.arange(len(order)) - np.searchsorted(vertex, vertex)
    return order[rank < MAX_PER_VERTEX]


def _measured(
    number: int,
    surface: MovingSurface,
    planes: Planes,
    distance_t0: FloatArray,
    vertex: IntArray,
    x_t0: FloatArray,
    x_t1: FloatArray,
    thickness: FloatArray,
) -> Contacts:
    """The planes as contacts of the vertices (N,), with places and gaps."""
    point_t0, point_t1, gap_t0, gap_t1 = current().surface_contacts.measured(
        vertex, planes.triangle, planes.barycentric, planes.normal, distance_t0, x_t0, x_t1,
        thickness + surface.thickness, surface.shape.triangles, surface.x_t0, surface.x_t1)
    collider = np.full(len(vertex), number)
    return Contacts(
        vertex, collider, planes.triangle, planes.barycentric, point_t0, point_t1, planes.normal, gap_t0, gap_t1
    )


def _compared(
    new: Contacts, found: Contacts, target: FloatArray, thickness: FloatArray, surface_thickness: float
) -> tuple[BoolArray, BoolArray]:
    """Which new contacts to take, and which found ones they replace.

    A new contact with the normal of a found one, of the same vertex and collider, says nothing new, unless `target`
    (V, 3) [m], to which the found one has brought the vertex, is still clearly too near to the new one.
    """
    room = thickness[new.vertex] + surface_thickness
    height = np.einsum("ci,ci->c", target[new.vertex] - new.point_t1, new.normal)
    better = height < (1.0 - PUT_BACK_LACK) * room
    width = 1 + max(new.collider.max(initial=0), found.collider.max(initial=0))
    order = np.argsort(found.vertex * width + found.collider, kind="stable")
    known = (found.vertex * width + found.collider)[order]
    key = new.vertex * width + new.collider
    first, last = np.searchsorted(known, key, side="left"), np.searchsorted(known, key, side="right")
    fresh, stale = np.ones(len(new), dtype=bool), np.zeros(len(found), dtype=bool)
    for step in range(int((last - first).max(initial=0))):
        row = np.flatnonzero(first + step < last)
        old = order[first[row] + step]
        same = np.einsum("ci,ci->c", new.normal[row], found.normal[old]) > SAME_SIDE
        fresh[row[same & ~better[row]]] = False
        stale[old[same & better[row]]] = True
    return fresh, stale


def _put_back(
    x: FloatArray, contacts: Contacts, thickness: FloatArray, surfaces: Sequence[MovingSurface]
) -> FloatArray:
    """x (V, 3) [m] with each contact's vertex lifted to its plane, one contact of a vertex after the other."""
    x = x.copy()
    room = thickness[contacts.vertex] + np.array([s.thickness for s in surfaces])[contacts.collider]
    left = np.arange(len(contacts))
    while len(left):
        first = np.unique(contacts.vertex[left], return_index=True)[1]
        c = left[first]
        vertex, normal = contacts.vertex[c], contacts.normal[c]
        height = np.einsum("ci,ci->c", x[vertex] - contacts.point_t1[c], normal)
        x[vertex] += np.maximum(room[c] - height, 0.0)[:, None] * normal
        left = np.delete(left, first)
    return x


def _no_contacts() -> Contacts:
    index, number, place = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 3))
    return Contacts(index, index, index, place, place, place, place, number, number)
