# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a moving point enters a moving triangle within one step.

All four points move straight from their start to their end, t = 0..1. The point x lies in the plane of (a, b, c) when

    f(t) = (x - a) . ((b - a) x (c - a)) = 0,

a cubic in t. In Bernstein form its four coefficients bound it: where all have one sign there is no root, and that
settles nearly all pairs. The others are cut at the extrema of f, and each piece with a change of sign holds one root,
found by bisection. The point enters there if it is inside the triangle at that time.

Triangles that share an edge share its motion, so that no path slips through between them, however fast and however
the surface turns or deforms; `OVERLAP` makes up for rounding. f = 0 at the start or the end counts as the front: a
point that touches from the back has entered. Where f only touches zero there is no entry.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .vectors import Vector, add, cross, divide, dot, scale, subtract, take

OVERLAP = 1e-6
"""How far, in barycentric weights, a triangle reaches over its border for the entry of a path [-]."""

HALVINGS = 40
"""Bisections of a root in time: to 1e-12 of the step."""


def first_entries(
    vertex: IntArray, triangle: IntArray, x_t0: FloatArray, x_t1: FloatArray, triangles: IntArray, closed: BoolArray,
    surface_t0: FloatArray, surface_t1: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The first triangle that each vertex's path enters, at most one entry per vertex.

    Pairs of vertex (P,) and triangle (P,); x_t0, x_t1 (V, 3) [m]; the surface's triangles (T, 3), whether each belongs
    to a closed part (T,), and positions [m]. Closed parts are entered from outside only, open ones from both sides.

    Returns indices into the pairs (N,), the places' barycentric weights (N, 3), and the sides (N,): +1 where the vertex
    came from the triangle's front, -1 from its back.
    """
    corners = triangles[triangle]
    u0, ab0, ac0 = _sides(x_t0, vertex, surface_t0, corners)
    u1, ab1, ac1 = _sides(x_t1, vertex, surface_t1, corners)
    n0, n1 = cross(ab0, ac0), cross(ab1, ac1)
    twice_nm = add(cross(ab0, ac1), cross(ab1, ac0))
    f = np.stack([
        dot(u0, n0), (dot(u1, n0) + dot(u0, twice_nm)) / 3.0, (dot(u0, n1) + dot(u1, twice_nm)) / 3.0, dot(u1, n1)
    ])
    row = np.flatnonzero((f.min(axis=0) < 0.0) & (f.max(axis=0) >= 0.0))
    which, time, side = _sign_changes(f[:, row])
    pair = row[which]

    u, ab, ac = (_between(_rows(p, pair), _rows(q, pair), time) for p, q in ((u0, u1), (ab0, ab1), (ac0, ac1)))
    n = cross(ab, ac)
    nn = dot(n, n)
    w_b, w_c = divide(dot(cross(u, ac), n), nn), divide(dot(cross(ab, u), n), nn)
    w = np.stack([1.0 - w_b - w_c, w_b, w_c], axis=1)
    hit: BoolArray = (w.min(axis=1) >= -OVERLAP) & (nn > 0.0) & ((side > 0.0) | ~closed[triangle[pair]])
    pair, time, side, w = pair[hit], time[hit], side[hit], np.maximum(w[hit], 0.0)
    order = np.lexsort((triangle[pair], time, vertex[pair]))
    first = order[np.unique(vertex[pair[order]], return_index=True)[1]]
    return pair[first], w[first] / w[first].sum(axis=1, keepdims=True), side[first]


def _sign_changes(f: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Where cubics with Bernstein coefficients f (4, N) change sign: index, time in 0..1, +1 falling or -1 rising."""
    d = np.diff(f, axis=0)                                            # the derivative's coefficients, over 3
    a, half_b, c = d[0] - 2.0 * d[1] + d[2], d[1] - d[0], d[0]
    q = -(half_b + np.copysign(np.sqrt(np.maximum(half_b * half_b - a * c, 0.0)), half_b))
    extrema = np.sort(np.clip([_ratio(q, a), _ratio(c, q)], 0.0, 1.0), axis=0)
    zero = np.zeros((1, f.shape[1]))
    cuts = np.concatenate([zero, extrema, zero + 1.0])
    value = np.stack([_bernstein(f, t) for t in cuts])
    value[0], value[3] = f[0], f[3]                                   # the ends exactly
    piece, which = np.nonzero((value[:-1] >= 0.0) != (value[1:] >= 0.0))
    low, high = cuts[piece, which], cuts[piece + 1, which]
    front = value[piece, which] >= 0.0
    g = f[:, which]
    for _ in range(HALVINGS if len(which) else 0):
        middle = 0.5 * (low + high)
        before = (_bernstein(g, middle) >= 0.0) == front
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return which, low, np.where(front, 1.0, -1.0)


def _bernstein(f: FloatArray, t: FloatArray) -> FloatArray:
    """The cubics at t (N,)."""
    s = 1.0 - t
    return np.asarray(s * s * (s * f[0] + 3.0 * t * f[1]) + t * t * (3.0 * s * f[2] + t * f[3]))


def _ratio(a: FloatArray, b: FloatArray) -> FloatArray:
    """a / b where it is within 0..1, else an end of that range."""
    return np.where(np.abs(a) >= np.abs(b), 1.0, divide(a, np.where(np.abs(a) < np.abs(b), b, 0.0)))


def _sides(x: FloatArray, vertex: IntArray, positions: FloatArray, corners: IntArray) -> tuple[Vector, Vector, Vector]:
    """x - a, b - a, c - a"""
    a = take(positions, corners[:, 0])
    return (
        subtract(take(x, vertex), a),
        subtract(take(positions, corners[:, 1]), a),
        subtract(take(positions, corners[:, 2]), a),
    )


def _between(a: Vector, b: Vector, t: FloatArray) -> Vector:
    """(1 - t) a + t b"""
    return add(scale(1.0 - t, a), scale(t, b))


def _rows(v: Vector, rows: IntArray) -> Vector:
    return v[0][rows], v[1][rows], v[2][rows]
