# SPDX-License-Identifier: GPL-3.0-or-later
"""The faces of a cloth's mesh as the core is given them: whole, but for a few quads, which are cut here.

The core cuts a quad along its shorter diagonal. Two quads that are folded around a vertex of their own, as at Suzanne's
mouth, share three vertices; cut along the same diagonal, both have the triangle of these three, which the core refuses.
Such quads are given to it as the two triangles of their other diagonal.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from ..core.arrays import FloatArray, IntArray
from ..core.triangulate import triangulate
from . import mesh_data


@dataclass(frozen=True)
class Faces:
    """Of a mesh: `rings`, the vertices of each face, and `corners` (n,), which of the mesh's face corners they are, in
    one flat list."""

    rings: list[list[int]]
    corners: IntArray


def faces_of(mesh: mesh_data.Mesh, positions: FloatArray) -> Faces:
    """The faces of a mesh whose vertices are at `positions` (V, 3), in any unit."""
    rings, (vertices, starts) = mesh_data.faces(mesh), mesh_data.corners(mesh)
    lone = _lone_corners(positions, rings, starts)
    if not lone:
        return Faces(rings, np.arange(len(vertices)))
    pieces: list[list[int]] = []                                    # by their corners
    for face, (start, end) in enumerate(itertools.pairwise([*starts.tolist(), len(vertices)])):
        if face in lone:
            a, b, c, d = (start + (lone[face] + k) % 4 for k in range(4))
            pieces += [[a, b, c], [c, d, a]]
        else:
            pieces.append(list(range(start, end)))
    return Faces([vertices[piece].tolist() for piece in pieces], np.concatenate(pieces).astype(np.int64))


def _lone_corners(positions: FloatArray, rings: list[list[int]], starts: mesh_data.IntArray
                  ) -> dict[int, int]:
    """Quads of which a triangle is there twice when all faces are cut; the corner, 0 to 3, that is not in it."""
    triangles, corners = triangulate(positions, rings)
    _, which, count = np.unique(np.sort(triangles, axis=1), axis=0, return_inverse=True, return_counts=True)
    doubled = corners[count[which.ravel()] > 1]
    faces = np.searchsorted(starts, doubled[:, 0], side="right") - 1
    inside = doubled - starts[faces][:, None]
    return {face: 6 - sum(three) for face, three in zip(faces.tolist(), inside.tolist(), strict=True)
            if len(rings[face]) == 4}
