# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points of a point and a triangle, and of two edges.

Point p, triangle (a, b, c): the closest point is either the foot of the perpendicular, if that is inside the triangle,
or the closest point of one of the three edges. Edges (a0, a1), (b0, b1): either both closest points are inside their
edges, or one of them is an end. All candidates are points of the primitives, so that rounding cannot put the answer
outside.

Two rules keep this right for every shape and scale:

- Where the pair has a common normal n (of the triangle, or of both edges), the part along n is removed before
  candidates are compared. It is equal for all candidates, and at a large distance it would swallow their differences.
- A triangle whose height is below `FLAT` times its length, or edges this close to parallel, have no usable normal.
  A flat triangle is as good as its edges, and of parallel edges one closest point is always an end, so that only the
  other candidates are left. The error is below `FLAT` times the length.

`FLAT` compares shapes, not lengths: there is no other tolerance. Lengths between 1e-70 and 1e70 m are safe from
under- and overflow. Points and edge vectors are in [m].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .vectors import Vector, add, clip, cross, divide, dot, maximum, minimum, scale, select, select_vector, subtract

FLAT = 1e-8
"""Sine of the angle below which two directions count as parallel [-]: the square root of the rounding error, as the
normal of directions at angle s has an error of rounding / s."""

FACE = 0
EDGES = (1, 2, 3)
"""Feature codes of the edges (corner 0, 1), (1, 2), (2, 0)."""
VERTICES = (4, 5, 6)
"""Feature codes of corners 0, 1, 2."""


def along_edge(offset: Vector, edge: Vector) -> tuple[FloatArray, FloatArray]:
    """Return the parameter of the point of an edge closest to a given point, and their squared distance [m^2].

    offset: from the start of the edge to the given point [m]. t = clip(offset . edge / edge . edge) in 0..1.
    """
    t = clip(divide(dot(offset, edge), dot(edge, edge)), 0.0, 1.0)
    rest = subtract(offset, scale(t, edge))
    return t, dot(rest, rest)


# ---------------------------------------------------------------------- point and triangle


def triangle_normal(ab: Vector, bc: Vector, ca: Vector, ac: Vector) -> tuple[Vector, FloatArray, BoolArray]:
    """Return n = ab x ac [m^2], n . n [m^4], and whether the triangle is thick enough to have a usable normal."""
    n = cross(ab, ac)
    nn = dot(n, n)
    longest = maximum(maximum(dot(ab, ab), dot(bc, bc)), dot(ca, ca))
    return n, nn, nn > (FLAT * longest) ** 2


def perpendicular_foot(ab: Vector, ac: Vector, ap: Vector, n: Vector, nn: FloatArray) -> tuple[Vector, Vector]:
    """Return the vector from a to p without its part along the normal, and the weights of its foot.

    ab, ac, ap: from corner a to b, c and the point p [m]. n, nn: as of `triangle_normal`; with nn = 0 the vector is
    `ap`. The weight of a corner is the area opposite to it over the area of the triangle.
    """
    in_plane = subtract(ap, scale(divide(dot(ap, n), nn), n))
    w_c = divide(dot(cross(ab, in_plane), n), nn)
    w_b = divide(dot(cross(in_plane, ac), n), nn)
    return in_plane, (1.0 - w_b - w_c, w_b, w_c)


def nearest_edge(in_plane: Vector, ab: Vector, bc: Vector, ca: Vector) -> tuple[IntArray, FloatArray]:
    """Return the index (0, 1, 2) of the edge closest to the point a + in_plane, and the parameter in 0..1 on it.

    The first one of edges at equal distances.
    """
    t_ab, d_ab = along_edge(in_plane, ab)
    t_bc, d_bc = along_edge(subtract(in_plane, ab), bc)
    t_ca, d_ca = along_edge(add(in_plane, ca), ca)
    second, third = d_bc < d_ab, d_ca < minimum(d_ab, d_bc)
    return select(third, 2, select(second, 1, 0)), select(third, t_ca, select(second, t_bc, t_ab))


def edge_weights(edge: IntArray, t: FloatArray) -> Vector:
    """Return the barycentric weights of the point at parameter t on edge 0, 1 or 2 of a triangle."""
    s = 1.0 - t
    return (select(edge == 0, s, select(edge == 2, t, 0.0)), select(edge == 1, s, select(edge == 0, t, 0.0)),
            select(edge == 2, s, select(edge == 1, t, 0.0)))


def edge_feature(edge: IntArray, t: FloatArray) -> IntArray:
    """Return the feature code of the point at parameter t on edge 0, 1 or 2 of a triangle."""
    following = select(edge == 2, 0, edge + 1)
    return select(t == 1.0, VERTICES[0] + following, select(t == 0.0, VERTICES[0] + edge, EDGES[0] + edge))


def from_corner(a: Vector, ab: Vector, ca: Vector, weights: Vector) -> Vector:
    """Return the point of a triangle with these barycentric weights [m].

    Computed from corner a, so that its error is relative to the size of the triangle and not to its coordinates.
    """
    return add(a, subtract(scale(weights[1], ab), scale(weights[2], ca)))


# ---------------------------------------------------------------------- two edges


def common_normal(u: Vector, v: Vector) -> tuple[Vector, FloatArray, BoolArray]:
    """Return n = u x v [m^2], n . n [m^4], and whether the edges are far enough from parallel for a usable normal."""
    n = cross(u, v)
    nn = dot(n, n)
    return n, nn, nn > FLAT**2 * dot(u, u) * dot(v, v)


def crossing_of_lines(u: Vector, v: Vector, r: Vector, n: Vector, nn: FloatArray
                      ) -> tuple[Vector, FloatArray, FloatArray]:
    """Return r without its part along n, and the parameters s, t of the closest points of two lines.

    Lines start + s u and start + r + t v [m]. n, nn: as of `common_normal`; with nn = 0 the vector is r, and s = t = 0.
    """
    in_plane = subtract(r, scale(divide(dot(r, n), nn), n))
    return in_plane, divide(dot(cross(in_plane, v), n), nn), divide(dot(cross(in_plane, u), n), nn)


def nearest_ends(in_plane: Vector, u: Vector, v: Vector) -> tuple[FloatArray, FloatArray]:
    """Return the parameters s, t of the closest points of two edges, of which at least one is an end.

    The first one of points at equal distances. in_plane: from the first start to the second, without the part along the
    common normal [m]. u, v: the edges [m].
    """
    ends: tuple[Any, Any] = (0.0, 1.0)
    s, t, best = ends[0], ends[0], np.inf
    for end in ends:
        t_end, d = along_edge(subtract(scale(end, u), in_plane), v)          # an end of the first edge
        nearer = d < best
        s, t, best = select(nearer, end, s), select(nearer, t_end, t), select(nearer, d, best)
        s_end, d = along_edge(add(in_plane, scale(end, v)), u)               # an end of the second edge
        nearer = d < best
        s, t, best = select(nearer, s_end, s), select(nearer, end, t), select(nearer, d, best)
    return s, t


def between_edges(u: Vector, v: Vector, r: Vector, s: FloatArray, t: FloatArray) -> Vector:
    """Return the vector from the point at s on the first edge to the one at t on the second [m].

    u, v: the edges [m]. r: from the first start to the second [m]. The difference of the points themselves would be
    less accurate far from the origin.
    """
    return subtract(add(r, scale(t, v)), scale(s, u))


def point_on_edge(start: Vector, end: Vector, edge: Vector, t: FloatArray) -> Vector:
    """Return the point at parameter t of an edge [m], computed from the nearer end: exact at both ends."""
    return select_vector(t <= 0.5, add(start, scale(t, edge)), subtract(end, scale(1.0 - t, edge)))
