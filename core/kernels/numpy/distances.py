# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points of many pairs at once, by `formulas.distances`."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas.distances import (
    EDGES,
    FACE,
    VERTICES,
    between_edges,
    common_normal,
    crossing_of_lines,
    edge_feature,
    edge_weights,
    from_corner,
    nearest_edge,
    nearest_ends,
    perpendicular_foot,
    point_on_edge,
    triangle_normal,
)
from .vectors import add, dot, join, scale, select_vector, split, subtract

__all__ = ["EDGES", "FACE", "VERTICES", "edge_edge", "point_triangle"]


def point_triangle(
    p: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Return the closest point of each triangle (a, b, c) to its p; all (P, 3) [m].

    Its weights (P, 3), none negative, the point (P, 3) [m], the distance (P,) [m] and the feature code (P,).
    """
    corner_a, corner_b, corner_c, query = split(a), split(b), split(c), split(p)
    ab, bc, ca = subtract(corner_b, corner_a), subtract(corner_c, corner_b), subtract(corner_a, corner_c)
    ac, ap = subtract(corner_c, corner_a), subtract(query, corner_a)
    n, nn, has_normal = triangle_normal(ab, bc, ca, ac)
    in_plane, foot = perpendicular_foot(ab, ac, ap, n, np.where(has_normal, nn, 0.0))
    inside = has_normal & (foot[0] > 0.0) & (foot[1] > 0.0) & (foot[2] > 0.0)
    edge, t = nearest_edge(in_plane, ab, bc, ca)
    weights = select_vector(inside, foot, edge_weights(edge, t))
    feature = np.where(inside, FACE, edge_feature(edge, t))
    point = from_corner(corner_a, ab, ca, weights)
    point = select_vector(~inside & (edge == 1), add(corner_b, scale(t, bc)), point)
    offset = subtract(query, point)
    return join(weights), join(point), np.sqrt(dot(offset, offset)), feature


def edge_edge(
    a0: FloatArray, a1: FloatArray, b0: FloatArray, b1: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the closest points of each pair of edges (a0, a1) and (b0, b1); all (P, 3) [m].

    Parameters s, t (P,) in 0..1, the points on both (P, 3) [m], and their distance (P,) [m].
    """
    start_a, end_a, start_b, end_b = split(a0), split(a1), split(b0), split(b1)
    u, v, r = subtract(end_a, start_a), subtract(end_b, start_b), subtract(start_b, start_a)
    n, nn, crossing = common_normal(u, v)
    in_plane, s_line, t_line = crossing_of_lines(u, v, r, n, np.where(crossing, nn, 0.0))
    inside = crossing & (s_line > 0.0) & (s_line < 1.0) & (t_line > 0.0) & (t_line < 1.0)
    s, t = nearest_ends(in_plane, u, v)
    s, t = np.where(inside, s_line, s), np.where(inside, t_line, t)
    offset = between_edges(u, v, r, s, t)
    return (s, t, join(point_on_edge(start_a, end_a, u, s)), join(point_on_edge(start_b, end_b, v, t)),
            np.sqrt(dot(offset, offset)))
