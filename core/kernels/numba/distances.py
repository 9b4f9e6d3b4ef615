# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points, compiled: one pair at a time, in the steps of `numpy.distances`, which says why they are so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray, IntArray
from ..numpy import distances as reference
from .options import INLINED, INNER, KERNEL
from .vectors import add, at, cross, divide, dot, scale, subtract

FLAT, FACE, EDGE, VERTEX = reference.FLAT, reference.FACE, reference.EDGES[0], reference.VERTICES[0]

edge_edge = reference.edge_edge                                     # nothing asks for many of these at once


def point_triangle(
    p: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Closest point of each triangle (a, b, c) to its p; all (P, 3) [m]: barycentric, point, distance, feature."""
    P = len(p)
    found = np.empty((P, 3)), np.empty((P, 3)), np.empty(P), np.empty(P, dtype=np.int64)
    _point_triangle(*(np.ascontiguousarray(x, dtype=np.float64) for x in (p, a, b, c)), *found)
    return found


@njit(**KERNEL)
def _point_triangle(p: Any, a: Any, b: Any, c: Any, weights: Any, point: Any, distance: Any, feature: Any) -> None:
    for i in range(len(p)):
        w, q, d, code = closest(at(p, i), at(a, i), at(b, i), at(c, i))
        weights[i, 0], weights[i, 1], weights[i, 2] = w
        point[i, 0], point[i, 1], point[i, 2] = q
        distance[i], feature[i] = d, code


@njit(**INNER)
def closest(p: Any, a: Any, b: Any, c: Any) -> Any:
    """Weights, point, distance and feature code of the point of triangle (a, b, c) that is closest to p."""
    ab, bc, ca, ap = subtract(b, a), subtract(c, b), subtract(a, c), subtract(p, a)
    ac = subtract(c, a)
    n = cross(ab, ac)
    nn = dot(n, n)
    longest = max(max(dot(ab, ab), dot(bc, bc)), dot(ca, ca))
    has_normal = nn > (FLAT * longest) ** 2
    in_plane = subtract(ap, scale(divide(dot(ap, n), nn), n)) if has_normal else ap
    if has_normal:
        w_c = divide(dot(cross(ab, in_plane), n), nn)
        w_b = divide(dot(cross(in_plane, ac), n), nn)
        w_a = 1.0 - w_b - w_c
        if w_a > 0.0 and w_b > 0.0 and w_c > 0.0:
            point = add(a, subtract(scale(w_b, ab), scale(w_c, ca)))
            away = subtract(p, point)
            return (w_a, w_b, w_c), point, np.sqrt(dot(away, away)), FACE

    edge = 0
    t, best = along(in_plane, ab)
    t_bc, d_bc = along(subtract(in_plane, ab), bc)
    t_ca, d_ca = along(add(in_plane, ca), ca)
    smaller = min(best, d_bc)
    if d_bc < best:
        edge, t = 1, t_bc
    if d_ca < smaller:
        edge, t = 2, t_ca
    if edge == 0:
        weights = (1.0 - t, t, 0.0)
    elif edge == 1:
        weights = (0.0, 1.0 - t, t)
    else:
        weights = (t, 0.0, 1.0 - t)
    feature = EDGE + edge
    if t == 0.0:
        feature = VERTEX + edge
    if t == 1.0:
        feature = VERTEX + (edge + 1) % 3
    point = add(b, scale(t, bc)) if edge == 1 else add(a, subtract(scale(weights[1], ab), scale(weights[2], ca)))
    away = subtract(p, point)
    return weights, point, np.sqrt(dot(away, away)), feature


@njit(**INNER)
def edge_distance(a0: Any, a1: Any, b0: Any, b1: Any) -> Any:
    """The distance of edges (a0, a1) and (b0, b1)."""
    u, v, r = subtract(a1, a0), subtract(b1, b0), subtract(b0, a0)
    n = cross(u, v)
    nn = dot(n, n)
    s, t = 0.0, 0.0
    crossing = nn > FLAT**2 * dot(u, u) * dot(v, v)
    in_plane = subtract(r, scale(divide(dot(r, n), nn), n)) if crossing else r
    inside = False
    if crossing:
        s, t = divide(dot(cross(in_plane, v), n), nn), divide(dot(cross(in_plane, u), n), nn)
        inside = s > 0.0 and s < 1.0 and t > 0.0 and t < 1.0
    if not inside:
        s, t, best = 0.0, 0.0, np.inf
        for end in (0.0, 1.0):
            t_end, d = along(subtract(scale(end, u), in_plane), v)
            if d < best:
                s, t, best = end, t_end, d
            s_end, d = along(add(in_plane, scale(end, v)), u)
            if d < best:
                s, t, best = s_end, end, d
    away = subtract(add(r, scale(t, v)), scale(s, u))
    return np.sqrt(dot(away, away))


@njit(**INLINED)
def along(offset: Any, edge: Any) -> Any:
    """Parameter in 0..1 of the point of an edge closest to start + offset, and their squared distance [m^2]."""
    t = min(max(divide(dot(offset, edge), dot(edge, edge)), 0.0), 1.0)
    rest = subtract(offset, scale(t, edge))
    return t, dot(rest, rest)
