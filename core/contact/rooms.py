# SPDX-License-Identifier: GPL-3.0-or-later
"""Which closed parts of colliders are walls of rooms: cloth that starts in one is in the air, not in a solid.

Cloth in a closed part is put out, for that is a solid. A tank, a tent or the inside of a house is closed as well, but
its faces point to those within. So where the smallest closed part around a whole piece of cloth has all its faces
pointing in, that piece is in a room, and every closed part around it is open to it: two equal sides, of which cloth
keeps the one that it came from. A house with walls of two shells has both open. A part that points in by oversight and
has no cloth in it, such as a ball that cloth falls onto, is a solid like any other.

This is decided once, where everything starts; solver and certificate share the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import all_of
from .bvh import BVH, element_boxes
from .colliders import SurfaceShape
from .containment import inside, nearest
from .crossings import crossing_pairs
from .triangle_surface import TriangleSurface

ON = 1e-6
"""Distance from a wall, over the size of its room, up to which what is not inside lies on it [-]: a curtain that hangs
from the ceiling is in the room, and a rug, in the plane of the floor, on its front."""


def shapes_of(colliders: Sequence[tuple[FloatArray, IntArray]], x: FloatArray, body: IntArray,
              cloth: TriangleSurface | None, allowed: BoolArray | None = None) -> list[SurfaceShape]:
    """The shapes of colliders, each positions (W, 3) [m] and triangles (T, 3), with rooms open to cloth that starts at
    x (V, 3) [m] in pieces body (V,); `cloth`: its surface there, None where there are particles alone. `allowed`
    (S, V): which vertices may be in contact with each; only pieces that have one count; None for all."""
    result = []
    for number, (positions, triangles) in enumerate(colliders):
        shape = SurfaceShape.build(positions, triangles)
        if shape.inward.any():
            counts = np.bincount(body, weights=None if allowed is None else allowed[number]) > 0
            shape = shape.opened(_walls(shape, positions, triangles, x, body, cloth, counts))
        result.append(shape)
    return result


def _walls(shape: SurfaceShape, positions: FloatArray, triangles: IntArray, x: FloatArray, body: IntArray,
           cloth: TriangleSurface | None, counts: BoolArray) -> BoolArray:
    """Which triangles (T,) belong to parts that are open to a piece of cloth in them; `triangles` as the mesh has them.
    Pieces of which `counts` (B,) says so."""
    pieces = int(body.max(initial=-1)) + 1
    low, high = _boxes(x, body, pieces)
    settled, airy = np.zeros(pieces, dtype=np.bool_), np.zeros(pieces, dtype=np.bool_)
    around: list[tuple[IntArray, BoolArray]] = []                    # of each part, its triangles and who is in it
    for mine, below, above in _by_size(shape, positions):
        slack = ON * float((above - below).max())
        there = counts & all_of(low >= below - slack) & all_of(high <= above + slack)
        if not there.any():
            continue
        facing = bool(shape.inward[mine].all())
        there = _in_part(positions, shape.triangles[mine], x, body, there, slack, facing=facing)
        if there.any() and cloth is not None:
            there[_crossing(cloth, positions, triangles[mine], body, slack)] = False
        around.append((mine, there))
        airy |= there & ~settled & facing                            # the smallest part around it decides
        settled |= there
    walls = np.zeros(len(triangles), dtype=np.bool_)
    for mine, there in around:
        if (there & airy).any():
            walls[mine] = True
    return walls


def _by_size(shape: SurfaceShape, positions: FloatArray) -> list[tuple[IntArray, FloatArray, FloatArray]]:
    """The closed parts, what lies in others before these: their triangles, and the corners of their boxes [m]."""
    found, rows = [], np.flatnonzero(shape.closed)
    rows = rows[np.argsort(shape.part[rows], kind="stable")]
    for mine in np.split(rows, np.flatnonzero(np.diff(shape.part[rows])) + 1):
        corners = positions[shape.triangles[mine].ravel()]
        found.append((mine, corners.min(axis=0), corners.max(axis=0)))
    return sorted(found, key=lambda one: float(np.linalg.norm(one[2] - one[1])))


def _boxes(x: FloatArray, body: IntArray, pieces: int) -> tuple[FloatArray, FloatArray]:
    """Lower and upper corner (B, 3) [m] of each piece's box."""
    low, high = np.full((pieces, 3), np.inf), np.full((pieces, 3), -np.inf)
    np.minimum.at(low, body, x)
    np.maximum.at(high, body, x)
    return low, high


def _in_part(positions: FloatArray, triangles: IntArray, x: FloatArray, body: IntArray, there: BoolArray,
             slack: float, *, facing: bool) -> BoolArray:
    """Which of the pieces `there` (B,) are in a part of triangles (T, 3), pointing out, or are on its wall, within the
    slack [m], and its faces were `facing` them: what lies in the plane of a face is on its front."""
    tree = BVH.build(*element_boxes(triangles, positions))
    rows = np.flatnonzero(there[body])
    within = inside(x[rows], positions, triangles, np.ones(len(triangles), dtype=np.bool_), tree)
    asked = np.flatnonzero(within != facing)                         # for these it matters whether they are on the wall
    on = nearest(x[rows[asked]], positions, triangles, tree)[1].distance <= slack
    within[asked[on]] = facing
    result = there.copy()
    result[body[rows[~within]]] = False
    return result


def _crossing(cloth: TriangleSurface, positions: FloatArray, triangles: IntArray, body: IntArray, slack: float
              ) -> IntArray:
    """Pieces that cross triangles of a collider (T, 3); what has a vertex within the slack [m] of them touches."""
    part = TriangleSurface.build(positions, triangles)
    edges, pierced = cloth.edges[crossing_pairs(cloth, part)[:, 0]], cloth.triangles[crossing_pairs(part, cloth)[:, 1]]
    tree, found = BVH.build(*element_boxes(triangles, positions)), []
    for corners in (edges, pierced):
        away = nearest(cloth.positions[corners.ravel()], positions, triangles, tree)[1].distance
        found.append(body[corners[all_of(away.reshape(corners.shape) > slack), 0]])
    return np.concatenate(found)
