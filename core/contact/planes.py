# SPDX-License-Identifier: GPL-3.0-or-later
"""The planes that hold vertices on their side of one moving surface (see `pairs` for the rules)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..kernels.reference.contacts import Entries, Places
from .colliders import MovingSurface
from .containment import inside, nearest
from .distance import FACE

MAX_PER_VERTEX = 3
"""Contacts kept per vertex: three planes leave no direction free."""

SAME_SIDE = 0.9
"""Cosine of the angle between normals from which two contacts of a vertex count as one (26 degrees)."""

AGREES = 0.5
"""Cosine from which a near plane is on the side that the vertex entered from (60 degrees)."""

TOUCHING = 1e-6
"""Distance over reach below which the direction from the surface to the vertex has too few digits [-]."""


@dataclass(frozen=True)
class Planes:
    """N planes.

    Attributes:
        vertex, triangle (N,): whose plane, and where on the surface.
        barycentric (N, 3): place on the triangle.
        normal (N, 3): unit normal towards the side to stay on.
        entered (N,): whether the vertex's path enters the surface.
    """

    vertex: IntArray
    triangle: IntArray
    barycentric: FloatArray
    normal: FloatArray
    entered: BoolArray

    def __getitem__(self, rows: IntArray | BoolArray) -> Planes:
        return Planes(
            self.vertex[rows], self.triangle[rows], self.barycentric[rows], self.normal[rows], self.entered[rows]
        )

    def __len__(self) -> int:
        return len(self.vertex)


def find_planes(
    surface: MovingSurface, x_t0: FloatArray, x_t1: FloatArray, reach: FloatArray, *, deep: bool
) -> tuple[Planes, FloatArray]:
    """Planes for vertices moving from x_t0 to x_t1 (V, 3) [m] near or through the surface.

    reach (V,) [m]: how far from the surface x_t1 is near it. `deep`: also for vertices further inside than that.
    Also each vertex's distance (V,) [m] from the surface at the start, negative inside: reach at most, and -inf, which
    says nothing, if it may have been further inside than that.
    """
    shape = surface.shape
    at_start, entered, at_end = current().contacts.meetings(
        x_t0, x_t1, reach, surface.drift, surface.tree.order, surface.tree.nodes, shape.triangles, shape.closed,
        shape.features, shape.degree, surface.x_t0, surface.x_t1)
    start, distance = _start(surface, at_start, x_t0)
    entry = _entries(surface, entered)
    entry = _joined(start, entry[~np.isin(entry.vertex, start.vertex)])
    near, within, first, inside_now = _minima(surface, at_end, x_t1, reach)

    # The entry of each near plane's vertex, -1 for none; on an open sheet the entry says which side is meant.
    of_entry = np.full(len(x_t0), -1)
    of_entry[entry.vertex] = np.arange(len(entry))
    mine = of_entry[near.vertex]
    if len(entry) and len(near):
        cosine = np.einsum("ni,ni->n", near.normal, entry.normal[mine])
        turned = (mine >= 0) & ~surface.shape.closed[near.triangle] & (cosine < 0.0)
        near.normal[turned] *= -1.0
        cosine[turned] *= -1.0
        near = Planes(near.vertex, near.triangle, near.barycentric, near.normal, mine >= 0)
        agrees = np.zeros(len(x_t0), dtype=bool)
        agrees[near.vertex[first]] = cosine[first] > AGREES
        entry = entry[~agrees[entry.vertex]]
        # Beyond the entry only the nearest says anything; more walls show once the vertex is back (see `pairs`).
        is_first = np.zeros(len(mine), dtype=bool)
        is_first[first] = True
        within = np.where(mine >= 0, is_first & agrees[near.vertex], within)
    inside_now &= of_entry < 0
    planes = _joined(entry, near[_distinct(near, within)])
    if deep:
        held = np.zeros(len(x_t0), dtype=bool)
        held[planes.vertex] = True
        inner = _deep(surface, x_t1, np.flatnonzero(~held))
        inside_now[inner.vertex] = True
        planes = _joined(planes, inner)
    return planes, np.where(np.isfinite(distance) | inside_now, distance, reach)


def _entries(surface: MovingSurface, entered: Entries) -> Planes:
    """The plane of the first triangle that each vertex's path pierces."""
    vertex, triangle, barycentric, side = entered
    normal = surface.normals_t1[triangle] * side[:, None] if len(triangle) else np.zeros((0, 3))
    return Planes(vertex, triangle, barycentric, normal, np.ones(len(triangle), dtype=bool))


def _start(surface: MovingSurface, places: Places, x_t0: FloatArray) -> tuple[Planes, FloatArray]:
    """Planes at the nearest point of vertices that start inside a closed part, and where all vertices (V,) start."""
    shape = surface.shape
    vertex, triangle, barycentric, point, gap, code = places
    distance = np.full(len(x_t0), -np.inf)
    distance[vertex] = gap
    near = np.flatnonzero(shape.closed[triangle])
    feature = shape.features[triangle[near], code[near]]
    if len(near):
        height = np.einsum("ni,ni->n", x_t0[vertex[near]] - point[near], surface.normals_t0[feature])
        near, feature = near[height < 0.0], feature[height < 0.0]
        distance[vertex[near]] *= -1.0
    normal = surface.normals_t1[feature] if len(near) else np.zeros((0, 3))
    return Planes(vertex[near], triangle[near], barycentric[near], normal, np.ones(len(near), dtype=bool)), distance


def _minima(
    surface: MovingSurface, places: Places, x_t1: FloatArray, reach: FloatArray
) -> tuple[Planes, BoolArray, IntArray, BoolArray]:
    """Planes where the distance from x_t1 to the surface has a minimum within reach, nearest first for each vertex.

    Also which of them are contacts where the vertex has entered nowhere, the row of each vertex's nearest, and
    whether each vertex (V,) ends just inside a closed part.
    """
    shape = surface.shape
    i, t, barycentric, point, distance, code = places
    nearest_row = np.flatnonzero(np.diff(i, prepend=-1))
    closed = shape.closed[t]
    offset = x_t1[i] - point
    pseudo = surface.normals_t1[shape.features[t, code]] if len(i) else np.zeros((0, 3))
    side = np.where(np.einsum("ni,ni->n", offset, pseudo) < 0.0, -1.0, 1.0)
    on_face = (code == FACE) | (distance <= TOUCHING * reach[i])
    direction = offset / np.where(on_face, 1.0, distance)[:, None]
    normal = np.where(
        on_face[:, None],
        pseudo * np.where(closed, 1.0, side)[:, None],
        direction * np.where(closed, side, 1.0)[:, None],
    )
    within = ~closed | (side > 0.0)
    inside_now = np.zeros(len(x_t1), dtype=bool)
    inside_now[i[nearest_row]] = ~within[nearest_row]
    within[nearest_row] = True                  # if inside, the nearest way out
    planes = Planes(i, t, barycentric, normal, np.zeros(len(i), dtype=bool))
    return planes, within, nearest_row, inside_now


def _distinct(planes: Planes, usable: BoolArray) -> IntArray:
    """Rows of the usable planes with clearly different normals: the first ones, at most MAX_PER_VERTEX a vertex."""
    left = np.flatnonzero(usable)
    kept: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    for _ in range(MAX_PER_VERTEX):
        vertex, first, inverse = np.unique(planes.vertex[left], return_index=True, return_inverse=True)
        if len(vertex) == 0:
            break
        kept.append(left[first])
        same = np.einsum("ni,ni->n", planes.normal[left], planes.normal[left[first]][inverse.reshape(-1)]) > SAME_SIDE
        same[first] = True
        left = left[~same]
    return np.sort(np.concatenate(kept))


def _deep(surface: MovingSurface, x_t1: FloatArray, rows: IntArray) -> Planes:
    """The nearest way out for those vertices `rows` that are inside a closed part at the end of the step."""
    shape = surface.shape
    if shape.closed.any() and len(rows):
        tree = surface.tree_t1
        rows = rows[inside(x_t1[rows], surface.x_t1, shape.triangles, shape.closed, tree)]
    else:
        rows = rows[:0]
    if len(rows) == 0:
        zero = np.zeros((0, 3))
        return Planes(rows, rows, zero, zero, np.zeros(0, dtype=bool))
    triangle, at = nearest(x_t1[rows], surface.x_t1, shape.triangles, tree)
    pseudo = surface.normals_t1[shape.features[triangle, at.feature]]
    outwards = (at.point - x_t1[rows]) / np.where(at.distance > 0.0, at.distance, 1.0)[:, None]
    usable = (at.feature != FACE) & (at.distance > 0.0)
    normal = np.where(usable[:, None], outwards, pseudo)
    return Planes(rows, triangle, at.barycentric, normal, np.zeros(len(rows), dtype=bool))


def _joined(a: Planes, b: Planes) -> Planes:
    return Planes(
        np.concatenate([a.vertex, b.vertex]),
        np.concatenate([a.triangle, b.triangle]),
        np.concatenate([a.barycentric, b.barycentric]),
        np.concatenate([a.normal, b.normal]),
        np.concatenate([a.entered, b.entered]),
    )
