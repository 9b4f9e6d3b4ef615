# SPDX-License-Identifier: GPL-3.0-or-later
"""Find where moving points enter moving triangles within one step, many pairs at once.

`formulas.point_triangle_ccd` has the cubic f(t) whose roots are the times at which a point lies in the plane of its
triangle. Nearly all pairs have coefficients of one sign and no root. The others are cut at the extrema of f, and each
piece with a change of sign holds one root, found by bisection. The point enters there if it is inside the triangle.

Triangles that share an edge share its motion, so that no path slips through between them, however fast and however
the surface turns or deforms; `OVERLAP` covers rounding. f = 0 at the start or the end counts as the front: a point
that touches from the back has entered. A root without a change of sign is no entry.

The compiled twin goes through one pair at a time and stops at its first entry.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas.point_triangle_ccd import HALVINGS, OVERLAP, bernstein, between, coplanarity, entry_weights, extrema
from .vectors import Vector, subtract, take


def first_entries(
    vertex: IntArray, triangle: IntArray, x_t0: FloatArray, x_t1: FloatArray, triangles: IntArray, closed: BoolArray,
    surface_t0: FloatArray, surface_t1: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the first triangle that each vertex's path enters, at most one entry per vertex.

    Pairs of vertex (P,) and triangle (P,); x_t0, x_t1 (V, 3) [m]; the surface's triangles (T, 3), whether each belongs
    to a closed part (T,), and positions [m]. Closed parts are entered from outside only, open ones from both sides.

    Returns indices into the pairs (N,), the places' barycentric weights (N, 3), and the sides (N,): +1 where the vertex
    came from the triangle's front, -1 from its back.
    """
    corners = triangles[triangle]
    u0, ab0, ac0 = _sides(x_t0, vertex, surface_t0, corners)
    u1, ab1, ac1 = _sides(x_t1, vertex, surface_t1, corners)
    f = np.stack(coplanarity(u0, u1, ab0, ab1, ac0, ac1))
    row = np.flatnonzero((f.min(axis=0) < 0.0) & (f.max(axis=0) >= 0.0))
    which, time, side = _sign_changes(f[:, row])
    pair = row[which]

    u, ab, ac = (between(_rows(p, pair), _rows(q, pair), time) for p, q in ((u0, u1), (ab0, ab1), (ac0, ac1)))
    *weights, nn = entry_weights(u, ab, ac)
    w = np.stack(weights, axis=1)
    hit: BoolArray = (w.min(axis=1) >= -OVERLAP) & (nn > 0.0) & ((side > 0.0) | ~closed[triangle[pair]])
    pair, time, side, w = pair[hit], time[hit], side[hit], np.maximum(w[hit], 0.0)
    order = np.lexsort((triangle[pair], time, vertex[pair]))
    first = order[np.unique(vertex[pair[order]], return_index=True)[1]]
    return pair[first], w[first] / w[first].sum(axis=1, keepdims=True), side[first]


def _sign_changes(f: FloatArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the sign changes in 0..1 of cubics with Bernstein coefficients f (4, N).

    For each: index of the cubic, time, and +1 if it falls or -1 if it rises.
    """
    zero = np.zeros(f.shape[1])
    f0, f1, f2, f3 = f
    cuts = np.stack([zero, *extrema(f0, f1, f2, f3), zero + 1.0])
    value = np.stack([bernstein(f0, f1, f2, f3, t) for t in cuts])
    value[0], value[3] = f[0], f[3]                                   # the ends exactly
    piece, which = np.nonzero((value[:-1] >= 0.0) != (value[1:] >= 0.0))
    low, high = cuts[piece, which], cuts[piece + 1, which]
    front = value[piece, which] >= 0.0
    g = f[:, which]
    for _ in range(HALVINGS if len(which) else 0):
        middle = 0.5 * (low + high)
        before = (bernstein(g[0], g[1], g[2], g[3], middle) >= 0.0) == front
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return which, low, np.where(front, 1.0, -1.0)


def _sides(x: FloatArray, vertex: IntArray, positions: FloatArray, corners: IntArray) -> tuple[Vector, Vector, Vector]:
    """Return x - a, b - a and c - a [m] of pairs of a vertex (P,) and a triangle with corners (P, 3), as components.

    x (V, 3): positions of the vertices [m]. positions: of the surface [m].
    """
    a = take(positions, corners[:, 0])
    return (
        subtract(take(x, vertex), a),
        subtract(take(positions, corners[:, 1]), a),
        subtract(take(positions, corners[:, 2]), a),
    )


def _rows(v: Vector, rows: IntArray) -> Vector:
    """Return rows of components (P,)."""
    return v[0][rows], v[1][rows], v[2][rows]
