# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points, compiled: one pair at a time, by `formulas.distances`.

A branch leaves out the edges where the foot of the perpendicular is inside, and the ends where the lines cross.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import distances as formulas
from ..formulas.distances import (
    FACE,
    between_edges,
    common_normal,
    crossing_of_lines,
    edge_feature,
    edge_weights,
    from_corner,
    nearest_edge,
    nearest_ends,
    perpendicular_foot,
    triangle_normal,
)
from ..numpy.distances import edge_edge  # no caller has many of these at once
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .plain_functions import register
from .vectors import add, at, dot, scale, subtract

__all__ = ["closest", "closest_on_edges", "edge_distance", "edge_edge", "point_triangle"]

register(formulas, INLINED)


def point_triangle(
    p: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return the closest point of each triangle (a, b, c) to its p; all (P, 3) [m].

    Its weights (P, 3), none negative, the point (P, 3) [m], the distance (P,) [m] and the feature code (P,).
    """
    P = len(p)
    found = np.empty((P, 3)), np.empty((P, 3)), np.empty(P), np.empty(P, dtype=np.int64)
    _point_triangle(*(np.ascontiguousarray(x, dtype=np.float64) for x in (p, a, b, c)), *found)
    return found


@njit(**KERNEL)
def _point_triangle(p: Any, a: Any, b: Any, c: Any, weights: Any, point: Any, distance: Any, feature: Any) -> None:
    """Write the results of `point_triangle` of all pairs to weights, point, distance and feature."""
    for i in range(len(p)):
        w, q, d, code = closest(at(p, i), at(a, i), at(b, i), at(c, i))
        weights[i, 0], weights[i, 1], weights[i, 2] = w
        point[i, 0], point[i, 1], point[i, 2] = q
        distance[i], feature[i] = d, code


@njit(**INNER)
def closest(p: Any, a: Any, b: Any, c: Any) -> Any:
    """Return the point of triangle (a, b, c) that is closest to p: weights, point, distance [m] and feature code.

    p, a, b, c: positions as components [m].
    """
    ab, bc, ca, ac = subtract(b, a), subtract(c, b), subtract(a, c), subtract(c, a)
    in_plane = subtract(p, a)
    n, nn, has_normal = triangle_normal(ab, bc, ca, ac)
    if has_normal:
        in_plane, weights = perpendicular_foot(ab, ac, in_plane, n, nn)
        if weights[0] > 0.0 and weights[1] > 0.0 and weights[2] > 0.0:
            point = from_corner(a, ab, ca, weights)
            away = subtract(p, point)
            return weights, point, np.sqrt(dot(away, away)), FACE
    edge, t = nearest_edge(in_plane, ab, bc, ca)
    weights = edge_weights(edge, t)
    point = add(b, scale(t, bc)) if edge == 1 else from_corner(a, ab, ca, weights)
    away = subtract(p, point)
    return weights, point, np.sqrt(dot(away, away)), edge_feature(edge, t)


@njit(**INNER)
def closest_on_edges(u: Any, v: Any, r: Any) -> Any:
    """Return the parameters s, t in 0..1 of the closest points of two edges.

    u, v: the edges from start to end [m]. r: from the start of the first to the start of the second [m].
    """
    in_plane = r
    n, nn, crossing = common_normal(u, v)
    if crossing:
        in_plane, s, t = crossing_of_lines(u, v, r, n, nn)
        if s > 0.0 and s < 1.0 and t > 0.0 and t < 1.0:
            return s, t
    return nearest_ends(in_plane, u, v)


@njit(**INNER)
def edge_distance(a0: Any, a1: Any, b0: Any, b1: Any) -> Any:
    """Return the distance [m] of edges (a0, a1) and (b0, b1), whose ends are components [m]."""
    u, v, r = subtract(a1, a0), subtract(b1, b0), subtract(b0, a0)
    s, t = closest_on_edges(u, v, r)
    away = between_edges(u, v, r, s, t)
    return np.sqrt(dot(away, away))
