# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertex pairs across the folds of a sheet, on which springs or arcs resist bending.

On a quad mesh a pair is two second neighbours; on other meshes it is the two vertices opposite an edge. Which law acts
on the pairs is chosen by the model.

A pair spans the heights h0 and h1 on both sides of a fold line, and the distance a along it. Folded by theta, it has
the length

    R(theta) = sqrt(h0^2 + h1^2 + 2 h0 h1 cos theta + a^2)                         [m]

The sheet's own energy there is k_h theta^2 / 2 with k_h = B w / h [N m], h = (h0 + h1) / 2 and w the width of the fold.
A law on the pairs is made to match it. On a quad mesh the fold line goes through the middle vertex of two edges in
line; each adjacent quad adds half of its side to the width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import FloatArray, IntArray
from ...description.mesh import ClothMesh
from ..bending.hinge import angle, hinge_stencil
from ..bending.hinge_geometry import HingeGeometry
from .pair_sums import sum_over_pairs
from .sheet_springs import quad_coordinates


@dataclass(frozen=True)
class BendSprings:
    """Vertex pairs across folds.

    Attributes:
        pairs (E, 2): vertices.
        heights (E, 2) [m]: h0 and h1.
        sideways (E,) [m]: a.
        rigidity (E,) [N m]: k_h.
        angle (E,): fold angle at rest.
    """

    pairs: IntArray
    heights: FloatArray
    sideways: FloatArray
    rigidity: FloatArray
    angle: FloatArray

    def lengths(self, angle: FloatArray) -> FloatArray:
        """Return R (E,) [m] for the fold angles `angle` (E,)."""
        h0, h1 = self.heights.T
        squared = h0 ** 2 + h1 ** 2 + 2.0 * h0 * h1 * np.cos(angle) + self.sideways ** 2
        return np.sqrt(np.maximum(squared, np.finfo(float).tiny))


def bend_springs(mesh: ClothMesh, bend: tuple[float, float], *, flat: bool = False) -> BendSprings:
    """Return the pairs of a mesh, at rest as it is modelled or, with `flat`, in the flat shape."""
    return _across_hinges(mesh, bend, flat) if not len(mesh.quads) else _second_neighbours(mesh, bend, flat)


def _across_hinges(mesh: ClothMesh, bend: tuple[float, float], flat: bool) -> BendSprings:
    """Return the pairs of vertices opposite the edges of triangles."""
    geometry = HingeGeometry(mesh)
    at_rest = np.zeros(len(mesh.hinges)) if flat else angle(hinge_stencil(mesh).gather(mesh.positions))
    sideways = np.abs(geometry.feet[:, 1] - geometry.feet[:, 0]) * geometry.lengths
    return BendSprings(mesh.hinges[:, 2:], geometry.heights, sideways, geometry.rigidity(bend), at_rest)


def _second_neighbours(mesh: ClothMesh, bend: tuple[float, float], flat: bool) -> BendSprings:
    """Return the pairs of second neighbours of a quad mesh."""
    count, uv = len(mesh.positions), quad_coordinates(mesh)
    quads, at = mesh.quads, np.arange(4)
    start, end = quads[:, at].ravel(), np.roll(quads, -1, axis=1).ravel()             # side 4 q + s
    keys = np.minimum(start, end) * count + np.maximum(start, end)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    one, other = order[same], order[same + 1]                                         # both sides of inner edges
    along = uv - np.roll(uv, 1, axis=1)                                               # from corner s - 1 to corner s
    size = np.linalg.norm(along, axis=-1)
    warp = along[..., 0] ** 2 / size ** 2
    middles, ends, heights, widths, shares = [], [], [], [], []
    for at_end in (False, True):                                                      # over both ends of the edge
        middle = end[one] if at_end else start[one]
        rows = []
        for side in (one, other):
            q, s = side // 4, side % 4
            here = np.where(start[side] == middle, s, (s + 1) % 4)
            before = here == s                                                      # the quad's previous side ends here
            rows.append((quads[q, np.where(before, (here + 3) % 4, (here + 1) % 4)],
                         np.where(before, size[q, here], size[q, (here + 1) % 4]),
                         np.where(before, warp[q, here], warp[q, (here + 1) % 4]), size[q, (s + 1) % 4]))
        middles.append(middle)
        ends.append(np.stack([rows[0][0], rows[1][0]], axis=1))
        heights.append(np.stack([rows[0][1], rows[1][1]], axis=1))
        shares.append(0.5 * (rows[0][2] + rows[1][2]))
        widths.append(0.25 * (rows[0][3] + rows[1][3]))
    middle, pair, height = np.concatenate(middles), np.concatenate(ends), np.concatenate(heights)
    stiffness = bend[0] * np.concatenate(shares) + bend[1] * (1.0 - np.concatenate(shares))
    rigidity = stiffness * np.concatenate(widths) / height.mean(axis=1)
    turned = pair[:, 0] > pair[:, 1]
    height[turned], pair[turned] = height[turned, ::-1], pair[turned, ::-1]
    fold = _turn(mesh.positions, pair, middle)
    each = [rigidity, height[:, 0], height[:, 1], np.zeros(len(fold)) if flat else fold, np.ones(len(fold))]
    pairs, sums = sum_over_pairs(pair, count, np.stack(each, axis=1))
    mean = sums / sums[:, 4:]
    return BendSprings(pairs, mean[:, 1:3], np.zeros(len(pairs)), sums[:, 0], mean[:, 3])


def _turn(x: FloatArray, pair: IntArray, middle: IntArray) -> FloatArray:
    """Return the angle (E,) between the two segments from one end of each pair over its middle vertex to the other."""
    a, b = x[middle] - x[pair[:, 0]], x[pair[:, 1]] - x[middle]
    turn: FloatArray = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ei,ei->e", a, b))
    return turn
