# SPDX-License-Identifier: GPL-3.0-or-later
"""Places where colliders leave no room for cloth, by geometry alone.

A place on a collider is *narrow* if in front of it, nearer than cloth needs, another surface of a collider begins: it
lies inside of another closed part, as where two solids overlap or one crosses itself, or a ray from it meets a surface
that faces it. A point between surfaces is judged by the place of a collider that is nearest to it: where two closed
parts overlap, that is always a place of one that lies inside of the other. Narrow, too, is what is less than that
distance from two surfaces that pass through each other there: the rim of an overlap.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import cross, pick
from .bvh import BVH, touching_boxes
from .colliders import SurfaceShape
from .containment import inside, nearest
from .crossings import crossing_pairs
from .distance import point_triangle
from .triangle_surface import TriangleSurface

FACING_PLACE = 1e-3
"""Distance in front of a place at which the side is looked up, over the room that cloth needs [-]."""


def narrow(points: FloatArray, surfaces: Sequence[tuple[FloatArray, SurfaceShape, BVH]], room: float) -> BoolArray:
    """Return which points (N, 3) [m] are at a narrow place: the nearest place of a collider is narrow, and the point
    is less than `room` [m] from it, or inside of a closed part.

    Args:
        surfaces: positions (W, 3) [m] of each collider, shape there, and a tree around it.
        room: distance in front of a place from which on it is not narrow [m].
    """
    least, place, out = np.full(len(points), np.inf), points.copy(), np.zeros_like(points)
    within = np.zeros(len(points), dtype=np.bool_)
    for x, shape, tree in surfaces:
        if not len(points) or not len(shape.triangles):
            continue
        triangle, close = nearest(points, x, shape.triangles, tree)
        side = shape.normals(x)[shape.features[triangle, close.feature]]
        # at an open surface the front is where the point is
        behind = np.einsum("ni,ni->n", points - close.point, side) < 0.0
        side[behind & ~shape.closed[triangle]] *= -1.0
        rows = np.flatnonzero(close.distance < least)
        least[rows], place[rows], out[rows] = close.distance[rows], close.point[rows], side[rows]
        within |= inside(points, x, shape.triangles, shape.closed, tree)
    rows = np.flatnonzero(within | (least < room))
    result = np.zeros(len(points), dtype=np.bool_)
    begin, end = place[rows] + FACING_PLACE * room * out[rows], place[rows] + room * out[rows]
    for x, shape, tree in surfaces:
        result[rows] |= inside(begin, x, shape.triangles, shape.closed, tree) | _enter(begin, end, x, shape, tree)
    rows = rows[~result[rows]]
    result[rows] = _at_rims(points[rows], surfaces, room)
    return result


def _enter(begin: FloatArray, end: FloatArray, x: FloatArray, shape: SurfaceShape, tree: BVH) -> BoolArray:
    """Return which ways begin -> end (N, 3) [m] enter a closed part of a surface on x (V, 3) [m], or meet an open
    one."""
    result = np.zeros(len(begin), dtype=np.bool_)
    pairs = touching_boxes(tree, np.minimum(begin, end), np.maximum(begin, end))
    p, q = pick(begin, pairs[:, 0]), pick(end, pairs[:, 0])
    a, b, c = (pick(x, shape.triangles[pairs[:, 1], k]) for k in range(3))
    area = cross(b - a, c - a)
    rate, ahead = (np.einsum("ni,ni->n", area, way) for way in (q - p, a - p))
    share = ahead / np.where(rate != 0.0, rate, np.inf)
    at = p + share[:, None] * (q - p)
    hit = (rate != 0.0) & (share >= 0.0) & (share <= 1.0) & ((rate < 0.0) | ~shape.closed[pairs[:, 1]])
    for one, other in ((a, b), (b, c), (c, a)):
        hit &= np.einsum("ni,ni->n", cross(other - one, at - one), area) >= 0.0
    result[pairs[hit, 0]] = True
    return result


def _at_rims(points: FloatArray, surfaces: Sequence[tuple[FloatArray, SurfaceShape, BVH]], room: float) -> BoolArray:
    """Return which points (N, 3) [m] are less than `room` [m] from two triangles of which one pierces the other."""
    query, number, corners, positions = [], [], [], []
    vertices = triangles = 0
    for x, shape, tree in surfaces:
        pairs = touching_boxes(tree, points - room, points + room)
        a, b, c = (pick(x, shape.triangles[pairs[:, 1], k]) for k in range(3))
        pairs = pairs[point_triangle(pick(points, pairs[:, 0]), a, b, c).distance < room]
        some, local = np.unique(pairs[:, 1], return_inverse=True)
        used, corner = np.unique(shape.triangles[some], return_inverse=True)
        query.append(pairs[:, 0])
        number.append(triangles + local.reshape(-1))
        corners.append(vertices + corner.reshape(-1, 3))
        positions.append(x[used])
        vertices, triangles = vertices + len(used), triangles + len(some)
    near = TriangleSurface.build(np.concatenate(positions), np.concatenate(corners))
    crossings = crossing_pairs(near, near)
    points_of = _Groups(np.concatenate(number), np.concatenate(query), triangles)
    count, found = max(vertices, 1), near.triangles
    ends = np.sort(np.stack([found, np.roll(found, -1, axis=1)], axis=-1), axis=-1).reshape(-1, 2)
    _, edge = np.unique(np.concatenate([near.edges, ends]) @ [count, 1], return_inverse=True)
    edge = edge.reshape(-1)
    sides = _Groups(edge[len(near.edges):], np.arange(len(ends)) // 3, int(edge.max(initial=0)) + 1)
    # each crossing with each triangle of its edge, and then with each point near its triangle
    row, beside = sides.of(edge[crossings[:, 0]])
    other, point = points_of.of(crossings[row, 1])
    result: BoolArray = np.zeros(len(points), dtype=np.bool_)
    key = points_of.group * len(points) + points_of.member
    result[point[np.isin(beside[other] * len(points) + point, key)]] = True
    return result


class _Groups:
    """Members (N,) by their groups (N,), of `count`."""

    def __init__(self, group: IntArray, member: IntArray, count: int) -> None:
        order = np.argsort(group, kind="stable")
        self.group, self.member = group[order], member[order]
        self._first: IntArray = np.searchsorted(self.group, np.arange(count + 1))

    def of(self, groups: IntArray) -> tuple[IntArray, IntArray]:
        """Return the members (P,) of each of the groups (M,), and to which row of these each belongs (P,), first."""
        begin, size = self._first[groups], self._first[groups + 1] - self._first[groups]
        row = np.repeat(np.arange(len(groups)), size)
        within = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)
        return row, self.member[begin[row] + within]
