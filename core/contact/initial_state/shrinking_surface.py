# SPDX-License-Identifier: GPL-3.0-or-later
"""Move the surface of a collider inwards, where it is asked for.

    y  =  x + phi (d - (d.n)+ n - w/2 S S n) ,     d = S x - x ,     S = (M + w^2 L)^-1 M

L is the cotangent Laplacian of the surface, M has a third of the area of each triangle at its corners, n are its
normals, and w is a width. d is an implicit step of mean curvature flow (Desbrun et al. 1999): a limb moves towards its
axis. A hollow would move outwards, which is left out. The last term moves what is flat or hollow inwards,
too. On a limb of radius r, smoothing takes (1 + w^2/r^2)^-2 of it, so that nothing passes the axis:

    r'  =  r / (1 + w^2/r^2)  -  w/2 / (1 + w^2/r^2)^2  >=  3/4 r / (1 + w^2/r^2)

phi is 1 where it is asked for, and falls off smoothly beside that.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...description.mesh import SLIVER
from ...linear.block_cholesky import BlockCholesky
from ...linear.nested_dissection import NestedDissection
from ...row_ops import cross, length
from ..vertex_normals import area_vectors, vertex_normals


class ShrinkingSurface:
    """A surface that can move inwards.

    Args:
        x: (W, 3) [m], at which L and M are taken.
        triangles: (T, 3), with normals outwards.
        width: w [m].
    """

    def __init__(self, x: FloatArray, triangles: IntArray, width: float) -> None:
        self._triangles, self._width = triangles, width
        corner = [x[triangles[:, k]] for k in range(3)]
        sides = np.array([length(corner[k - 2] - corner[k - 1]) for k in range(3)])        # opposite to corner k
        least = np.maximum(2.0 * SLIVER * sides.max(axis=0) ** 2, np.finfo(float).tiny)
        area = np.maximum(length(cross(corner[1] - corner[0], corner[2] - corner[0])), least)
        cotangents = [np.einsum("ti,ti->t", corner[k - 2] - corner[k], corner[k - 1] - corner[k]) / area
                      for k in range(3)]
        ends = np.concatenate([np.sort(triangles[:, [k - 2, k - 1]], axis=1) for k in range(3)])
        edges, edge = np.unique(ends, axis=0, return_inverse=True)
        weight = width ** 2 * np.maximum(np.bincount(edge.reshape(-1), 0.5 * np.concatenate(cotangents)), 0.0)
        mass = np.bincount(triangles.ravel(), np.repeat(area / 6.0, 3), len(x))
        self._mass: FloatArray = np.where(mass > 0.0, mass, 1.0)
        diagonal = self._mass + np.bincount(edges.ravel(), np.repeat(weight, 2), len(x))
        self._matrix = BlockCholesky(NestedDissection(edges, x), diagonal[:, None, None], -weight[:, None, None],
                                     single=False)

    def further_in(self, x: FloatArray, there: BoolArray) -> FloatArray:
        """Return the positions (W, 3) [m] one step further in than x (W, 3) [m], where `there` (W,)."""
        normal = vertex_normals(area_vectors(x, self._triangles), self._triangles, len(x))
        way = self._smoothed(x) - x
        outwards = np.maximum(np.einsum("wi,wi->w", way, normal), 0.0)
        share = np.clip(2.0 * self._smoothed(np.tile(there[:, None].astype(float), 3)), 0.0, 1.0)
        way -= outwards[:, None] * normal + 0.5 * self._width * self._smoothed(self._smoothed(normal))
        return x + share * way

    def _smoothed(self, values: FloatArray) -> FloatArray:
        """Return S times values (W, 3)."""
        return self._matrix.solve(self._mass[:, None] * values)
