# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that start exactly in one another, such as a duplicate that nobody has moved: a hair's breadth between them.

Where two sheets coincide nobody can tell which of them is on top, and rounding says something else of each vertex. So
one of the pieces is made a hair larger, along its own normals, or smaller where what it lies on faces it: two boxes
that stand wall to wall stay beside each other. From then on contact knows the sides, and gives them their distance.

What lies in the face of a collider is put a hair in front of it, too: vertices on the edges of a table's top are in its
side walls as well, and would be pushed out beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..rows import all_of, unit
from .bvh import touching_boxes
from .colliders import SurfaceShape
from .continuous import near_pairs
from .distance import point_triangle
from .triangle_surface import TriangleSurface

HAIR = 1e-4
"""How far the pieces are put apart, over the least mean length of their edges [-]: what nobody sees."""
SAME = 0.25
"""Distance, over a hair, up to which a vertex lies in a triangle [-]: meshes are stored in single precision."""
ALONG = 0.5
"""Cosine of the angle between what lies in a triangle and that triangle from which on it says how both face [-]: a wall
that lies in a wall has its corners in the floor beside it, too."""
ROUNDING = 1e-15
"""Distance, over the largest coordinate, that says nothing about sides [-]."""


@dataclass(frozen=True)
class _Lying:
    """P vertices that lie in triangles of other pieces.

    Attributes:
        vertex (P,): which. piece (P,): in which piece; colliders are numbered after those of the cloth.
        across (P, 3): unit normal of the triangle. above (P,) [m]: how far in front of it the vertex is.
    """

    vertex: IntArray
    piece: IntArray
    across: FloatArray
    above: FloatArray

    def __getitem__(self, rows: IntArray) -> _Lying:
        return _Lying(self.vertex[rows], self.piece[rows], self.across[rows], self.above[rows])


def parted(surface: TriangleSurface, body: IntArray, held: BoolArray, finest: float,
           solids: Sequence[tuple[FloatArray, SurfaceShape]] = ()) -> FloatArray:
    """Positions of the surface (V, 3) [m] with its pieces put apart where they lie in one another, or in solids.

    body (V,): the connected piece of each vertex; held (V,): those that pins hold, which stay where they are;
    finest: the least mean edge length of a piece [m]; solids: positions (W, 3) [m] and shapes of colliders.
    """
    x = surface.positions
    if not np.isfinite(finest):
        return x
    hair, pieces = HAIR * finest, int(body.max()) + 1
    found = [_in_cloth(surface, body, SAME * hair)] + [
        _in_solid(x, surface.vertices, *solid, pieces + k, SAME * hair) for k, solid in enumerate(solids)]
    lying = _Lying(*(np.concatenate([getattr(f, name) for f in found]) for name in vars(found[0])))
    lying = lying[np.flatnonzero(body[lying.vertex] != lying.piece)]
    whole, rows = _within_others(surface.triangles, lying, len(x))
    if not len(whole):
        return x
    lying = lying[rows]
    facing = (_vertex_normals(x, whole)[lying.vertex] * lying.across).sum(axis=1)
    rows = np.flatnonzero(np.abs(facing) > ALONG)
    lying, facing = lying[rows], np.sign(facing[rows])
    rank, normal = _ranks(body, held, len(solids)), _vertex_normals(x, surface.triangles)
    moved: FloatArray = x.copy()
    places = _places(rank[body[lying.vertex]], rank[lying.piece], facing, lying.above, len(solids))
    for piece, hairs in places.items():
        some = (rank[body] == piece) & ~held
        moved[some] += hairs * hair * normal[some]
    return moved


def _in_cloth(surface: TriangleSurface, body: IntArray, within: float) -> _Lying:
    """Vertices of the surface that lie `within` [m] of its triangles, no matter of which piece."""
    x = surface.positions
    if (body[surface.vertices] == body[surface.vertices[:1]]).all():
        none = np.zeros(0, dtype=np.int64)
        return _Lying(none, none, np.zeros((0, 3)), np.zeros(0))
    found = near_pairs(surface, x, x, within, np.zeros(len(x)))
    own, face = found.vertices[:found.faces, 0], found.vertices[:found.faces, 1:]
    return _Lying(own, body[face[:, 0]], *_height(x, own, x[face]))


def _in_solid(x: FloatArray, vertices: IntArray, positions: FloatArray, shape: SurfaceShape, piece: int, within: float
              ) -> _Lying:
    """Those of the `vertices` at x (V, 3) [m] that lie `within` [m] of a collider's triangles. A closed one has them in
    front, however much rounding says."""
    own, face = touching_boxes(shape.tree, x[vertices] - within, x[vertices] + within).T
    own, corners = vertices[own], positions[shape.triangles[face]]
    near = point_triangle(x[own], corners[:, 0], corners[:, 1], corners[:, 2]).distance <= within
    own, face, corners = own[near], face[near], corners[near]
    across, above = _height(x, own, corners)
    return _Lying(own, np.full(len(own), piece), across, np.where(shape.closed[face], np.maximum(above, 0.0), above))


def _height(x: FloatArray, own: IntArray, corners: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Unit normals of triangles (P, 3, 3) [m], and how far in front of them `own` (P,) vertices are [m]."""
    across = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
    above = ((x[own] - corners[:, 0]) * across).sum(axis=1)
    above[np.abs(above) <= ROUNDING * np.abs(x).max()] = 0.0
    return across, above


def _within_others(triangles: IntArray, lying: _Lying, count: int) -> tuple[IntArray, IntArray]:
    """Those of the triangles (T, 3) of `count` vertices that lie in another piece with all their corners, and the rows
    of these corners in that piece: what has one or two there only touches it."""
    result, corners = np.zeros(len(triangles), dtype=np.bool_), np.zeros(len(lying.vertex), dtype=np.bool_)
    for piece in np.unique(lying.piece):
        mine = np.flatnonzero(lying.piece == piece)
        lies, whole = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
        lies[lying.vertex[mine]] = True
        there = all_of(lies[triangles])
        whole[triangles[there]] = True
        corners[mine] = whole[lying.vertex[mine]]
        result |= there
    return triangles[result], np.flatnonzero(corners)


def _ranks(body: IntArray, held: BoolArray, solids: int) -> IntArray:
    """Number of each piece in their order, but `solids` colliders, and what is held everywhere, first: they cannot be
    moved."""
    free = np.bincount(body, weights=~held) > 0.0
    rank: IntArray = np.argsort(np.argsort(free, kind="stable"))
    return np.concatenate([rank + solids, np.arange(solids)])


def _places(one: IntArray, other: IntArray, facing: FloatArray, above: FloatArray, solids: int) -> dict[int, float]:
    """How many hairs each piece is moved along its own normals.

    For P vertices of pieces `one` that lie in triangles of pieces `other`, (P,) each: whether both face the same way,
    1 or -1, and how far `above` the triangle the vertex is [m]. Each piece is put past all those before it that it lies
    in, to the side that it is on, or in front if it is on none. The first so many are `solids`: what lies between two
    that face each other stays.
    """
    # every pair as the later piece over the earlier: whose height over the other is the same by either's normal
    late, early = np.maximum(one, other), np.minimum(one, other)
    height = above * np.where(one == late, 1.0, -facing)                     # along the normals of the earlier
    sides: dict[int, float] = {}                                             # of a piece's normals against its stack
    heights: dict[int, float] = {}                                           # hairs, along the normals of its stack
    for piece in np.unique(np.concatenate([late, early])):
        mine = late == piece
        below = np.unique(early[mine])
        if not len(below):
            sides[int(piece)], heights[int(piece)] = 1.0, 0.0
            continue
        first = early == below[0]
        side = sides[int(below[0])]
        sides[int(piece)] = side * (1.0 if facing[mine & first].sum() >= 0.0 else -1.0)
        fronts = [facing[mine & (early == k)].sum() >= 0.0 for k in below if k < solids]
        if len(set(fronts)) > 1:
            heights[int(piece)] = 0.0
            continue
        over = sum(sides[int(k)] * height[mine & (early == k)].sum() for k in below)
        up = -1.0 if over < 0.0 else 1.0
        heights[int(piece)] = up * (1.0 + max(max(up * heights[int(k)] for k in below), 0.0))
    return {piece: sides[piece] * hairs for piece, hairs in heights.items() if hairs}


def _vertex_normals(x: FloatArray, triangles: IntArray) -> FloatArray:
    """Unit normals of the vertices at x (V, 3) [m], each triangle by its area; 0 where there are no triangles."""
    area = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    total = np.zeros_like(x)
    for k in range(3):
        np.add.at(total, triangles[:, k], area)
    return unit(total)
