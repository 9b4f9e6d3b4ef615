# SPDX-License-Identifier: GPL-3.0-or-later
"""The planes that hold moving points on their side of one moving surface (see `contact.pairs` for the rules).

NumPy works on the pairs of all points at once; the compiled kernel goes through the points one after the other and
skips most triangles.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas.distances import FACE
from ..formulas.moving_triangle import barycentric_point, triangle_frame, turn_with_frame
from .moving_points import Entries, Places, meetings
from .vectors import corners, dot, join, split, subtract

MAX_PER_VERTEX = 3
"""Largest number of contacts of a vertex with one surface [-]: three planes leave no direction free."""

SAME_SIDE = 0.9
"""Cosine of the angle between normals above which two contacts of a vertex count as one [-] (26 degrees)."""

AGREES = 0.5
"""Cosine of the angle to the entered plane above which a near plane is on the same side [-] (60 degrees)."""

TOUCHING = 1e-6
"""Distance over reach below which the direction from the surface to the vertex has too few digits [-]."""

Planes = tuple[IntArray, IntArray, FloatArray, FloatArray, BoolArray]
"""vertex (N,), triangle (N,), barycentric (N, 3): whose plane, and where on the surface; normal (N, 3): unit normal
towards the side to stay on; entered (N,): whether the vertex's path enters the surface"""

Shape = tuple[IntArray, BoolArray, IntArray, IntArray]
"""triangles (T, 3), closed (T,), features (T, 7), degree (F,), as in `contact.colliders`"""

Motion = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
"""positions (V, 3) [m] at the start and the end of the step, and pseudo-normals (F, 3) there"""


def find(
    x_t0: FloatArray, x_t1: FloatArray, reach: FloatArray, drift: FloatArray, order: IntArray, nodes: FloatArray,
    shape: Shape, motion: Motion
) -> tuple[Planes, FloatArray]:
    """Return planes for points moving from x_t0 to x_t1 (V, 3) [m], near or through the surface.

    Args:
        reach: (V,) [m], distance from the surface below which the end x_t1 is near it.
        drift, order, nodes: (3,), (L,), (6, 2L), the surface's tree, fitted around its start + drift and its end.
        shape, motion: of the surface.

    Returns:
        At most MAX_PER_VERTEX planes for each vertex. And each vertex's distance (V,) [m] from the surface at the
            start,
        negative inside: at most the reach, and -inf if it may have been further inside than that.
    """
    triangles, closed, features, degree = shape
    surface_t0, surface_t1, normals_t0, normals_t1 = motion
    at_start, entered, at_end = meetings(
        x_t0, x_t1, reach, drift, order, nodes, triangles, closed, features, degree, surface_t0, surface_t1)
    start, distance = _start(shape, normals_t0, normals_t1, at_start, x_t0)
    entry = _entries(normals_t1, entered)
    entry = _joined(start, _rows(entry, ~np.isin(entry[0], start[0])))
    near, within, first, inside_now = _minima(shape, normals_t1, at_end, x_t1, reach)

    # The entry of each near plane's vertex, -1 for none; on an open sheet the entry says which side is meant.
    of_entry = np.full(len(x_t0), -1)
    of_entry[entry[0]] = np.arange(len(entry[0]))
    vertex, triangle, barycentric, normal, _ = near
    mine = of_entry[vertex]
    if len(entry[0]) and len(vertex):
        cosine = np.einsum("ni,ni->n", normal, entry[3][mine])
        turned = (mine >= 0) & ~closed[triangle] & (cosine < 0.0)
        normal[turned] *= -1.0
        cosine[turned] *= -1.0
        near = vertex, triangle, barycentric, normal, mine >= 0
        agrees = np.zeros(len(x_t0), dtype=bool)
        agrees[vertex[first]] = cosine[first] > AGREES
        entry = _rows(entry, ~agrees[entry[0]])
        # Beyond the entry only the nearest says anything; more walls show once the vertex is back.
        is_first = np.zeros(len(mine), dtype=bool)
        is_first[first] = True
        within = np.where(mine >= 0, is_first & agrees[vertex], within)
    inside_now &= of_entry < 0
    planes = _joined(entry, _rows(near, _distinct(near, within)))
    return planes, np.where(np.isfinite(distance) | inside_now, distance, reach)


def measured(
    vertex: IntArray, triangle: IntArray, barycentric: FloatArray, normal: FloatArray, distance: FloatArray,
    x_t0: FloatArray, x_t1: FloatArray, room: FloatArray, triangles: IntArray, surface_t0: FloatArray,
    surface_t1: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the places of N planes at the start and the end of the step (N, 3) [m], and the gaps there (N,) [m].

    Args:
        vertex, triangle, barycentric, normal: the planes, as `Planes`.
        distance: (N,) [m], distance of the vertex from the surface at the start; the first gap is no smaller.
        x_t0, x_t1, room: (V, 3), (V, 3), (V,) [m], positions of the points, and the distance that they keep.
        triangles, surface_t0, surface_t1: (T, 3), (.., 3) [m], of the surface.
    """
    before, after = corners(surface_t0, triangles[triangle]), corners(surface_t1, triangles[triangle])
    point_t0, point_t1 = (barycentric_point(split(barycentric), *surface) for surface in (before, after))
    start, n = subtract(split(x_t0[vertex]), point_t0), split(normal)
    if surface_t0 is not surface_t1:
        start = turn_with_frame(start, triangle_frame(*before), triangle_frame(*after))
    gap_t0 = np.maximum(dot(start, n), distance) - room[vertex]
    gap_t1 = dot(subtract(split(x_t1[vertex]), point_t1), n) - room[vertex]
    return join(point_t0), join(point_t1), gap_t0, gap_t1


def _entries(normals_t1: FloatArray, entered: Entries) -> Planes:
    """Return the planes of the first triangle that each vertex enters; normals_t1 (F, 3): at the end of the step."""
    vertex, triangle, barycentric, side = entered
    normal = normals_t1[triangle] * side[:, None] if len(triangle) else np.zeros((0, 3))
    return vertex, triangle, barycentric, normal, np.ones(len(triangle), dtype=bool)


def _start(shape: Shape, normals_t0: FloatArray, normals_t1: FloatArray, places: Places,
           x_t0: FloatArray) -> tuple[Planes, FloatArray]:
    """Return planes at the nearest point of vertices that start inside a closed part; and all distances (V,) [m].

    The distance is negative inside, and -inf for vertices that are not near. places: the nearest points at the start.
    """
    _, closed, features, _ = shape
    vertex, triangle, barycentric, point, gap, code = places
    distance = np.full(len(x_t0), -np.inf)
    distance[vertex] = gap
    near = np.flatnonzero(closed[triangle])
    feature = features[triangle[near], code[near]]
    if len(near):
        height = np.einsum("ni,ni->n", x_t0[vertex[near]] - point[near], normals_t0[feature])
        near, feature = near[height < 0.0], feature[height < 0.0]
        distance[vertex[near]] *= -1.0
    normal = normals_t1[feature] if len(near) else np.zeros((0, 3))
    return (vertex[near], triangle[near], barycentric[near], normal, np.ones(len(near), dtype=bool)), distance


def _minima(
    shape: Shape, normals_t1: FloatArray, places: Places, x_t1: FloatArray, reach: FloatArray
) -> tuple[Planes, BoolArray, IntArray, BoolArray]:
    """Return planes where the distance from x_t1 (V, 3) to the surface has a minimum within reach (V,) [m].

    Nearest first for each vertex. Also which of them are contacts if the vertex has entered nowhere (N,), the first row
    of each vertex, and whether each vertex (V,) ends inside a closed part.
    """
    i, t, barycentric, point, distance, code = places
    nearest_row = np.flatnonzero(np.diff(i, prepend=-1))
    closed = shape[1][t]
    offset = x_t1[i] - point
    pseudo = normals_t1[shape[2][t, code]] if len(i) else np.zeros((0, 3))
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
    return (i, t, barycentric, normal, np.zeros(len(i), dtype=bool)), within, nearest_row, inside_now


def _distinct(planes: Planes, usable: BoolArray) -> IntArray:
    """Return rows of the usable planes whose normals differ by more than `SAME_SIDE`.

    The first ones, at most MAX_PER_VERTEX for each vertex.
    """
    left = np.flatnonzero(usable)
    kept: list[IntArray] = [np.zeros(0, dtype=np.int64)]
    for _ in range(MAX_PER_VERTEX):
        vertex, first, inverse = np.unique(planes[0][left], return_index=True, return_inverse=True)
        if len(vertex) == 0:
            break
        kept.append(left[first])
        same = np.einsum("ni,ni->n", planes[3][left], planes[3][left[first]][inverse.reshape(-1)]) > SAME_SIDE
        same[first] = True
        left = left[~same]
    return np.sort(np.concatenate(kept))


def _rows(planes: Planes, rows: IntArray | BoolArray) -> Planes:
    """Return rows of planes."""
    vertex, triangle, barycentric, normal, entered = planes
    return vertex[rows], triangle[rows], barycentric[rows], normal[rows], entered[rows]


def _joined(a: Planes, b: Planes) -> Planes:
    """Return two sets of planes as one."""
    return (np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]]), np.concatenate([a[2], b[2]]),
            np.concatenate([a[3], b[3]]), np.concatenate([a[4], b[4]]))
