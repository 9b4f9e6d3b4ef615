# SPDX-License-Identifier: GPL-3.0-or-later
"""Slab between the closest points of one pair of primitives, and the time for which it stays open.

A pair has four vertices: a vertex and a triangle (i | j, k, m) if `face`, else two edges (i, j | k, m). Its closest
points are `gap` [m] apart along the unit normal n, from the second primitive to the first one. Both primitives lie
outside the slab of this width across n, so that they cannot meet before the slab is closed. Vectors are tuples of
components; these and the other arguments are arrays (P,) or plain numbers.

Two primitives that turn while one slides along the other close each slab soon, although they keep their distance: the
far end of an edge goes through it. Their slab turns with them. Between the normals n0 and n1 of two times, those of the
closest points there, take n = (1 - s) n0 + s n1 for s in 0..1, whose length is at most 1. A vertex of one primitive is
in front of one of the other by at least

    n . D = (1 - s)^2 n0 . D0 + 2 s (1 - s) (n0 . D1 + n1 . D0) / 2 + s^2 n1 . D1,      D = (1 - s) D0 + s D1

which is not below the least of its three coefficients (those of Bernstein's polynomials). If these are `keep` for all
such vertices, the pair stays `keep` apart in between. They are short of the distance by what is of second order in the
angle of the turn, where a slab that stays loses what is of first order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray
from .vectors import COORDINATE_ROUNDING, Vector, add, divide, maximum, minimum, scale, select, select_vector, subtract

NEAR = 1.5
"""Distance over the distance to keep at which a pair counts as meeting [-]: above 1, so that the search ends."""
FIXED = 16
"""Advances by a slab that does not turn, before one that does (docs/decisions/0066)."""
STEPS = 64
"""Advances after which a pair counts as meeting where it is (docs/decisions/0066)."""
LEFT = 0.16
"""Least share of its distance (or of the distance that counts as far) which a pair that is no candidate keeps [-].
It is above the share at which a pair meets."""


def edge_pair_weights(s: FloatArray, t: FloatArray) -> Any:
    """Return the weights of the four vertices of two edges whose closest points are at s, t (0..1)."""
    return 1.0 - s, s, t - 1.0, -t


def edge_pair_offset(a: Vector, b: Vector, c: Vector, d: Vector, s: FloatArray, t: FloatArray) -> Vector:
    """Return the vector [m] from the point at t on the edge (c, d) to the one at s on the edge (a, b)."""
    return subtract(add(subtract(a, c), scale(s, subtract(b, a))), scale(t, subtract(d, c)))


def normal_and_gap(offset: Vector, gap: FloatArray, a: Vector, b: Vector, c: Vector, d: Vector) -> Any:
    """Return the unit normal and the gap [m] of a pair; both are 0 if the gap is within the rounding of a, b, c, d.

    offset: vector from the closest point on the second primitive to that on the first [m]. gap: its length [m].
    """
    size = maximum(maximum(_largest(a), _largest(b)), maximum(_largest(c), _largest(d)))
    apart = gap > COORDINATE_ROUNDING * size
    return select_vector(apart, scale(divide(1.0, gap), offset), (0.0, 0.0, 0.0)), select(apart, gap, 0.0)


def _largest(a: Vector) -> FloatArray:
    """Return the largest absolute value of the components of a."""
    return maximum(maximum(np.abs(a[0]), np.abs(a[1])), np.abs(a[2]))


def pair_radius(face: Any, i: Any, j: Any, k: Any, m: Any) -> Any:
    """Return the mean of the largest radii of both primitives [m], from the radii of their vertices [m]."""
    return 0.5 * select(face, i + maximum(j, maximum(k, m)), maximum(i, j) + maximum(k, m))


def gap_at_end(face: Any, height: Any, slack: Any) -> Any:
    """Return a lower bound of the slab's width at the end of the step [m]; negative if it may close.

    height: n . (x_i - x_m), n . (x_j - x_m), n . (x_k - x_m) at the end of the step [m]. slack: for each of the four
    vertices, how far its end may still change [m].
    """
    u, v, y = height
    i, j, k, m = slack
    of_face = u - maximum(v, maximum(y, 0.0)) - maximum(j, maximum(k, m)) - i
    of_edges = minimum(u, v) - maximum(y, 0.0) - maximum(k, m) - maximum(i, j)
    return select(face, of_face, of_edges)


def closing_motion(face: Any, i: Any, j: Any, k: Any, m: Any) -> Any:
    """Return by how much the slab closes in a whole step [m], from the motions n . dx of the four vertices [m]."""
    return select(face, maximum(j, maximum(k, m)) - i, maximum(k, m) - minimum(i, j))


def advanced_time(now: Any, gap: Any, keep: Any, closing: Any) -> Any:
    """Return the time (in steps) up to which a pair stays `keep` apart [m], from its gap at `now` and its closing."""
    return now + (gap - keep) / closing


def is_meeting(gap: Any, keep: Any) -> Any:
    """Return whether a pair is so close to the distance to keep that it counts as meeting."""
    return gap <= NEAR * keep


def _each_of_each(face: Any, u: Any, v: Any, y: Any) -> Any:
    """Return by how much each vertex of the first primitive is in front of each of the second [m], four numbers, from
    how much i, j, k are in front of m [m]."""
    return select(face, u - v, u - y), select(face, u - y, u), select(face, u, v - y), select(face, u, v)


def open_time(face: Any, heights: Any, motions: Any, gap: Any, keep: Any) -> Any:
    """Return the time (in steps) for which the slab stays `keep` wide [m], at most 2.

    heights: how much i, j, k are in front of m across n [m]; motions: the same of what they move in a step [m]. Unlike
    `closing_motion`, this knows that only what is at the closest points is as near as `gap` [m].
    """
    width = _each_of_each(face, heights[0], heights[1], heights[2])
    motion = _each_of_each(face, motions[0], motions[1], motions[2])
    time = 2.0
    for k in range(4):
        ends = divide(maximum(width[k], gap) - keep, -motion[k])
        time = minimum(time, select(motion[k] < 0.0, ends, 2.0))
    return time


def turning_width(face: Any, before: Any, after: Any) -> Any:
    """Return the least width of a turning slab between two times [m], if it is not that at one of them.

    before: how much i, j, k at the second time are in front of m across the normal of the first [m]; after: the same at
    the first time across the normal of the second.
    """
    w = _each_of_each(face, before[0] + after[0], before[1] + after[1], before[2] + after[2])
    return 0.5 * minimum(minimum(w[0], w[1]), minimum(w[2], w[3]))


def next_advance(holds: Any, ahead: Any) -> Any:
    """Return the time that a slab advances by next, from the one that held or did not."""
    return select(holds, 2.0 * ahead, 0.25 * ahead)
