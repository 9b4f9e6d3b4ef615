# SPDX-License-Identifier: GPL-3.0-or-later
"""The planes that hold vertices on their side of one moving surface (see `pairs` for the rules)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .bvh import touching_boxes
from .colliders import MovingSurface
from .containment import inside, nearest
from .distance import FACE, PointTriangle, point_triangle
from .sweep import first_entries

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
    moved = x_t0 + surface.drift
    low, high = np.minimum(moved, x_t1) - reach[:, None], np.maximum(moved, x_t1) + reach[:, None]
    vertex, triangle = touching_boxes(surface.tree, low, high).T
    start, distance = _start(surface, vertex, triangle, x_t0, reach)
    entry = _entries(surface, vertex, triangle, x_t0, x_t1)
    entry = _joined(start, entry[~np.isin(entry.vertex, start.vertex)])
    near, within, first, inside_now = _minima(surface, vertex, triangle, x_t1, reach)

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


def _entries(
    surface: MovingSurface, vertex: IntArray, triangle: IntArray, x_t0: FloatArray, x_t1: FloatArray
) -> Planes:
    """The plane of the first triangle that each vertex's path pierces."""
    first = first_entries(surface, vertex, triangle, x_t0, x_t1)
    pierced = triangle[first.pair]
    normal = surface.normals_t1[pierced] * first.side[:, None] if len(pierced) else np.zeros((0, 3))
    return Planes(vertex[first.pair], pierced, first.barycentric, normal, np.ones(len(pierced), dtype=bool))


def _start(
    surface: MovingSurface, vertex: IntArray, triangle: IntArray, x_t0: FloatArray, reach: FloatArray
) -> tuple[Planes, FloatArray]:
    """Planes at the nearest point of vertices that start inside a closed part, and where all vertices (V,) start."""
    shape = surface.shape
    distance = np.full(len(x_t0), -np.inf)
    at = _closest(x_t0[vertex], surface.x_t0, shape.triangles[triangle])
    order = np.lexsort((triangle, at.distance, vertex))
    near = order[np.unique(vertex[order], return_index=True)[1]]                  # the nearest of each vertex
    near = near[at.distance[near] <= reach[vertex[near]]]
    distance[vertex[near]] = at.distance[near]
    near = near[shape.closed[triangle[near]]]
    feature = shape.features[triangle[near], at.feature[near]]
    if len(near):
        height = np.einsum("ni,ni->n", x_t0[vertex[near]] - at.point[near], surface.normals_t0[feature])
        near, feature = near[height < 0.0], feature[height < 0.0]
        distance[vertex[near]] *= -1.0
    normal = surface.normals_t1[feature] if len(near) else np.zeros((0, 3))
    return Planes(vertex[near], triangle[near], at.barycentric[near], normal, np.ones(len(near), dtype=bool)), distance


def _minima(
    surface: MovingSurface, vertex: IntArray, triangle: IntArray, x_t1: FloatArray, reach: FloatArray
) -> tuple[Planes, BoolArray, IntArray, BoolArray]:
    """Where the distance from x_t1 to the surface has a minimum within reach, nearest first for each vertex.

    Also which of them are contacts where the vertex has entered nowhere, the row of each vertex's nearest, and
    whether each vertex (V,) ends just inside a closed part.
    A minimum on an edge or a vertex is one only if all triangles around have their closest point there.
    """
    shape = surface.shape
    at = _closest(x_t1[vertex], surface.x_t1, shape.triangles[triangle])
    pair = np.flatnonzero(at.distance <= reach[vertex])
    feature = shape.features[triangle[pair], at.feature[pair]]
    key = vertex[pair] * len(shape.degree) + feature
    _, inverse, count = np.unique(key, return_inverse=True, return_counts=True)
    order = np.lexsort((triangle[pair], at.distance[pair], vertex[pair]))
    pair, feature, key = pair[order], feature[order], key[order]
    nearest_row = np.unique(vertex[pair], return_index=True)[1]
    once = np.zeros(len(pair), dtype=bool)
    once[np.unique(key, return_index=True)[1]] = True
    minimum = once & (count[inverse[order]] == shape.degree[feature])
    minimum[nearest_row] = True                                              # whatever rounding made of it
    pair, feature = pair[minimum], feature[minimum]
    nearest_row = np.unique(vertex[pair], return_index=True)[1]

    i, t, distance = vertex[pair], triangle[pair], at.distance[pair]
    closed = shape.closed[t]
    offset = x_t1[i] - at.point[pair]
    pseudo = surface.normals_t1[feature] if len(pair) else np.zeros((0, 3))
    side = np.where(np.einsum("ni,ni->n", offset, pseudo) < 0.0, -1.0, 1.0)
    on_face = (at.feature[pair] == FACE) | (distance <= TOUCHING * reach[i])
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
    planes = Planes(i, t, at.barycentric[pair], normal, np.zeros(len(i), dtype=bool))
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


def _closest(points: FloatArray, positions: FloatArray, corners: IntArray) -> PointTriangle:
    """Closest points to points (P, 3) [m] of triangles with corners (P, 3) on positions (V, 3) [m]."""
    return point_triangle(points, positions[corners[:, 0]], positions[corners[:, 1]], positions[corners[:, 2]])


def _joined(a: Planes, b: Planes) -> Planes:
    return Planes(
        np.concatenate([a.vertex, b.vertex]),
        np.concatenate([a.triangle, b.triangle]),
        np.concatenate([a.barycentric, b.barycentric]),
        np.concatenate([a.normal, b.normal]),
        np.concatenate([a.entered, b.entered]),
    )
