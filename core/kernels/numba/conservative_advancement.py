# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points and meeting times of pairs, compiled: one pair at a time, as its namesake in NumPy has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..numpy.conservative_advancement import LEFT, NEAR, ROUNDING, STEPS, Candidates, Placed
from .distances import closest as closest_on_triangle
from .distances import closest_on_edges
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .thread_pool import LEAST_ROWS, share
from .vectors import add, at, dot, scale, subtract


def closest(x: FloatArray, vertices: IntArray, faces: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights (P, 4) of the closest points, unit normals (P, 3), distances (P,) [m], as in `reference`."""
    weights, normals, distance = np.empty((len(vertices), 4)), np.empty((len(vertices), 3)), np.empty(len(vertices))
    share(_closest_all, len(vertices), LEAST_ROWS, np.ascontiguousarray(x), np.ascontiguousarray(vertices), faces,
          weights, normals, distance)
    return weights, normals, distance


def relevant(x0: FloatArray, x1: FloatArray, candidates: Candidates, tables: tuple[IntArray, IntArray],
             slack: FloatArray, radius: FloatArray, far: float = np.inf, most: FloatArray | None = None) -> Placed:
    """Which pairs are near or may meet, and how they are at x0, as in `reference`."""
    count, faces = sum(len(primitives) for primitives in candidates), len(candidates[0])
    most = np.zeros(0) if most is None else most
    keep, found = np.empty(count, dtype=np.bool_), (np.empty((count, 4)), np.empty((count, 3)), np.empty(count))
    share(_relevant_all, count, LEAST_ROWS, np.ascontiguousarray(x0), np.ascontiguousarray(x1), *candidates, *tables,
          slack, np.ascontiguousarray(radius), most, far, keep, *found)
    rows = np.flatnonzero(keep)
    few = len(rows)
    vertices, primitives = np.empty((few, 4), dtype=np.int64), np.empty((few, 2), dtype=np.int64)
    placed = np.empty((few, 4)), np.empty((few, 3)), np.empty(few)
    share(_gather, few, LEAST_ROWS, rows, *candidates, *tables, *found, vertices, primitives, *placed)
    return vertices, primitives, int(np.searchsorted(rows, faces)), *placed


def meeting_times(x0: FloatArray, x1: FloatArray, vertices: IntArray, faces: int, normals: FloatArray,
                  distances: FloatArray, keeps: FloatArray) -> FloatArray:
    """Times (P,) in 0..1 up to which each pair keeps apart, 2 if always, as in `reference`."""
    time = np.empty(len(vertices))
    share(_meeting_all, len(vertices), LEAST_ROWS, np.ascontiguousarray(x0), np.ascontiguousarray(x1),
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
def _relevant_all(begin: Any, stop: Any, x0: Any, x1: Any, faces: Any, between: Any, triangles: Any, edges: Any,
                  slack: Any, radius: Any, most: Any, far: Any, keep: Any, weights: Any, normals: Any, distance: Any
                  ) -> None:
    for p in range(begin, stop):
        face = p < len(faces)
        i, j, k, m = _corners(p, faces, between, triangles, edges)
        a, b, c, d = at(x0, i), at(x0, j), at(x0, k), at(x0, m)
        w, n, gap = _closest(a, b, c, d, face)
        if face:
            near = 0.5 * (radius[i] + max(radius[j], max(radius[k], radius[m])))
        else:
            near = 0.5 * (max(radius[i], radius[j]) + max(radius[k], radius[m]))
        if len(most):
            near = min(near, most[p])
        if gap >= near:
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
def _gather(begin: Any, stop: Any, rows: Any, faces: Any, between: Any, triangles: Any, edges: Any, weights: Any,
            normals: Any, distance: Any, vertices: Any, primitives: Any, weights_of: Any, normals_of: Any,
            distance_of: Any) -> None:
    """What was found of these rows, side by side."""
    for n in range(begin, stop):
        p = rows[n]
        vertices[n, 0], vertices[n, 1], vertices[n, 2], vertices[n, 3] = _corners(p, faces, between, triangles, edges)
        for k in range(2):
            primitives[n, k] = faces[p, k] if p < len(faces) else between[p - len(faces), k]
        for k in range(4):
            weights_of[n, k] = weights[p, k]
        for k in range(3):
            normals_of[n, k] = normals[p, k]
        distance_of[n] = distance[p]


@njit(**INLINED)
def _corners(p: Any, faces: Any, between: Any, triangles: Any, edges: Any) -> Any:
    """The vertices of pair p."""
    if p < len(faces):
        other = faces[p, 1]
        return faces[p, 0], triangles[other, 0], triangles[other, 1], triangles[other, 2]
    one, other = between[p - len(faces), 0], between[p - len(faces), 1]
    return edges[one, 0], edges[one, 1], edges[other, 0], edges[other, 1]


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
        s, t = closest_on_edges(subtract(b, a), subtract(d, c), subtract(c, a))
        w = (1.0 - s, s, t - 1.0, -t)
        away = subtract(add(subtract(a, c), scale(s, subtract(b, a))), scale(t, subtract(d, c)))
        gap = np.sqrt(dot(away, away))
    size = max(max(_size(a), _size(b)), max(_size(c), _size(d)))
    if not gap > ROUNDING * size:
        return w, (0.0, 0.0, 0.0), 0.0
    return w, scale(1.0 / gap, away), gap


@njit(**INNER)
def _meeting(a: Any, b: Any, c: Any, d: Any, da: Any, db: Any, dc: Any, dd: Any, face: Any, n: Any, gap: Any,
             keep: Any) -> Any:
    """Return the time up to which a pair keeps apart, 2 if always; the namesake in `kernels/numpy` derives it.

    a, b, c, d: vertices of the pair at the start [m], da, db, dc, dd: their motions [m]. face: vertex and triangle,
    else two edges. n, gap: unit normal and distance at the start [m]. keep: distance that has to be left [m].
    """
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
