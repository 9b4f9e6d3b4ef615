# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points and meeting times of pairs, compiled: one pair at a time, as `reference.advancement` has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray, IntArray
from ..reference import advancement as reference
from ..reference.advancement import corners_of
from .distances import FLAT, along
from .distances import closest as closest_on_triangle
from .options import INLINED, INNER, KERNEL
from .pool import share
from .vectors import add, at, cross, divide, dot, scale, subtract

NEAR, STEPS, ROUNDING, LEFT = reference.NEAR, reference.STEPS, reference.ROUNDING, reference.LEFT
LEAST = 512
"""Pairs below which a part of them is not worth another thread."""


def closest(x: FloatArray, vertices: IntArray, faces: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights (P, 4) of the closest points, unit normals (P, 3), distances (P,) [m], as in `reference`."""
    weights, normals, distance = np.empty((len(vertices), 4)), np.empty((len(vertices), 3)), np.empty(len(vertices))
    share(_closest_all, len(vertices), LEAST, np.ascontiguousarray(x), np.ascontiguousarray(vertices), faces, weights,
          normals, distance)
    return weights, normals, distance


def relevant(x0: FloatArray, x1: FloatArray, primitives: IntArray, table: IntArray, slack: FloatArray,
             reach: float | FloatArray, far: float = np.inf
             ) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray]:
    """Which pairs (P, 2) are near or may meet, and how they are at x0, as in `reference`."""
    keep = np.empty(len(primitives), dtype=np.bool_)
    weights, normals = np.empty((len(primitives), 4)), np.empty((len(primitives), 3))
    distance = np.empty(len(primitives))
    share(_relevant_all, len(primitives), LEAST, np.ascontiguousarray(x0), np.ascontiguousarray(x1), primitives, table,
          slack, np.atleast_1d(np.asarray(reach, dtype=np.float64)), far, keep, weights, normals, distance)
    rows = np.flatnonzero(keep)
    return rows, corners_of(primitives[rows], table), weights[rows], normals[rows], distance[rows]


def meeting_times(x0: FloatArray, x1: FloatArray, vertices: IntArray, faces: int, normals: FloatArray,
                  distances: FloatArray, keeps: FloatArray) -> FloatArray:
    """Times (P,) in 0..1 up to which each pair keeps apart, 2 if always, as in `reference`."""
    time = np.empty(len(vertices))
    share(_meeting_all, len(vertices), LEAST, np.ascontiguousarray(x0), np.ascontiguousarray(x1),
          np.ascontiguousarray(vertices), faces, np.ascontiguousarray(normals), np.ascontiguousarray(distances),
          np.ascontiguousarray(keeps), time)
    return time


@njit(**KERNEL)
def _closest_all(begin: Any, stop: Any, x: Any, vertices: Any, faces: Any, weights: Any, normals: Any, distance: Any
                 ) -> None:
    for p in range(begin, stop):
        a, b, c, d = (at(x, vertices[p, 0]), at(x, vertices[p, 1]), at(x, vertices[p, 2]), at(x, vertices[p, 3]))
        w, n, gap = _closest(a, b, c, d, p < faces)
        weights[p, 0], weights[p, 1], weights[p, 2], weights[p, 3] = w
        normals[p, 0], normals[p, 1], normals[p, 2] = n
        distance[p] = gap


@njit(**KERNEL)
def _relevant_all(begin: Any, stop: Any, x0: Any, x1: Any, primitives: Any, table: Any, slack: Any, reach: Any,
                  far: Any, keep: Any, weights: Any, normals: Any, distance: Any) -> None:
    face, each = table.shape[1] == 3, len(reach) > 1
    for p in range(begin, stop):
        one, other = primitives[p, 0], primitives[p, 1]
        if face:
            i, j, k, m = one, table[other, 0], table[other, 1], table[other, 2]
        else:
            i, j, k, m = table[one, 0], table[one, 1], table[other, 0], table[other, 1]
        a, b, c, d = at(x0, i), at(x0, j), at(x0, k), at(x0, m)
        w, n, gap = _closest(a, b, c, d, face)
        if gap >= reach[p if each else 0]:
            end = at(x1, m)
            u, v, y = (dot(n, subtract(at(x1, i), end)), dot(n, subtract(at(x1, j), end)),
                       dot(n, subtract(at(x1, k), end)))
            if face:
                beyond = u - max(v, max(y, 0.0)) - max(slack[j], max(slack[k], slack[m])) - slack[i]
            else:
                beyond = min(u, v) - max(y, 0.0) - max(slack[k], slack[m]) - max(slack[i], slack[j])
            keep[p] = beyond <= LEFT * min(gap, far)
        else:
            keep[p] = True
        if keep[p]:
            weights[p, 0], weights[p, 1], weights[p, 2], weights[p, 3] = w
            normals[p, 0], normals[p, 1], normals[p, 2] = n
            distance[p] = gap


@njit(**KERNEL)
def _meeting_all(begin: Any, stop: Any, x0: Any, x1: Any, vertices: Any, faces: Any, normals: Any, distances: Any,
                 keeps: Any, time: Any) -> None:
    for p in range(begin, stop):
        i, j, k, m = vertices[p, 0], vertices[p, 1], vertices[p, 2], vertices[p, 3]
        a, b, c, d = at(x0, i), at(x0, j), at(x0, k), at(x0, m)
        time[p] = _meeting(a, b, c, d, subtract(at(x1, i), a), subtract(at(x1, j), b), subtract(at(x1, k), c),
                           subtract(at(x1, m), d), p < faces, at(normals, p), distances[p], keeps[p])


@njit(**INNER)
def _closest(a: Any, b: Any, c: Any, d: Any, face: Any) -> Any:
    """Weights, unit normal from the second primitive to the first, and distance."""
    if face:
        u, point, gap, _ = closest_on_triangle(a, b, c, d)
        w, away = (1.0, -u[0], -u[1], -u[2]), subtract(a, point)
    else:
        s, t = _on_edges(a, b, c, d)
        w = (1.0 - s, s, t - 1.0, -t)
        away = subtract(add(subtract(a, c), scale(s, subtract(b, a))), scale(t, subtract(d, c)))
        gap = np.sqrt(dot(away, away))
    size = max(max(_size(a), _size(b)), max(_size(c), _size(d)))
    if not gap > ROUNDING * size:
        return w, (0.0, 0.0, 0.0), 0.0
    return w, scale(1.0 / gap, away), gap


@njit(**INNER)
def _on_edges(a0: Any, a1: Any, b0: Any, b1: Any) -> Any:
    """Parameters of the closest points of edges (a0, a1) and (b0, b1)."""
    u, v, r = subtract(a1, a0), subtract(b1, b0), subtract(b0, a0)
    n = cross(u, v)
    nn = dot(n, n)
    crossing = nn > FLAT**2 * dot(u, u) * dot(v, v)
    in_plane = subtract(r, scale(divide(dot(r, n), nn), n)) if crossing else r
    if crossing:
        s, t = divide(dot(cross(in_plane, v), n), nn), divide(dot(cross(in_plane, u), n), nn)
        if s > 0.0 and s < 1.0 and t > 0.0 and t < 1.0:
            return s, t
    s, t, best = 0.0, 0.0, np.inf
    for end in (0.0, 1.0):
        t_end, gap = along(subtract(scale(end, u), in_plane), v)
        if gap < best:
            s, t, best = end, t_end, gap
        s_end, gap = along(add(in_plane, scale(end, v)), u)
        if gap < best:
            s, t, best = s_end, end, gap
    return s, t


@njit(**INNER)
def _meeting(a: Any, b: Any, c: Any, d: Any, da: Any, db: Any, dc: Any, dd: Any, face: Any, n: Any, gap: Any,
             keep: Any) -> Any:
    """The time up to which the pair is known to keep apart, moving by da, db, dc, dd; 2 if always."""
    now = 0.0
    for turn in range(STEPS + 1):
        if gap == 0.0:
            return 2.0 if da == db and db == dc and dc == dd else now
        u, v, w, z = dot(n, da), dot(n, db), dot(n, dc), dot(n, dd)
        closing = max(v, max(w, z)) - u if face else max(w, z) - min(u, v)
        if closing <= 0.0:
            return 2.0
        if gap <= NEAR * keep or turn == STEPS:
            return now
        now += (gap - keep) / closing
        if not now < 1.0:
            return 2.0
        _, n, gap = _closest(add(a, scale(now, da)), add(b, scale(now, db)), add(c, scale(now, dc)),
                             add(d, scale(now, dd)), face)
    return now


@njit(**INLINED)
def _size(a: Any) -> Any:
    """The largest component."""
    return max(max(abs(a[0]), abs(a[1])), abs(a[2]))
