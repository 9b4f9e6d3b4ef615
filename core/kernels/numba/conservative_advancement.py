# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points and meeting times of pairs, compiled: one pair at a time.

Arguments, results and the derivation are those of `kernels.numpy.conservative_advancement`. A pair that is done stops;
NumPy advances all pairs together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import conservative_advancement as formulas
from ..formulas.conservative_advancement import (
    FIXED,
    LEFT,
    STEPS,
    advanced_time,
    closing_motion,
    edge_pair_offset,
    edge_pair_weights,
    gap_at_end,
    is_meeting,
    next_advance,
    normal_and_gap,
    open_time,
    pair_radius,
    turning_width,
)
from ..formulas.vectors import length
from ..numpy.conservative_advancement import Candidates, Placed
from .distances import closest as closest_on_triangle
from .distances import closest_on_edges
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_ROWS, share
from .vectors import add, at, at_corners, dot, four, scale, subtract

register(formulas, INLINED)


def closest(x: FloatArray, vertices: IntArray, faces: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights (P, 4) of the closest points, unit normals (P, 3) and distances (P,) [m] of pairs (P, 4)."""
    weights, normals, distance = np.empty((len(vertices), 4)), np.empty((len(vertices), 3)), np.empty(len(vertices))
    share(_closest_all, len(vertices), LEAST_ROWS, np.ascontiguousarray(x), np.ascontiguousarray(vertices), faces,
          weights, normals, distance)
    return weights, normals, distance


def relevant(x0: FloatArray, x1: FloatArray, candidates: Candidates, tables: tuple[IntArray, IntArray],
             slack: FloatArray, radius: FloatArray, far: float = np.inf, most: FloatArray | None = None) -> Placed:
    """Return the candidates that are near at x0 or may meet on the way to x1 (V, 3) [m]."""
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
                  distances: FloatArray, keeps: FloatArray) -> tuple[FloatArray, int]:
    """Return times (P,) in 0..1 up to which each pair, moving from x0 to x1 (V, 3) [m], keeps apart, 2 for always; and
    the largest number of advances of a pair."""
    time, advances = np.empty(len(vertices)), np.empty(len(vertices), dtype=np.int64)
    share(_meeting_all, len(vertices), LEAST_ROWS, np.ascontiguousarray(x0), np.ascontiguousarray(x1),
          np.ascontiguousarray(vertices), faces, np.ascontiguousarray(normals), np.ascontiguousarray(distances),
          np.ascontiguousarray(keeps), time, advances)
    return time, int(advances.max(initial=0))


@njit(**KERNEL)
def _closest_all(begin: Any, stop: Any, x: Any, vertices: Any, faces: Any, weights: Any, normals: Any, distance: Any
                 ) -> None:
    """Write weights, normals and distances of pairs begin..stop - 1."""
    for p in range(begin, stop):
        a, b, c, d = at_corners(x, vertices, p)
        w, n, gap = _closest(a, b, c, d, p < faces)
        weights[p, 0], weights[p, 1], weights[p, 2], weights[p, 3] = w
        normals[p, 0], normals[p, 1], normals[p, 2] = n
        distance[p] = gap


@njit(**KERNEL)
def _relevant_all(begin: Any, stop: Any, x0: Any, x1: Any, faces: Any, between: Any, triangles: Any, edges: Any,
                  slack: Any, radius: Any, most: Any, far: Any, keep: Any, weights: Any, normals: Any, distance: Any
                  ) -> None:
    """Write whether to keep candidates begin..stop - 1, and of those weights, normals and distances.

    faces (N, 2), between (M, 2): candidates. triangles (T, 3), edges (E, 2): their vertices. most: (P,) or empty.
    """
    for p in range(begin, stop):
        face = p < len(faces)
        i, j, k, m = _corners(p, faces, between, triangles, edges)
        a, b, c, d = at(x0, i), at(x0, j), at(x0, k), at(x0, m)
        w, n, gap = _closest(a, b, c, d, face)
        near = pair_radius(face, radius[i], radius[j], radius[k], radius[m])
        if len(most):
            near = min(near, most[p])
        if gap >= near:
            end = at(x1, m)
            height = (dot(n, subtract(at(x1, i), end)), dot(n, subtract(at(x1, j), end)),
                      dot(n, subtract(at(x1, k), end)))
            at_end = gap_at_end(face, height, (slack[i], slack[j], slack[k], slack[m]))
            keep[p] = at_end <= LEFT * min(gap, far)
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
    """Copy the results of candidates `rows` begin..stop - 1 to consecutive rows."""
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
    """Return the four vertices of candidate p: of `faces` (N, 2) first, then of `between` (M, 2)."""
    if p < len(faces):
        other = faces[p, 1]
        return faces[p, 0], triangles[other, 0], triangles[other, 1], triangles[other, 2]
    one, other = between[p - len(faces), 0], between[p - len(faces), 1]
    return edges[one, 0], edges[one, 1], edges[other, 0], edges[other, 1]


@njit(**KERNEL)
def _meeting_all(begin: Any, stop: Any, x0: Any, x1: Any, vertices: Any, faces: Any, normals: Any, distances: Any,
                 keeps: Any, time: Any, advances: Any) -> None:
    """Write the meeting times of pairs begin..stop - 1, and their numbers of advances."""
    for p in range(begin, stop):
        i, j, k, m = four(vertices, p)
        a, b, c, d = at(x0, i), at(x0, j), at(x0, k), at(x0, m)
        time[p], advances[p] = _meeting(
            a, b, c, d, subtract(at(x1, i), a), subtract(at(x1, j), b), subtract(at(x1, k), c),
            subtract(at(x1, m), d), p < faces, at(normals, p), distances[p], keeps[p])


@njit(**INNER)
def _closest(a: Any, b: Any, c: Any, d: Any, face: Any) -> Any:
    """Return weights of the closest points, unit normal and distance [m] of the pair of vertices a, b, c, d [m].

    face: vertex a and triangle (b, c, d), else edges (a, b) and (c, d).
    """
    if face:
        u, point, gap, _ = closest_on_triangle(a, b, c, d)
        w, away = (1.0, -u[0], -u[1], -u[2]), subtract(a, point)
    else:
        s, t = closest_on_edges(subtract(b, a), subtract(d, c), subtract(c, a))
        w = edge_pair_weights(s, t)
        away = edge_pair_offset(a, b, c, d, s, t)
        gap = length(away)
    n, gap = normal_and_gap(away, gap, a, b, c, d)
    return w, n, gap


@njit(**INNER)
def _meeting(a: Any, b: Any, c: Any, d: Any, da: Any, db: Any, dc: Any, dd: Any, face: Any, n: Any, gap: Any,
             keep: Any) -> Any:
    """Return the time up to which a pair keeps apart, 2 if always, and the number of its advances; the namesake in
    `kernels/numpy` derives it.

    a, b, c, d: vertices of the pair at the start [m], da, db, dc, dd: their motions [m]. face: vertex and triangle,
    else two edges. n, gap: unit normal and distance at the start [m]. keep: distance that has to be left [m].
    """
    now = 0.0
    for turn in range(FIXED):
        if gap == 0.0:
            return (2.0 if da == db and db == dc and dc == dd else now), turn
        closing = closing_motion(face, dot(n, da), dot(n, db), dot(n, dc), dot(n, dd))
        if closing <= 0.0:
            return 2.0, turn
        if is_meeting(gap, keep):
            return now, turn
        now = advanced_time(now, gap, keep, closing)
        if not now < 1.0:
            return 2.0, turn
        _, n, gap = _closest(add(a, scale(now, da)), add(b, scale(now, db)), add(c, scale(now, dc)),
                             add(d, scale(now, dd)), face)
    now, turn = _creep((subtract(a, d), subtract(b, d), subtract(c, d)),
                       (subtract(da, dd), subtract(db, dd), subtract(dc, dd)), (a, b, c, d), (da, db, dc, dd), face,
                       now, n, gap, keep)
    return now, FIXED + turn


@njit(**INNER)
def _creep(between: Any, motion: Any, start: Any, move: Any, face: Any, now: Any, n: Any, gap: Any, keep: Any) -> Any:
    """Return the same of a pair that is left, by slabs that turn.

    between, motion: of the first three vertices from the last at the start, and what they change in the step [m].
    start, move: of all four [m]. now, n, gap: time, and unit normal and distance at that [m].
    """
    ahead = 0.0
    for turn in range(STEPS - FIXED + 1):
        at_now = _moved(between, now, motion)
        sure = open_time(face, _in_front(n, at_now), _in_front(n, motion), gap, keep)
        if not now + sure < 1.0:
            return 2.0, turn
        if is_meeting(gap, keep) or turn == STEPS - FIXED:
            return now, turn
        ahead = min(max(ahead, sure if turn else 2.0 * sure), 1.0 - now)
        then = now + ahead
        a, b, c, d = start
        da, db, dc, dd = move
        _, normal, distance = _closest(add(a, scale(then, da)), add(b, scale(then, db)), add(c, scale(then, dc)),
                                       add(d, scale(then, dd)), face)
        width = turning_width(face, _in_front(n, _moved(between, then, motion)), _in_front(normal, at_now))
        holds = ahead <= sure or distance >= keep and width >= keep
        if holds:
            if not then < 1.0:
                return 2.0, turn
            now, n, gap = then, normal, distance
        ahead = next_advance(holds, ahead)
    return now, turn


@njit(**INLINED)
def _moved(between: Any, time: Any, motion: Any) -> Any:
    """Return three vectors [m] at a time of their motions."""
    return (add(between[0], scale(time, motion[0])), add(between[1], scale(time, motion[1])),
            add(between[2], scale(time, motion[2])))


@njit(**INLINED)
def _in_front(n: Any, vectors: Any) -> Any:
    """Return the components of three vectors along n."""
    return dot(n, vectors[0]), dot(n, vectors[1]), dot(n, vectors[2])
