# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles from quads and n-gons.

The rule: a quad is cut along its shorter diagonal; of two diagonals equal to one part in 1e6 the one that
starts at the face's first corner is taken, so that a regular grid gets the same diagonal everywhere. A quad with a
corner that points inwards, or with three corners in line, is cut from that corner. A larger polygon is cut by clipping
ears, always the ear with the shortest cut, in the plane of its area vector, unless its triangles are given.

Two quads that are folded around a vertex of their own, as at Suzanne's mouth, share three vertices, and cut along the
same diagonal both have the triangle of these three. So a quad with a triangle that another face has, too, is cut along
its other diagonal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import SINGLE_PRECISION, BoolArray, FloatArray, IntArray

CUTS = np.array([[[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]])
"""Corners of a quad's two triangles (2, 2, 3): cut along the diagonal from its first corner, and from its second."""


def triangulate(positions: FloatArray, faces: Iterable[Sequence[int]], given: IntArray | None = None
                ) -> tuple[IntArray, IntArray]:
    """Cut faces into triangles by the rule of this module.

    Args:
        positions: (V, 3) [m].
        faces: per face its 3 or more vertex indices in order.
        given: triangles of the faces of 5 corners or more, as positions (N, 3) in the flat list of all face corners;
            None to clip ears.

    Returns:
        triangles (T, 3) and, per triangle, the positions of its corners in the flat list of all face
        corners (T, 3), which is how per-corner data such as a UV map follows.

    Raises:
        ValueError: a face of n corners has not n - 2 triangles of its own corners in `given`.
    """
    rings: list[IntArray] = [np.asarray(face, dtype=np.int64) for face in faces]
    sizes = np.array([len(ring) for ring in rings], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if rings else sizes
    corners = np.concatenate(rings) if rings else np.zeros(0, dtype=np.int64)

    local: list[IntArray] = []      # corner numbers of the triangles, in blocks of one face size each
    owner: list[IntArray] = []      # the face each triangle comes from, to restore the faces' order
    three = np.flatnonzero(sizes == 3)
    local.append(starts[three, None] + np.arange(3))
    owner.append(three)
    four = np.flatnonzero(sizes == 4)
    local.append(_cut_quads(positions, corners, starts[four]))
    owner.append(np.repeat(four, 2))
    for face in np.flatnonzero(sizes > 4):
        cut = (_clip_ears(positions[rings[face]]) if given is None
               else _given_cut(given - starts[face], int(face), int(sizes[face])))
        local.append(starts[face] + cut)
        owner.append(np.full(len(cut), face))
    order = np.argsort(np.concatenate(owner), kind="stable")
    at, face = np.concatenate(local)[order].reshape(-1, 3), np.concatenate(owner)[order]
    twice = face[_are_there_twice(corners[at], len(positions))]
    quads = np.unique(twice[sizes[twice] == 4])
    row = np.searchsorted(face, quads)
    second = at[row, 2] - starts[quads] == 3
    at[row[:, None] + [0, 1]] = starts[quads, None, None] + np.where(second[:, None, None], *CUTS)
    return corners[at], at


def _are_there_twice(triangles: IntArray, count: int) -> BoolArray:
    """Return which triangles (T, 3) of `count` vertices have the same three vertices as another one (T,)."""
    a, b, c = np.sort(triangles, axis=1).T
    _, which, times = np.unique((a * count + b) * count + c, return_inverse=True, return_counts=True)
    twice: BoolArray = times[which.ravel()] > 1
    return twice


def _cut_quads(positions: FloatArray, corners: IntArray, starts: IntArray) -> IntArray:
    q = positions[corners[starts[:, None] + np.arange(4)]]              # (Q, 4, 3) [m]
    d02 = np.linalg.norm(q[:, 2] - q[:, 0], axis=1)
    d13 = np.linalg.norm(q[:, 3] - q[:, 1], axis=1)
    normal = np.cross(q[:, 2] - q[:, 0], q[:, 3] - q[:, 1])
    inside0, inside1 = _runs_inside(q, CUTS[0], normal), _runs_inside(q, CUTS[1], normal)
    take_second = np.where(inside0 == inside1, d13 < d02 * (1.0 - SINGLE_PRECISION), inside1)
    cut: IntArray = starts[:, None, None] + np.where(take_second[:, None, None], CUTS[1], CUTS[0])
    return cut.reshape(-1, 3)


def _runs_inside(quads: FloatArray, cut: IntArray, normal: FloatArray) -> BoolArray:
    """Return whether both triangles (2, 3) of a cut face the same way as the quads (Q, 4, 3) with normals (Q, 3)."""
    a, b, c = (quads[:, cut[:, i]] for i in range(3))                       # (Q, 2, 3)
    along = np.einsum("qti,qi->qt", np.cross(b - a, c - a), normal)
    inside: BoolArray = (along > SINGLE_PRECISION * np.einsum("qi,qi->q", normal, normal)[:, None]).all(axis=1)
    return inside


def _given_cut(corners: IntArray, face: int, size: int) -> IntArray:
    """Return those of the given triangles (N, 3), in local corner numbers, that belong to a face of `size` corners."""
    own = corners[((corners >= 0) & (corners < size)).all(axis=1)]
    if len(own) != size - 2:
        raise ValueError(f"face {face} of {size} corners has {len(own)} triangles, it must have {size - 2}")
    return own


def _clip_ears(polygon: FloatArray) -> IntArray:
    """Return the triangles of one polygon (n, 3) [m] as local corner numbers (n - 2, 3)."""
    normal = np.sum(np.cross(polygon, np.roll(polygon, -1, axis=0)), axis=0)
    normal /= max(float(np.linalg.norm(normal)), np.finfo(np.float64).tiny)
    ring = list(range(len(polygon)))
    triangles = []
    while len(ring) > 3:
        best, best_cut = None, np.inf
        for k in range(len(ring)):
            ear = ring[k - 1], ring[k], ring[(k + 1) % len(ring)]
            cut = float(np.linalg.norm(polygon[ear[2]] - polygon[ear[0]]))
            if cut < best_cut and _is_an_ear(polygon, ear, ring, normal):
                best, best_cut = k, cut
        k = 1 if best is None else best         # a self-touching polygon: cut anyway, the mesh check judges it
        triangles.append([ring[k - 1], ring[k], ring[(k + 1) % len(ring)]])
        del ring[k]
    triangles.append(ring)
    return np.array(triangles, dtype=np.int64)


def _is_an_ear(polygon: FloatArray, ear: tuple[int, int, int], ring: list[int], normal: FloatArray) -> bool:
    """Return whether the triangle has an area, and no other corner in it or on its border, within the tolerance."""
    a, b, c = (polygon[e] for e in ear)
    least = SINGLE_PRECISION * max(float(np.dot(side, side)) for side in (b - a, c - b, a - c))
    if not np.dot(np.cross(b - a, c - a), normal) > least:
        return False
    p = polygon[[corner for corner in ring if corner not in ear]]
    inside = np.ones(len(p), dtype=bool)
    for start, end in ((a, b), (b, c), (c, a)):
        inside &= np.cross(end - start, p - start) @ normal >= -least
    return not inside.any()
