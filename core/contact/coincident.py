# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that start exactly in one another, such as a duplicate that nobody has moved: a hair's breadth between them.

Where two sheets coincide nobody can tell which of them is on top, and rounding says something else of each vertex. So
each is moved along its own normals, past those before it: two boxes that stand wall to wall stay beside each other, one
of them a hair smaller. From then on contact knows the sides, and gives them their distance. Sheets of one piece that is
folded flat are put apart alike (see `folds`).
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..rows import all_of, any_of, unit
from .continuous import near_pairs
from .folds import sheets
from .triangle_surface import TriangleSurface

HAIR = 1e-4
"""How far the sheets are put apart, over the least mean length of their edges [-]: what nobody sees."""
SAME = 0.25
"""Distance, over a hair, up to which a vertex lies in a triangle [-]: meshes are stored in single precision."""
ALONG = 0.5
"""Cosine of the angle between what lies in a triangle and that triangle from which on it says how both face [-]: a wall
that lies in a wall has its corners in the floor beside it, too."""
ROUNDING = 1e-15
"""Distance, over the largest coordinate, that says nothing about sides [-]."""


def parted(surface: TriangleSurface, held: BoolArray, finest: float) -> FloatArray:
    """Positions of the surface (V, 3) [m] with its sheets (see `folds`) put apart where they lie in one another.

    held (V,): vertices that pins hold, which stay where they are; finest: the least mean edge length of a piece [m].
    """
    x, triangles = surface.positions, surface.triangles
    sheet = sheets(x, triangles)
    if not len(triangles) or not np.isfinite(finest) or (sheet == sheet[0]).all():
        return x
    hair, sheet = HAIR * finest, _held_first(sheet, triangles, held)
    found = near_pairs(surface, x, x, SAME * hair, np.zeros(len(x)))
    own, face = found.primitives[:found.faces].T
    if not len(own):
        return x
    corners = _Corners(triangles, sheet)
    own, face, row = corners.of_others(own, face)
    whole = corners.within_others(own, sheet[face])
    area = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    across = unit(area[face])
    facing = np.einsum("pi,pi->p", corners.normals(area * whole[:, None])[row], across)
    flat = np.flatnonzero(np.abs(facing) > ALONG)
    if not len(flat):
        return x
    above = np.einsum("pi,pi->p", x[own] - x[triangles[face, 0]], across)
    above[np.abs(above) <= ROUNDING * np.abs(x).max()] = 0.0
    hairs = np.zeros(int(sheet.max()) + 1)
    for number, height in _places(corners.sheet[row[flat]], sheet[face[flat]], np.sign(facing[flat]),
                                  above[flat]).items():
        hairs[number] = height
    moved: FloatArray = x + hair * corners.mean(hairs[corners.sheet][:, None] * corners.normals(area), len(x))
    moved[held] = x[held]
    return moved


def _held_first(sheet: IntArray, triangles: IntArray, held: BoolArray) -> IntArray:
    """Numbers (T,) of sheets in their order, but those that are held everywhere, and cannot be moved, first."""
    free = np.bincount(sheet, weights=any_of(~held[triangles])) > 0.0
    number: IntArray = np.argsort(np.argsort(free, kind="stable"))[sheet]
    return number


class _Corners:
    """Each vertex once for each sheet that it is a corner of, K in all: several where there is a fold.

    Attributes:
        vertex, sheet (K,). of (T, 3): rows of the corners of triangles.
    """

    def __init__(self, triangles: IntArray, sheet: IntArray) -> None:
        self._triangles, self._sheet, self._count = triangles, sheet, int(sheet.max()) + 1
        keys, of = np.unique(triangles * self._count + sheet[:, None], return_inverse=True)
        self._keys, self.of = keys, of.reshape(triangles.shape)
        self.vertex, self.sheet = keys // self._count, keys % self._count

    def of_others(self, own: IntArray, face: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Of P vertices `own` that lie in triangles `face`, (P,) each, those that are not corners of that sheet, once
        for each of their own: own, face, and the row of that corner."""
        other = np.flatnonzero(~np.isin(own * self._count + self._sheet[face], self._keys))
        own, face = own[other], face[other]
        first, last = np.searchsorted(self.vertex, own), np.searchsorted(self.vertex, own, side="right")
        count = last - first
        again = np.repeat(np.arange(len(own)), count)
        row: IntArray = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(again))
        return own[again], face[again], row

    def within_others(self, own: IntArray, other: IntArray) -> BoolArray:
        """Which triangles (T,) lie in another sheet with all their corners, of P vertices `own` that lie in sheets
        `other`, (P,) each: what has one or two there only touches it."""
        result = np.zeros(len(self._triangles), dtype=np.bool_)
        for sheet in np.unique(other):
            lies = np.zeros(int(self.vertex.max()) + 1, dtype=np.bool_)
            lies[own[other == sheet]] = True
            lies[self.vertex[self.sheet == sheet]] = True
            result |= all_of(lies[self._triangles]) & (self._sheet != sheet)
        return result

    def normals(self, area: FloatArray) -> FloatArray:
        """Unit normals (K, 3) of the corners, each triangle with its `area` (T, 3); 0 where that is 0."""
        total = np.zeros((len(self.vertex), 3))
        for k in range(3):
            np.add.at(total, self.of[:, k], area)
        return unit(total)

    def mean(self, values: FloatArray, count: int) -> FloatArray:
        """Of `count` vertices the mean (V, 3) of the values (K, 3) of their corners."""
        total = np.zeros((count, 3))
        np.add.at(total, self.vertex, values)
        result: FloatArray = total / np.maximum(np.bincount(self.vertex, minlength=count), 1)[:, None]
        return result


def _places(one: IntArray, other: IntArray, facing: FloatArray, above: FloatArray) -> dict[int, float]:
    """How many hairs each sheet is moved along its own normals.

    For P vertices of sheets `one` that lie in triangles of sheets `other`, (P,) each: whether both face the same way,
    1 or -1, and how far `above` the triangle the vertex is [m]. Each sheet is put past all those before it that it lies
    in, to the side that it is on, or in front if it is on none.
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
        over = sum(sides[k] * height[mine & (early == k)].sum() for k in below)
        up = -1.0 if over < 0.0 else 1.0
        heights[sheet] = up * (1.0 + max(max(up * heights[k] for k in below), 0.0))
    return {sheet: sides[sheet] * hairs for sheet, hairs in heights.items() if hairs}
