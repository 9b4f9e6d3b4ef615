# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points of pairs of primitives of one surface, and how far pairs can move before they meet.

A pair is four vertices (P, 4): in the first F rows a vertex and a triangle, in the others two edges. Its closest
points are weights w (P, 4) of the vertices, so that sum_i w_i x_i leads from the second primitive to the first one:
(1, -a, -b, -c) and (1 - s, s, t - 1, -t). What is not on the inside of a primitive has weights of exactly 0.

Conservative advancement (Mirtich 1996, and additive with a least separation Li et al. 2021): at distance d along the
unit direction n of the closest points, both primitives lie on their sides of a slab of width d across n. On straight
paths at constant velocity the slab closes at the speed c = max over one side of -n . dx + max over the other of
n . dx and no quicker, so that until (d - keep) / c they stay `keep` apart. Move on by that, take the distance again.
Where c <= 0 they never meet. Li et al. bound c by the largest |dx| after taking off the mean: that also holds, but a
pair that slides past close by would take a hundred times as many steps.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from .distances import edge_edge, point_triangle

Candidates = tuple[IntArray, IntArray]
"""Pairs of vertices and triangles (N, 2), and of edges and edges (M, 2)."""
Placed = tuple[IntArray, IntArray, int, FloatArray, FloatArray, FloatArray]
"""What `relevant` tells of pairs."""

NEAR = 1.5
"""Distance over what is kept at which a pair counts as meeting [-]: above 1, so that the search ends."""
STEPS = 200
"""Advances after which a pair counts as meeting where it is."""
LEFT = 0.16
"""Part of its distance, or of what counts as far, that a pair keeps for sure where a search has left it out [-]: above
that at which it meets."""
ROUNDING = 1e-14
"""Distance over the size of coordinates below which there is no direction from one primitive to the other [-]."""


def closest(x: FloatArray, vertices: IntArray, faces: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights (P, 4) of the closest points, unit normals (P, 3) from the second to the first, and distances (P,) [m].

    Pairs (P, 4) on x (V, 3) [m], `faces` of them with a triangle. A distance within the rounding of coordinates is 0,
    and the normal is, too.
    """
    weights, distance = np.empty(vertices.shape), np.empty(len(vertices))
    corners = x[vertices]
    p, a, b, c = (corners[:faces, k] for k in range(4))
    barycentric, _, distance[:faces], _ = point_triangle(p, a, b, c)
    weights[:faces, 0], weights[:faces, 1:] = 1.0, -barycentric
    s, t, _, _, distance[faces:] = edge_edge(*(corners[faces:, k] for k in range(4)))
    weights[faces:] = np.stack([1.0 - s, s, t - 1.0, -t], axis=1)
    distance = np.where(distance > ROUNDING * np.abs(corners).max(axis=(1, 2), initial=0.0), distance, 0.0)
    apart = (distance > 0.0)[:, None]
    offset = np.einsum("pk,pki->pi", weights, corners - corners[:, 3:])
    return weights, np.divide(offset, distance[:, None], out=np.zeros_like(offset), where=apart), distance


def corners_of(candidates: Candidates, tables: tuple[IntArray, IntArray]) -> IntArray:
    """Vertices (P, 4) of pairs of vertices with triangles (N, 2), then of edges with edges (M, 2), by the vertices of
    triangles (T, 3) and edges (E, 2)."""
    (faces, between), (triangles, edges) = candidates, tables
    return np.concatenate([np.concatenate([faces[:, :1], triangles[faces[:, 1]]], axis=1),
                           np.concatenate([edges[between[:, 0]], edges[between[:, 1]]], axis=1)])


def relevant(x0: FloatArray, x1: FloatArray, candidates: Candidates, tables: tuple[IntArray, IntArray],
             slack: FloatArray, radius: FloatArray, far: float = np.inf, most: FloatArray | None = None) -> Placed:
    """Which pairs, as in `corners_of`, are near at x0 or may meet on the way to x1 (V, 3) [m].

    Near is closer than the pair's radius, as `self_pairs` has it of `radius` (V,) [m], and than `most` (P,) [m], if
    given. A pair may meet unless at the end, too, it is apart
    along the direction of its closest points, for all ends that are within `slack` (V,) [m] of x1, by a part of its
    distance, or of `far` [m] where that is less: in straight lines it is no nearer in between.

    Returns:
        their vertices (P, 4), their primitives (P, 2), how many have a triangle, the first; weights (P, 4), normals
        (P, 3) and distances (P,) [m] as of `closest`.
    """
    vertices, faces = corners_of(candidates, tables), len(candidates[0])
    weights, normals, distance = closest(x0, vertices, faces)
    one = np.arange(4) < np.where(np.arange(len(vertices)) < faces, 1, 2)[:, None]
    along = np.einsum("pki,pi->pk", x1[vertices] - x1[vertices[:, 3:]], normals)
    loose, reach = slack[vertices], radius[vertices]
    near = 0.5 * (np.where(one, 0.0, reach).max(axis=1) + np.where(one, reach, 0.0).max(axis=1))
    near = near if most is None else np.minimum(near, most)
    beyond = np.where(one, along, np.inf).min(axis=1) - np.where(one, -np.inf, along).max(axis=1)
    beyond -= np.where(one, 0.0, loose).max(axis=1) + np.where(one, loose, 0.0).max(axis=1)
    rows = np.flatnonzero((distance < near) | (beyond <= LEFT * np.minimum(distance, far)))
    primitives = np.concatenate(candidates)[rows]
    return (vertices[rows], primitives, int(np.searchsorted(rows, faces)), weights[rows], normals[rows], distance[rows])


def meeting_times(x0: FloatArray, x1: FloatArray, vertices: IntArray, faces: int, normals: FloatArray,
                  distances: FloatArray, keeps: FloatArray) -> FloatArray:
    """Times (P,) in 0..1 up to which each pair, moving from x0 to x1 (V, 3) [m], is known to keep apart; 2 if always.

    Normals (P, 3) and distances (P,) [m] are those at x0, keeps (P,) [m] the distances to keep. A pair without distance
    to start with meets at time 0, unless all its vertices move as one.
    """
    time = np.full(len(vertices), 2.0)
    left, now, keep, n, d = np.arange(len(vertices)), np.zeros(len(vertices)), keeps, normals, distances
    start, move = x0[vertices], x1[vertices] - x0[vertices]
    one = np.arange(4) < np.where(np.arange(len(vertices)) < faces, 1, 2)[:, None]
    for turn in range(STEPS + 1):
        along = np.einsum("pki,pi->pk", move[left], n)
        closing = np.where(one[left], -np.inf, along).max(axis=1, initial=-np.inf)
        closing -= np.where(one[left], along, np.inf).min(axis=1, initial=np.inf)
        as_one = (np.ptp(move[left], axis=1) == 0.0).all(axis=1)
        free = np.where(d > 0.0, closing <= 0.0, as_one)
        meets = ~free & ((d == 0.0) | (d <= NEAR * keep) | (turn == STEPS))
        time[left[meets]] = now[meets]
        goes = ~free & ~meets
        left, now, keep = left[goes], now[goes] + (d[goes] - keep[goes]) / closing[goes], keep[goes]
        still = now < 1.0
        left, now, keep = left[still], now[still], keep[still]
        if len(left) == 0:
            break
        at = start[left] + now[:, None, None] * move[left]
        own = np.arange(4 * len(left)).reshape(-1, 4)
        _, n, d = closest(at.reshape(-1, 3), own, int(np.searchsorted(left, faces)))
    return time
