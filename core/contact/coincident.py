# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that start exactly in one another, such as a duplicate that nobody has moved: a hair's breadth between them.

Where two sheets coincide nobody can tell which of them is on top, and rounding says something else of each vertex. So
each is moved along its own normals, past those before it: two boxes that stand wall to wall stay beside each other, one
of them a hair smaller. From then on contact knows the sides, and gives them their distance. Sheets of one piece that is
folded flat are put apart alike (see `folds`).

What lies in the face of a collider is put a hair in front of it, too: vertices on the edges of a table's top are in its
side walls as well, and would be pushed out beside them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import all_of, any_of
from .colliders import SurfaceShape
from .exclusions import PairFilter, kept_off
from .folds import Corners, sheets
from .lying import Lying, in_cloth, in_solid
from .triangle_surface import TriangleSurface

ALONG = 0.5
"""Cosine of the angle between what lies in a triangle and that triangle from which on it says how both face [-]: a wall
that lies in a wall has its corners in the floor beside it, too."""


def parted(surface: TriangleSurface, held: BoolArray, hair: float, within: float,
           solids: Sequence[tuple[FloatArray, SurfaceShape]] = (), pair_filter: PairFilter | None = None,
           layer: IntArray | None = None) -> FloatArray:
    """Positions of the surface (V, 3) [m] with its sheets (see `folds`) put a `hair` [m] apart where they lie `within`
    [m] of one another, or of solids.

    held (V,): vertices that pins hold, which stay where they are; solids: positions (W, 3) [m] and shapes of colliders;
    pair_filter: None where nothing is excluded from contact. layer (V,): of two sheets of different layers, that of the
    higher one is put in front of the other; None if all are of one.
    """
    x, triangles = surface.positions, surface.triangles
    if not len(triangles):
        return x
    sheet = sheets(x, triangles)
    count = int(sheet.max()) + 1
    allowed = None if pair_filter is None else pair_filter.candidates
    lying = Lying.joined([in_cloth(surface, sheet, within, allowed), *(
        in_solid(x, kept_off(pair_filter, k, surface.vertices), *solid, count + k, within)
        for k, solid in enumerate(solids))])
    corners = Corners(triangles, sheet)
    again, row = corners.of(lying.vertex)
    other = np.flatnonzero(~corners.has(lying.vertex[again], lying.among[again]))
    lying, row = lying[again[other]], row[other]
    whole, rows = _within_others(corners, lying, row)
    if not len(rows):
        return x
    lying, row = lying[rows], row[rows]
    area = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    facing = np.einsum("pi,pi->p", corners.normals(area * whole[:, None])[row], lying.across)
    rows = np.flatnonzero(np.abs(facing) > ALONG)
    levels = np.zeros(count, dtype=np.int64)
    if layer is not None:
        levels[sheet] = layer[triangles[:, 0]]
    lying, facing, rank = lying[rows], np.sign(facing[rows]), _ranks(sheet, triangles, held, len(solids), levels)
    hairs, level = np.zeros(len(rank)), np.zeros(len(rank), dtype=np.int64)
    level[rank[:count]] = levels
    for number, height in _places(rank[corners.sheet[row[rows]]], rank[lying.among], facing, lying.above,
                                  len(solids), level).items():
        hairs[number] = height
    moved: FloatArray = x + hair * corners.mean(hairs[rank[corners.sheet]][:, None] * corners.normals(area), len(x))
    moved[held] = x[held]
    return moved


def _within_others(corners: Corners, lying: Lying, row: IntArray) -> tuple[BoolArray, IntArray]:
    """Which triangles (T,) lie in another sheet, or in a collider, with all their corners, and the rows of what is
    `lying` as one of these; as corners `row` (P,). What has one corner there or two only touches it."""
    whole, kept = np.zeros(len(corners.rows), dtype=np.bool_), np.zeros(len(row), dtype=np.bool_)
    count = 1 + max(lying.vertex.max(initial=0), corners.vertex.max(initial=0))
    for number in np.unique(lying.among):
        mine, lies = np.flatnonzero(lying.among == number), corners.sheet == number
        touched = np.zeros(count, dtype=np.bool_)
        touched[lying.vertex[mine]] = touched[corners.vertex[lies]] = True
        there = touched[corners.vertex] & ~lies
        inside, marked = all_of(there[corners.rows]), np.zeros(len(there), dtype=np.bool_)
        marked[corners.rows[inside]] = True
        kept[mine] = marked[row[mine]]
        whole |= inside
    return whole, np.flatnonzero(kept)


def _ranks(sheet: IntArray, triangles: IntArray, held: BoolArray, solids: int, levels: IntArray) -> IntArray:
    """Place of each sheet, and of `solids` colliders after them, in the order in which they are put on one another:
    what cannot be moved, colliders and what is held everywhere, first; then by their `levels`, layers of cloth."""
    free = np.bincount(sheet, weights=any_of(~held[triangles])) > 0.0
    rank: IntArray = np.argsort(np.lexsort((levels, free)))
    return np.concatenate([rank + solids, np.arange(solids)])


def _places(one: IntArray, other: IntArray, facing: FloatArray, above: FloatArray, solids: int, level: IntArray
            ) -> dict[int, float]:
    """How many hairs each sheet is moved along its own normals.

    For P vertices of sheets `one` that lie in triangles of sheets `other`, (P,) each: whether both face the same way,
    1 or -1, and how far `above` the triangle the vertex is [m]. Each sheet is put past all those before it that it lies
    in, to the side that it is on, or in front if it is on none. The first so many are `solids`: what lies between two
    that face each other stays. `level`: layer of each sheet; of two that differ, the higher one goes in front.
    """
    # every pair as the later sheet over the earlier: whose height over the other is the same by either's normal
    late, early = np.maximum(one, other), np.minimum(one, other)
    height = above * np.where(one == late, 1.0, -facing)                     # along the normals of the earlier
    sides: dict[int, float] = {}                                             # of a sheet's normals against its stack
    heights: dict[int, float] = {}                                           # hairs, along the normals of its stack
    for sheet in np.unique(np.concatenate([late, early])).tolist():
        mine = late == sheet
        below = np.unique(early[mine]).tolist()
        if not below:
            sides[sheet], heights[sheet] = 1.0, 0.0
            continue
        lowest = mine & (early == below[0])
        sides[sheet] = sides[below[0]] * (1.0 if facing[lowest].sum() >= 0.0 else -1.0)
        fronts = [facing[mine & (early == k)].sum() >= 0.0 for k in below if k < solids]
        if len(set(fronts)) > 1:
            heights[sheet] = 0.0
            continue
        over = sum(sides[k] * height[mine & (early == k)].sum() for k in below)
        up = -1.0 if over < 0.0 else 1.0
        for k in below:
            if k >= solids and level[k] != level[sheet]:
                up = sides[k] if level[sheet] > level[k] else -sides[sheet]
        heights[sheet] = up * (1.0 + max(max(up * heights[k] for k in below), 0.0))
    return {sheet: sides[sheet] * hairs for sheet, hairs in heights.items() if hairs}
