# SPDX-License-Identifier: GPL-3.0-or-later
"""Which points of a regular grid lie inside a surface, however messy it is.

Rays along x, y and z pass through all points. Where a ray crosses a triangle, the winding number of what follows
changes by the triangle's side; inside is where it is not zero. So parts of a surface that overlap each other are
inside, once. A ray that does not come out with zero has found a hole, or a face that is turned round: it says nothing
then, and of the others the majority decides. Where all three say nothing the nearest points that know decide.

Limits. Holes must be small: their area, closed by flat fans, at most HOLES of the surface's. Where some faces are
turned round, crossings are only counted, and what is inside two overlapping parts is then outside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...description.topology import bodies
from ...errors import MeshError

LARGEST_HOLE_SHARE = 0.05
"""Area of the holes over that of the surface above which it is open [-]."""
RAY_OFFSET = (0.0137, 0.0291, 0.0073)
"""How far rays are beside the points, over the points' spacing [-]: few edges of a mesh lie exactly there."""
LARGEST_VOLUME_ERROR = 0.1
"""Difference of the volumes by faces and by points up to which that by faces, which is exact, is taken [-]."""


@dataclass(frozen=True)
class Grid:
    """Points origin + (i + 1/2, j + 1/2, k + 1/2) spacing: origin (3,) [m], spacing (3,) [m], counts (3,)."""

    origin: FloatArray
    spacing: FloatArray
    counts: tuple[int, int, int]


def check_closed(positions: FloatArray, triangles: IntArray, name: str) -> None:
    """Raises MeshError, naming an edge, where a surface (V, 3) [m], (T, 3) is too open to have an inside."""
    if len(triangles) == 0:
        raise MeshError("has no faces, so it has no inside; jelly needs a closed mesh", object_name=name)
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    edges, count = np.unique(np.sort(sides, axis=1), axis=0, return_counts=True)
    rim = edges[count == 1]
    if len(rim) == 0:
        return
    loop = bodies(rim, len(positions))[rim[:, 0]]
    size = np.bincount(loop)
    ends = positions[rim]
    middle = np.stack([np.bincount(loop, ends[:, :, k].mean(axis=1)) for k in range(3)], axis=1)[loop]
    middle /= size[loop][:, None]
    fans = 0.5 * np.linalg.norm(np.cross(ends[:, 0] - middle, ends[:, 1] - middle), axis=1).sum()
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    if fans > LARGEST_HOLE_SHARE * area:
        raise MeshError(
            f"is open: edge {rim[0].tolist()} belongs to one face only ({len(rim)} such), and the holes are "
            f"{100.0 * fans / area:.0f} % of its surface; jelly needs a closed mesh: fill them (Mesh > Clean Up > Fill "
            "Holes) or give it thickness (a Solidify modifier, applied)", object_name=name)


def inside_points(positions: FloatArray, triangles: IntArray, grid: Grid) -> BoolArray:
    """Which points of a grid are inside a surface (V, 3) [m], (T, 3), as an array of the grid's counts."""
    turned = not is_oriented(triangles)
    yes, known = np.zeros(grid.counts, dtype=np.int64), np.zeros(grid.counts, dtype=np.int64)
    for axis in range(3):
        inside, sound = _along(positions, triangles, grid, axis, turned)
        yes += inside & sound
        known += sound
    result: BoolArray = 2 * yes > known
    tied = np.argwhere(2 * yes == known)
    if len(tied):                                                  # two that differ, or none that knows
        spread = sum(np.roll(2 * yes - known, shift, axis) for axis in range(3) for shift in (-1, 1))
        result[tuple(tied.T)] = np.asarray(spread)[tuple(tied.T)] > 0
    return result


def is_oriented(triangles: IntArray) -> bool:
    """Whether no two of the triangles (T, 3) pass a common edge in the same direction."""
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    return len(np.unique(sides, axis=0)) == len(sides)


def surface_volume(positions: FloatArray, triangles: IntArray, sampled: float) -> float:
    """Volume [m^3] of a surface of which points say `sampled`: that of its faces, if both agree."""
    a, b, c = (positions[triangles[:, k]] - positions.mean(axis=0) for k in range(3))
    exact = abs(float(np.einsum("ti,ti->", a, np.cross(b, c)))) / 6.0
    return exact if abs(exact - sampled) <= LARGEST_VOLUME_ERROR * sampled and is_oriented(triangles) else sampled


def _along(positions: FloatArray, triangles: IntArray, grid: Grid, axis: int, turned: bool
           ) -> tuple[BoolArray, BoolArray]:
    """What rays along an axis say: which points are inside, and of which they say anything (grid's counts)."""
    others = [(axis + 1) % 3, (axis + 2) % 3]
    counts = [grid.counts[k] for k in (*others, axis)]
    place = (positions - grid.origin) / grid.spacing - 0.5 - np.asarray(RAY_OFFSET)      # in steps from the first point
    u, v, w = (place[:, k][triangles] for k in (*others, axis))                     # (T, 3)
    rays, triangle = _candidates(u, v, counts)
    p, q = np.divmod(rays, counts[1])
    corner = [(u[triangle, k] - p, v[triangle, k] - q) for k in range(3)]
    part = [corner[k][0] * corner[k - 2][1] - corner[k - 2][0] * corner[k][1] for k in range(3)]   # opposite k - 1
    hit = ((part[0] >= 0.0) & (part[1] >= 0.0) & (part[2] >= 0.0)) \
        | ((part[0] < 0.0) & (part[1] < 0.0) & (part[2] < 0.0))
    total = part[0] + part[1] + part[2]
    hit &= total != 0.0
    rays, triangle, total = rays[hit], triangle[hit], total[hit]
    weight = [part[(k + 1) % 3][hit] / total for k in range(3)]                      # of corner k
    height = sum(weight[k] * w[triangle, k] for k in range(3))
    first = np.clip(np.ceil(height), 0, counts[2]).astype(np.int64)                  # first point behind
    sign = np.ones(len(total)) if turned else np.sign(total)
    changes = np.bincount(rays * (counts[2] + 1) + first, weights=sign,
                          minlength=counts[0] * counts[1] * (counts[2] + 1))
    winding = np.rint(np.cumsum(changes.reshape(*counts[:2], counts[2] + 1), axis=2)).astype(np.int64)
    if turned:
        winding %= 2
    sound = np.broadcast_to(winding[:, :, -1:] == 0, winding[:, :, :-1].shape)
    back = np.argsort([*others, axis])
    return (winding[:, :, :-1] != 0).transpose(back), sound.transpose(back)


def _candidates(u: FloatArray, v: FloatArray, counts: list[int]) -> tuple[IntArray, IntArray]:
    """Rays, numbered row by row, in the boxes of triangles with corners u, v (T, 3); and their triangles (N,)."""
    low = [np.clip(np.ceil(a.min(axis=1)), 0, n).astype(np.int64) for a, n in zip((u, v), counts, strict=False)]
    high = [np.clip(np.floor(a.max(axis=1)) + 1, 0, n).astype(np.int64) for a, n in zip((u, v), counts, strict=False)]
    wide, tall = (np.maximum(b - a, 0) for a, b in zip(low, high, strict=True))
    each = wide * tall
    triangle = np.repeat(np.arange(len(u)), each)
    number = np.arange(len(triangle)) - np.repeat(np.cumsum(each) - each, each)
    row, column = np.divmod(number, np.maximum(tall[triangle], 1))
    rays: IntArray = (low[0][triangle] + row) * counts[1] + low[1][triangle] + column
    return rays, triangle
