# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that start exactly in one another, such as a duplicate that nobody has moved: a hair's breadth between them.

Where two sheets coincide nobody can tell which of them is on top, and rounding says something else of each vertex. So
one of the pieces is made a hair larger, along its own normals, or smaller where what it lies on faces it: two boxes
that stand wall to wall stay beside each other. From then on contact knows the sides, and gives them their distance.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..rows import all_of, unit
from .continuous import near_pairs
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


def parted(surface: TriangleSurface, body: IntArray, held: BoolArray, finest: float) -> FloatArray:
    """Positions of the surface (V, 3) [m] with its pieces put apart where they lie in one another.

    body (V,): the connected piece of each vertex; held (V,): those that pins hold, which stay where they are;
    finest: the least mean edge length of a piece [m].
    """
    x = surface.positions
    if not np.isfinite(finest) or (body[surface.vertices] == body[surface.vertices[:1]]).all():
        return x
    hair = HAIR * finest
    found = near_pairs(surface, x, x, SAME * hair, np.zeros(len(x)))
    own, face = found.vertices[:found.faces, 0], found.vertices[:found.faces, 1:]
    whole = _within_others(surface.triangles, own, face[:, 0], body)
    if not len(whole):
        return x
    across = unit(np.cross(x[face[:, 1]] - x[face[:, 0]], x[face[:, 2]] - x[face[:, 0]]))
    facing = (_vertex_normals(x, whole)[own] * across).sum(axis=1)
    rows = np.flatnonzero((np.abs(facing) > ALONG) & (body[own] != body[face[:, 0]]))
    own, face, across, facing = own[rows], face[rows], across[rows], np.sign(facing[rows])
    above = ((x[own] - x[face[:, 0]]) * across).sum(axis=1)
    above[np.abs(above) <= ROUNDING * np.abs(x).max()] = 0.0
    rank, normal = _ranks(body, held), _vertex_normals(x, surface.triangles)
    moved: FloatArray = x.copy()
    for piece, hairs in _places(rank[own], rank[face[:, 0]], facing, above).items():
        some = (rank == piece) & ~held
        moved[some] += hairs * hair * normal[some]
    return moved


def _within_others(triangles: IntArray, own: IntArray, other: IntArray, body: IntArray) -> IntArray:
    """Those of the triangles (T, 3) that lie in another piece with all their corners, of P vertices `own` that lie in
    one of the pieces of vertices `other`, (P,) each: what has one or two there only touches it."""
    result = np.zeros(len(triangles), dtype=np.bool_)
    for piece in np.unique(body[other[body[own] != body[other]]]):
        lies = np.zeros(len(body), dtype=np.bool_)
        lies[own[(body[other] == piece) & (body[own] != piece)]] = True
        result |= all_of(lies[triangles])
    return triangles[result]


def _ranks(body: IntArray, held: BoolArray) -> IntArray:
    """Numbers (V,) of pieces in their order, but those that are held everywhere, and cannot be moved, first."""
    free = np.bincount(body, weights=~held) > 0.0
    rank: IntArray = np.argsort(np.argsort(free, kind="stable"))[body]
    return rank


def _places(one: IntArray, other: IntArray, facing: FloatArray, above: FloatArray) -> dict[int, float]:
    """How many hairs each piece is moved along its own normals.

    For P vertices of pieces `one` that lie in triangles of pieces `other`, (P,) each: whether both face the same way,
    1 or -1, and how far `above` the triangle the vertex is [m]. Each piece is put past all those before it that it lies
    in, to the side that it is on, or in front if it is on none.
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
