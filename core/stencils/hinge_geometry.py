# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest geometry of hinges, in the fabric: what every bending stencil is built from.

All of it is measured in each triangle's own uv, so that a curved mesh and uv seams are no special case: two triangles
that share an edge are unfolded into one plane along that edge.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..mesh import ClothMesh


class HingeGeometry:
    """Sizes of the hinges of a mesh.

    Attributes:
        triangles (H, 2) and corners (H, 2): the two sides, and which corner of each is opposite the shared edge;
        ends (H, 2, 2): the corners of each side where the edge's vertices v0 and v1 sit;
        lengths (H,) [m]: of the shared edge, the mean of its two sides;
        heights (H, 2) [m]: of the opposite vertices above the edge;
        feet (H, 2) [-]: where their perpendiculars meet the edge, 0 at v0 and 1 at v1;
        warp_share (H,) [-]: cos^2 of the angle between the warp and the direction across the edge, which is the
            direction that curves when the hinge closes;
        shared (H,): True where the edge has more than two triangles.
    """

    def __init__(self, mesh: ClothMesh) -> None:
        hinges = mesh.hinges
        self.triangles = _sides(mesh.triangles, hinges)
        corner_vertices = mesh.triangles[self.triangles]                               # (H, 2, 3)
        self.corners: IntArray = np.argmax(corner_vertices == hinges[:, 2:, None], axis=2)
        self.ends: IntArray = np.stack(
            [np.argmax(corner_vertices == hinges[:, i, None, None], axis=2) for i in (0, 1)], axis=2)
        rows, side = np.arange(len(hinges))[:, None], np.arange(2)
        uv = mesh.uv[self.triangles]                                                   # (H, 2, 3, 2)
        start, end = uv[rows, side, self.ends[..., 0]], uv[rows, side, self.ends[..., 1]]
        along, apex = end - start, uv[rows, side, self.corners] - start
        squared = np.einsum("hsi,hsi->hs", along, along)
        self.feet: FloatArray = np.einsum("hsi,hsi->hs", apex, along) / squared
        self.heights: FloatArray = 2.0 * mesh.areas[self.triangles] / np.sqrt(squared)
        self.lengths: FloatArray = np.sqrt(squared).mean(axis=1)
        self.warp_share: FloatArray = (along[..., 1] ** 2 / squared).mean(axis=1)
        self.shared = _repeated(hinges[:, :2])

    def rigidity(self, bend: tuple[float, float]) -> FloatArray:
        """k (H,) [N m] with energy k/2 theta^2: B l / h, h = (A0 + A1) / l the hinge's share of the surface across."""
        warp, weft = bend
        stiffness = warp * self.warp_share + weft * (1.0 - self.warp_share)
        rigidity: FloatArray = stiffness * 2.0 * self.lengths / self.heights.sum(axis=1)
        return rigidity


def _sides(triangles: IntArray, hinges: IntArray) -> IntArray:
    """The two triangles (H, 2) of each hinge."""
    rows = np.sort(np.concatenate([triangles, hinges[:, [0, 1, 2]], hinges[:, [0, 1, 3]]]), axis=1)
    _, group = np.unique(rows, axis=0, return_inverse=True)
    group = group.reshape(-1)
    place = np.zeros(len(rows), dtype=np.int64)
    place[group[:len(triangles)]] = np.arange(len(triangles))
    sides: IntArray = place[group[len(triangles):]].reshape(2, -1).T
    return sides


def _repeated(edges: IntArray) -> BoolArray:
    """Which rows of edges (H, 2) are there more than once."""
    _, group, count = np.unique(np.sort(edges, axis=1), axis=0, return_inverse=True, return_counts=True)
    repeated: BoolArray = count[group.reshape(-1)] > 1
    return repeated
