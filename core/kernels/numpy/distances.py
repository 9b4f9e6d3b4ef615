# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points: of a point and a triangle, and of two edges, for many pairs at once.

Point p, triangle (a, b, c): the closest point is either the foot of the perpendicular, where that lies inside the
triangle, or the closest point of one of the three edges. Edges (a0, a1), (b0, b1): either both closest points are
inside their edges, or one of them is an end. All candidates are points of the primitives, so that no rounding can put
the answer outside.

Two things keep this right for every shape and scale:

- Where the pair has a common normal n (of the triangle, or of both edges), the part along n is removed before
  candidates are compared: it is the same for all of them, and far away it would swallow the differences.
- A triangle whose height is below `FLAT` times its length, or edges this close to parallel, have no usable normal.
  A flat triangle is as good as its edges, and of parallel edges one closest point is always an end, so that only the
  other candidates are left. The error is below `FLAT` times the length.

`FLAT` compares shapes, not lengths: there is no other tolerance. Lengths between 1e-70 and 1e70 m are safe from
under- and overflow.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .vectors import Vector, add, cross, divide, dot, join, scale, select, split, subtract

FLAT = 1e-8
"""Sine of the angle below which two directions count as parallel [-]: the square root of the rounding error, as the
normal of directions at angle s is known to rounding / s."""

FACE = 0
EDGES = (1, 2, 3)
"""Feature codes of the edges (corner 0, 1), (1, 2), (2, 0)."""
VERTICES = (4, 5, 6)
"""Feature codes of corners 0, 1, 2."""


def point_triangle(
    p: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
    """Closest point of each triangle (a, b, c) to its p; all (P, 3) [m].

    Its weights (P, 3), none negative, the point (P, 3) [m], the distance (P,) [m] and the feature code (P,).
    """
    corner_a, corner_b, corner_c, query = split(a), split(b), split(c), split(p)
    ab, bc, ca = subtract(corner_b, corner_a), subtract(corner_c, corner_b), subtract(corner_a, corner_c)
    ap = subtract(query, corner_a)
    n = cross(ab, subtract(corner_c, corner_a))
    nn = dot(n, n)
    longest = np.maximum(np.maximum(dot(ab, ab), dot(bc, bc)), dot(ca, ca))
    has_normal = nn > (FLAT * longest) ** 2
    nn = np.where(has_normal, nn, 0.0)
    height = divide(dot(ap, n), nn)
    in_plane = select(has_normal, subtract(ap, scale(height, n)), ap)     # a to p, without the part along n

    # Perpendicular foot: the weight of a corner is the area opposite to it over the whole.
    w_c = divide(dot(cross(ab, in_plane), n), nn)
    w_b = divide(dot(cross(in_plane, subtract(corner_c, corner_a)), n), nn)
    w_a = 1.0 - w_b - w_c
    inside = has_normal & (w_a > 0.0) & (w_b > 0.0) & (w_c > 0.0)

    # Closest point of each edge, and the best of the three; the first of equals.
    bp, cp = subtract(in_plane, ab), add(in_plane, ca)
    t_ab, d_ab = _along(in_plane, ab)
    t_bc, d_bc = _along(bp, bc)
    t_ca, d_ca = _along(cp, ca)
    edge = np.where(d_bc < d_ab, 1, 0)
    edge = np.where(d_ca < np.minimum(d_ab, d_bc), 2, edge)
    t = np.where(edge == 0, t_ab, np.where(edge == 1, t_bc, t_ca))

    barycentric = np.empty((len(t), 3))
    for k, w in enumerate((w_a, w_b, w_c)):
        on_edge = np.where(edge == k, 1.0 - t, np.where(edge == (k + 2) % 3, t, 0.0))
        barycentric[:, k] = np.where(inside, w, on_edge)
    feature = np.where(t == 0.0, VERTICES[0] + edge, EDGES[0] + edge)
    feature = np.where(t == 1.0, VERTICES[0] + (edge + 1) % 3, feature)
    feature = np.where(inside, FACE, feature)

    # From the nearest corner, so that the error is that of the triangle's size and not of its place.
    point = add(corner_a, subtract(scale(barycentric[:, 1], ab), scale(barycentric[:, 2], ca)))
    point = select(~inside & (edge == 1), add(corner_b, scale(t, bc)), point)
    offset = subtract(query, point)
    return barycentric, join(point), np.sqrt(dot(offset, offset)), feature


def edge_edge(
    a0: FloatArray, a1: FloatArray, b0: FloatArray, b1: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Closest points of each edge (a0, a1) and its edge (b0, b1); all (P, 3) [m].

    Parameters s, t (P,) in 0..1, the points on both (P, 3) [m], and their distance (P,) [m].
    """
    start_a, end_a, start_b, end_b = split(a0), split(a1), split(b0), split(b1)
    u, v, r = subtract(end_a, start_a), subtract(end_b, start_b), subtract(start_b, start_a)
    n = cross(u, v)
    nn = dot(n, n)
    crossing = nn > FLAT**2 * dot(u, u) * dot(v, v)
    nn = np.where(crossing, nn, 0.0)
    in_plane = select(crossing, subtract(r, scale(divide(dot(r, n), nn), n)), r)

    # Ends against the other edge, the best of four; the first of equals.
    s, t, best = np.zeros_like(nn), np.zeros_like(nn), np.full_like(nn, np.inf)
    one = np.ones_like(nn)
    for end in (0.0 * one, one):
        t_end, d = _along(subtract(scale(end, u), in_plane), v)              # an end of a against edge b
        nearer = d < best
        s, t, best = np.where(nearer, end, s), np.where(nearer, t_end, t), np.where(nearer, d, best)
        s_end, d = _along(add(in_plane, scale(end, v)), u)                   # an end of b against edge a
        nearer = d < best
        s, t, best = np.where(nearer, s_end, s), np.where(nearer, end, t), np.where(nearer, d, best)

    # Both inside: where the lines cross in the plane.
    s_line, t_line = divide(dot(cross(in_plane, v), n), nn), divide(dot(cross(in_plane, u), n), nn)
    inside: BoolArray = crossing & (s_line > 0.0) & (s_line < 1.0) & (t_line > 0.0) & (t_line < 1.0)
    s, t = np.where(inside, s_line, s), np.where(inside, t_line, t)

    point_a, point_b = _on_edge(start_a, end_a, u, s), _on_edge(start_b, end_b, v, t)
    # From the difference of the starts: far from the origin this keeps digits that the points have lost.
    offset = subtract(add(r, scale(t, v)), scale(s, u))
    return s, t, join(point_a), join(point_b), np.sqrt(dot(offset, offset))


def _along(offset: Vector, edge: Vector) -> tuple[FloatArray, FloatArray]:
    """Parameter in 0..1 of the point of an edge closest to start + offset, and their squared distance [m^2]."""
    t = np.clip(divide(dot(offset, edge), dot(edge, edge)), 0.0, 1.0)
    rest = subtract(offset, scale(t, edge))
    return t, dot(rest, rest)


def _on_edge(start: Vector, end: Vector, edge: Vector, t: FloatArray) -> Vector:
    """The point at t: the ends exactly, the rest from the nearer end."""
    return select(t <= 0.5, add(start, scale(t, edge)), subtract(end, scale(1.0 - t, edge)))
