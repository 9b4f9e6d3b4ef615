# SPDX-License-Identifier: GPL-3.0-or-later
"""The points of a regular grid that lie inside a surface, which may have holes and overlapping parts.

Rays along x, y and z pass through all grid points. Where a ray crosses a triangle, the winding number of the points
behind it changes by +1 or -1, by the triangle's orientation; points with a winding number other than zero are inside.
Overlapping parts of a surface therefore count once. A ray whose winding number does not return to zero has met a hole
or an inverted face, and is ignored. The majority of the other rays through a point decides. If there is no majority,
the neighbouring points decide.

Limits: the area of all holes, closed by flat fans, is at most LARGEST_HOLE_SHARE of the surface. If some faces are
inverted, crossings are only counted as even or odd, and points inside two overlapping parts are then outside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...description.topology import bodies
from ...errors import MeshError

LARGEST_HOLE_SHARE = 0.05
"""Largest area of all holes, over that of the surface, for which the surface counts as closed [-]."""
RAY_OFFSET = (0.0137, 0.0291, 0.0073)
"""Offset of the rays from the grid points, over the spacing of the points [-]. Few edges of a mesh are exactly there.
"""
LARGEST_VOLUME_ERROR = 0.1
"""Largest relative difference of the volume of the faces from the sampled one, for which the former is used [-]."""


@dataclass(frozen=True)
class Grid:
    """Points origin + (i + 1/2, j + 1/2, k + 1/2) spacing: origin (3,) [m], spacing (3,) [m], counts (3,)."""

    origin: FloatArray
    spacing: FloatArray
    counts: tuple[int, int, int]


def check_closed(positions: FloatArray, triangles: IntArray, name: str) -> None:
    """Raise a MeshError that names an edge if a surface (V, 3) [m], (T, 3) is too open to have an inside."""
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
    hole_area = 0.5 * np.linalg.norm(np.cross(ends[:, 0] - middle, ends[:, 1] - middle), axis=1).sum()
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    if hole_area > LARGEST_HOLE_SHARE * area:
        raise MeshError(
            f"is open: edge {rim[0].tolist()} belongs to one face only ({len(rim)} such), and the holes are "
            f"{100.0 * hole_area / area:.0f} % of its surface; jelly needs a closed mesh: fill them (Mesh > Clean Up > "
            "Fill Holes) or give it thickness (a Solidify modifier, applied)", object_name=name)


def inside_points(positions: FloatArray, triangles: IntArray, grid: Grid) -> BoolArray:
    """Return which points of a grid are inside a surface (V, 3) [m], (T, 3), in the shape of the grid's counts."""
    inverted = not is_oriented(triangles)
    inside_rays, valid_rays = np.zeros(grid.counts, dtype=np.int64), np.zeros(grid.counts, dtype=np.int64)
    for axis in range(3):
        inside, valid = _inside_along_axis(positions, triangles, grid, axis, inverted)
        inside_rays += inside & valid
        valid_rays += valid
    result: BoolArray = 2 * inside_rays > valid_rays
    undecided = np.argwhere(2 * inside_rays == valid_rays)
    if len(undecided):                                                  # two rays that differ, or none that is valid
        spread = sum(np.roll(2 * inside_rays - valid_rays, shift, axis) for axis in range(3) for shift in (-1, 1))
        result[tuple(undecided.T)] = np.asarray(spread)[tuple(undecided.T)] > 0
    return result


def is_oriented(triangles: IntArray) -> bool:
    """Return True if no two of the triangles (T, 3) pass a common edge in the same direction."""
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    return len(np.unique(sides, axis=0)) == len(sides)


def surface_volume(positions: FloatArray, triangles: IntArray, sampled: float, spacing: float) -> float:
    """Return the volume of a surface [m^3].

    It is computed from the faces if that agrees with `sampled` [m^3], the volume of the inner sample points, else it is
    `sampled`: faces count overlaps twice. Points `spacing` [m] apart may miss half of that at each face, or see too
    much; if this is more than all that they see, they tell nothing.
    """
    a, b, c = (positions[triangles[:, k]] - positions.mean(axis=0) for k in range(3))
    exact = abs(float(np.einsum("ti,ti->", a, np.cross(b, c)))) / 6.0
    area = 0.5 * float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())
    missed = 0.5 * spacing * area
    error = missed if missed >= sampled else LARGEST_VOLUME_ERROR * sampled
    return exact if abs(exact - sampled) <= error and is_oriented(triangles) else sampled


def _inside_along_axis(positions: FloatArray, triangles: IntArray, grid: Grid, axis: int, inverted: bool
           ) -> tuple[BoolArray, BoolArray]:
    """Return which points are inside by the rays along an axis, and for which points these rays are valid.

    `turned` is True if some faces are inverted. Both results have the shape of the grid's counts.
    """
    others = [(axis + 1) % 3, (axis + 2) % 3]
    counts = [grid.counts[k] for k in (*others, axis)]
    place = (positions - grid.origin) / grid.spacing - 0.5 - np.asarray(RAY_OFFSET)      # in steps from the first point
    u, v, w = (place[:, k][triangles] for k in (*others, axis))                     # (T, 3)
    rays, triangle = _candidate_rays(u, v, counts)
    p, q = np.divmod(rays, counts[1])
    corner = [(u[triangle, k] - p, v[triangle, k] - q) for k in range(3)]
    areas = [corner[k][0] * corner[k - 2][1] - corner[k - 2][0] * corner[k][1] for k in range(3)]   # opposite k - 1
    hit = ((areas[0] >= 0.0) & (areas[1] >= 0.0) & (areas[2] >= 0.0)) \
        | ((areas[0] < 0.0) & (areas[1] < 0.0) & (areas[2] < 0.0))
    total = areas[0] + areas[1] + areas[2]
    hit &= total != 0.0
    rays, triangle, total = rays[hit], triangle[hit], total[hit]
    weight = [areas[(k + 1) % 3][hit] / total for k in range(3)]                      # of corner k
    height = sum(weight[k] * w[triangle, k] for k in range(3))
    first = np.clip(np.ceil(height), 0, counts[2]).astype(np.int64)                  # first point behind
    sign = np.ones(len(total)) if inverted else np.sign(total)
    changes = np.bincount(rays * (counts[2] + 1) + first, weights=sign,
                          minlength=counts[0] * counts[1] * (counts[2] + 1))
    winding = np.rint(np.cumsum(changes.reshape(*counts[:2], counts[2] + 1), axis=2)).astype(np.int64)
    if inverted:
        winding %= 2
    valid = np.broadcast_to(winding[:, :, -1:] == 0, winding[:, :, :-1].shape)
    back = np.argsort([*others, axis])
    return (winding[:, :, :-1] != 0).transpose(back), valid.transpose(back)


def _candidate_rays(u: FloatArray, v: FloatArray, counts: list[int]) -> tuple[IntArray, IntArray]:
    """Return the rays that pass through the boxes of triangles with corners u, v (T, 3), and the triangle of each (N,).

    Rays are numbered row by row.
    """
    low = [np.clip(np.ceil(a.min(axis=1)), 0, n).astype(np.int64) for a, n in zip((u, v), counts, strict=False)]
    high = [np.clip(np.floor(a.max(axis=1)) + 1, 0, n).astype(np.int64) for a, n in zip((u, v), counts, strict=False)]
    wide, tall = (np.maximum(b - a, 0) for a, b in zip(low, high, strict=True))
    each = wide * tall
    triangle = np.repeat(np.arange(len(u)), each)
    number = np.arange(len(triangle)) - np.repeat(np.cumsum(each) - each, each)
    row, column = np.divmod(number, np.maximum(tall[triangle], 1))
    rays: IntArray = (low[0][triangle] + row) * counts[1] + low[1][triangle] + column
    return rays, triangle
