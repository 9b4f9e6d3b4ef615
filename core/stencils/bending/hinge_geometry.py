# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest geometry of hinges, in fabric coordinates, from which the bending stencils are built.

A hinge is an edge with its two triangles, unfolded into one plane along the edge. All lengths are measured in each
triangle's own uv, so curved meshes and uv seams need no special treatment.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...description.mesh import ClothMesh
from ..component_algebra import Columns


class HingeGeometry:
    """Sizes of the hinges of a mesh, or of a slice of them.

    Attributes:
        vertices (H, 4): as in the mesh.
        triangles (H, 2): triangles of the two sides.
        corners (H, 2): the corner of each triangle that is opposite the shared edge.
        ends (H, 2, 2): the corners of each triangle at the edge's vertices v0 and v1.
        lengths (H,) [m]: length of the shared edge, the mean of its two sides.
        heights (H, 2) [m]: heights of the opposite vertices above the edge.
        feet (H, 2) [-]: feet of the opposite vertices on the edge, 0 at v0 and 1 at v1.
        warp_share (H,) [-]: cos^2 of the angle between the warp and the direction across the edge, in which the sheet
            curves when the hinge closes.
        shared (H,): True if the edge has more than two triangles.
    """

    def __init__(self, mesh: ClothMesh, some: slice = slice(None)) -> None:
        self.vertices: IntArray = mesh.hinges[some]
        self.triangles, self.corners = np.divmod(mesh.hinge_corners[some], 3)
        next_, last = (self.corners + 1) % 3, (self.corners + 2) % 3
        turned = mesh.triangles[self.triangles, next_] != self.vertices[:, :1]         # the edge runs from v1 to v0
        self.ends: IntArray = np.stack([np.where(turned, last, next_), np.where(turned, next_, last)], axis=2)
        start = mesh.uv[self.triangles, self.ends[..., 0]]                             # (H, 2, 2)
        along = mesh.uv[self.triangles, self.ends[..., 1]] - start
        apex = mesh.uv[self.triangles, self.corners] - start
        squared = np.einsum("hsi,hsi->hs", along, along)
        self.feet: FloatArray = np.einsum("hsi,hsi->hs", apex, along) / squared
        self.heights: FloatArray = 2.0 * mesh.areas[self.triangles] / np.sqrt(squared)
        self.lengths: FloatArray = np.sqrt(squared).mean(axis=1)
        self.warp_share: FloatArray = (along[..., 1] ** 2 / squared).mean(axis=1)
        self.shared: BoolArray = mesh.hinge_branches[some]

    def curved(self, mesh: ClothMesh) -> Columns:
        """Return the edge vectors e, a, b of the hinges with the mesh's rest curvature [m].

        Each triangle of a flat hinge is raised to z = (c_uu du^2 + 2 c_uv du dv + c_vv dv^2) / 2 above its plane.
        """
        edge = np.zeros((len(self.vertices), 3))
        apex = np.zeros((len(self.vertices), 2, 3))
        edge[:, 0] = self.lengths
        for side, sign in ((0, 1.0), (1, -1.0)):
            triangle, row = self.triangles[:, side], np.arange(len(self.vertices))
            start = mesh.uv[triangle, self.ends[row, side, 0]]
            for place, end in ((edge, self.ends[row, side, 1]), (apex[:, side], self.corners[:, side])):
                du, dv = (mesh.uv[triangle, end] - start).T
                uu, uv, vv = mesh.curvature[triangle].T
                share = 0.5 if place is edge else 1.0
                place[:, 2] += share * 0.5 * (uu * du * du + 2.0 * uv * du * dv + vv * dv * dv)
            apex[:, side, 0] = self.feet[:, side] * self.lengths
            apex[:, side, 1] = sign * self.heights[:, side]
        return tuple((v[:, 0], v[:, 1], v[:, 2]) for v in (edge, apex[:, 0], apex[:, 1]))

    def rigidity(self, bend: tuple[float, float]) -> FloatArray:
        """Return k (H,) [N m] of the energy k/2 theta^2, which is B l / h.

        h = (A0 + A1) / l is the width of the sheet, across the edge, that belongs to the hinge.
        """
        warp, weft = bend
        stiffness = warp * self.warp_share + weft * (1.0 - self.warp_share)
        rigidity: FloatArray = stiffness * 2.0 * self.lengths / self.heights.sum(axis=1)
        return rigidity
