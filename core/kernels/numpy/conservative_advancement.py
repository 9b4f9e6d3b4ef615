# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points of pairs of primitives of one surface, and the times at which moving pairs meet.

By `formulas.conservative_advancement`. A pair has four vertices (P, 4): in the first F rows a vertex and a triangle, in
the others two edges. Its closest points are given by weights w (P, 4) so that sum_i w_i x_i is the vector from the
second primitive to the first one: (1, -a, -b, -c) and (1 - s, s, t - 1, -t). A vertex that does not contribute to the
closest point has a weight of exactly 0.

Conservative advancement (Mirtich 1996; with a distance to keep: additive CCD, Li et al. 2021): at distance d along the
unit direction n of the closest points, both primitives lie outside a slab of width d across n. On straight paths at
constant velocity the slab closes at most at the speed c = max of -n . dx over one primitive + max of n . dx over the
other one, so that the pair stays `keep` apart until (d - keep) / c. Advance to that time and find the distance again.
If c <= 0, they never meet. Li et al. bound c by the largest |dx| after they subtract the mean: that is valid, too, but
a pair that slides past at a small distance would take a hundred times as many advances.

A pair that is left after `FIXED` advances is one that creeps: it advances by slabs that turn, as far as they stay open
(`formulas.conservative_advancement`), and at least as far as one that does not turn would.

NumPy advances all pairs together, the compiled loop one pair after the other.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...row_ops import pick
from ..formulas.conservative_advancement import (
    FIXED,
    LEFT,
    NEAR,
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
from .distances import edge_edge, point_triangle
from .vectors import Vector, at_vertices, corners, dot, join, split, subtract

__all__ = ["NEAR", "Candidates", "Placed", "closest", "corners_of", "meeting_times", "relevant"]

Candidates = tuple[IntArray, IntArray]
"""Pairs of vertices and triangles (N, 2), and of edges and edges (M, 2)."""
Placed = tuple[IntArray, IntArray, int, FloatArray, FloatArray, FloatArray]
"""Result of `relevant`: vertices, primitives, number of pairs with a triangle, weights, normals and distances."""


def closest(x: FloatArray, vertices: IntArray, faces: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights (P, 4) of the closest points, unit normals (P, 3) and distances (P,) [m] of pairs (P, 4).

    x (V, 3) [m]; the first `faces` pairs have a triangle. Normals are directed from the second primitive to the first
    one. A distance within the rounding of coordinates is 0, and so is its normal.
    """
    weights, corner = np.empty(vertices.shape), corners(x, vertices)
    parts = []                                                # few pairs take as long as none of a kind would
    if faces:
        a, b, c, d = (_rows(v, slice(faces)) for v in corner)
        barycentric, point, gap, _ = point_triangle(*(pick(x, vertices[:faces, k]) for k in range(4)))
        weights[:faces, 0], weights[:faces, 1:] = 1.0, -barycentric
        parts.append(normal_and_gap(subtract(a, split(point)), gap, a, b, c, d))
    if faces < len(vertices):
        a, b, c, d = (_rows(v, slice(faces, None)) for v in corner)
        s, t, _, _, _ = edge_edge(*(pick(x, vertices[faces:, k]) for k in range(4)))
        weights[faces:] = np.stack(edge_pair_weights(s, t), axis=1)
        between = edge_pair_offset(a, b, c, d, s, t)
        parts.append(normal_and_gap(between, length(between), a, b, c, d))
    if not parts:
        return weights, np.zeros((0, 3)), np.zeros(0)
    return (weights, np.concatenate([join(normal) for normal, _ in parts]),
            np.concatenate([distance for _, distance in parts]))


def corners_of(candidates: Candidates, tables: tuple[IntArray, IntArray]) -> IntArray:
    """Return the vertices (P, 4) of candidates, P = N + M: vertices with triangles (N, 2), then two edges (M, 2).

    tables: vertices of the triangles (T, 3) and of the edges (E, 2).
    """
    (faces, between), (triangles, edges) = candidates, tables
    return np.concatenate([np.concatenate([faces[:, :1], triangles[faces[:, 1]]], axis=1),
                           np.concatenate([edges[between[:, 0]], edges[between[:, 1]]], axis=1)])


def relevant(x0: FloatArray, x1: FloatArray, candidates: Candidates, tables: tuple[IntArray, IntArray],
             slack: FloatArray, radius: FloatArray, far: float = np.inf, most: FloatArray | None = None) -> Placed:
    """Return the candidates that are near at x0 or may meet on the way to x1 (V, 3) [m].

    A pair is near if its distance is below the mean of its primitives' radii (`radius` (V,) [m], see `self_pairs`) and
    below `most` (P,) [m], if given. It may meet if at x1 the slab between its closest points is closed, or narrower
    than a share `LEFT` of its distance (of `far` [m], if that is less). x1 may still change by `slack` (V,) [m].
    On straight paths a pair that passes this test at the end keeps the distance in between, too.

    Returns:
        vertices (P, 4), primitives (P, 2), the number of pairs with a triangle, which come first; weights (P, 4),
        normals (P, 3) and distances (P,) [m] as of `closest`.
    """
    vertices, faces = corners_of(candidates, tables), len(candidates[0])
    weights, normals, distance = closest(x0, vertices, faces)
    face, n = np.arange(len(vertices)) < faces, split(normals)
    near = pair_radius(face, *radius.take(vertices.T))
    near = near if most is None else np.minimum(near, most)
    a, b, c = at_vertices(x1, vertices)                                          # each (4, P)
    height = dot(n, subtract((a, b, c), (a[3], b[3], c[3])))[:3]
    at_end = gap_at_end(face, height, slack.take(vertices.T))
    rows = np.flatnonzero((distance < near) | (at_end <= LEFT * np.minimum(distance, far)))
    primitives = np.concatenate(candidates)[rows]
    return (vertices[rows], primitives, int(np.searchsorted(rows, faces)), weights[rows], normals[rows], distance[rows])


def meeting_times(x0: FloatArray, x1: FloatArray, vertices: IntArray, faces: int, normals: FloatArray,
                  distances: FloatArray, keeps: FloatArray) -> tuple[FloatArray, int]:
    """Return times (P,) in 0..1 up to which each pair, moving from x0 to x1 (V, 3) [m], keeps apart, 2 for always; and
    the largest number of advances of a pair.

    vertices (P, 4); the first `faces` pairs have a triangle. Normals (P, 3) and distances (P,) [m] are those at x0,
    keeps (P,) [m] the distances to keep. A pair at distance 0 meets at time 0, unless all its vertices move alike.
    """
    time = np.full(len(vertices), 2.0)
    left, now, keep, n, d = np.arange(len(vertices)), np.zeros(len(vertices)), keeps, normals, distances
    start, move = x0[vertices], x1[vertices] - x0[vertices]
    for turn in range(FIXED):
        a, b, c = np.ascontiguousarray(move[left].transpose(2, 1, 0))            # each (4, P)
        closing = closing_motion(left < faces, *dot(split(n), (a, b, c)))
        alike = (np.ptp(move[left], axis=1) == 0.0).all(axis=1)
        free = np.where(d > 0.0, closing <= 0.0, alike)
        meets = ~free & ((d == 0.0) | is_meeting(d, keep))
        time[left[meets]] = now[meets]
        goes = ~free & ~meets
        left, keep = left[goes], keep[goes]
        now = advanced_time(now[goes], d[goes], keep, closing[goes])
        still = now < 1.0
        left, now, keep = left[still], now[still], keep[still]
        if len(left) == 0:
            return time, turn
        n, d = _placed(start[left] + now[:, None, None] * move[left], left, faces)
    return time, FIXED + _creep(time, start, move, faces, left, now, keep, n, d)


def _creep(time: FloatArray, start: FloatArray, move: FloatArray, faces: int, left: IntArray, now: FloatArray,
           keep: FloatArray, n: FloatArray, d: FloatArray) -> int:
    """Write the meeting times of the pairs that are `left`, rows (L,), to `time` (P,), by slabs that turn; return the
    largest number of advances of a pair.

    start, move: (P, 4, 3) [m]. now, keep, n, d: times (L,), distances to keep (L,) [m], and normals (L, 3) and
    distances (L,) [m] at these times.
    """
    between, relative, ahead = start[:, :3] - start[:, 3:], move[:, :3] - move[:, 3:], np.zeros(len(left))
    at = between[left] + now[:, None, None] * relative[left]
    for turn in range(STEPS - FIXED + 1):
        face, motion = left < faces, relative[left]
        sure = open_time(face, _in_front(n, at), _in_front(n, motion), d, keep)
        goes = now + sure < 1.0
        meets = goes & (is_meeting(d, keep) | (turn == STEPS - FIXED))
        time[left[meets]] = now[meets]
        goes &= ~meets
        left, face = left[goes], face[goes]
        now, keep, n, d, at, ahead, sure, motion = (
            array[goes] for array in (now, keep, n, d, at, ahead, sure, motion))
        if len(left) == 0:
            return turn
        ahead = np.minimum(np.maximum(ahead, sure if turn else 2.0 * sure), 1.0 - now)
        time_then = (now + ahead)[:, None, None]
        normal, gap = _placed(start[left] + time_then * move[left], left, faces)
        then = between[left] + time_then * motion
        width = turning_width(face, _in_front(n, then), _in_front(normal, at))
        holds = (ahead <= sure) | (gap >= keep) & (width >= keep)
        n, d, at = (np.where(holds.reshape(-1, *np.ones(new.ndim - 1, dtype=np.int64)), new, old)
                    for new, old in ((normal, n), (gap, d), (then, at)))
        now = np.where(holds, now + ahead, now)
        ahead = next_advance(holds, ahead)
        still = now < 1.0
        left = left[still]
        now, keep, n, d, at, ahead = (array[still] for array in (now, keep, n, d, at, ahead))
    return turn


def _placed(corner: FloatArray, rows: IntArray, faces: int) -> tuple[FloatArray, FloatArray]:
    """Return normals (L, 3) and distances (L,) [m] of pairs whose vertices are at `corner` (L, 4, 3) [m]; the `rows`
    (L,) below `faces` have a triangle."""
    own = np.arange(4 * len(corner)).reshape(-1, 4)
    _, normal, distance = closest(corner.reshape(-1, 3), own, int(np.searchsorted(rows, faces)))
    return normal, distance


def _in_front(n: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the components (3, L) of three vectors (L, 3, 3) along n (L, 3)."""
    a, b, c = np.ascontiguousarray(vectors.transpose(2, 1, 0))                   # each (3, L)
    along: FloatArray = dot(split(n), (a, b, c))
    return along


def _rows(v: Vector, rows: slice) -> Vector:
    """Return rows of components (P,)."""
    return v[0][rows], v[1][rows], v[2][rows]
