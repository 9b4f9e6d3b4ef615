# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy that keeps the shape of cloth while an intersecting start is resolved.

    E(x) = 1/2 sum_edges  STRETCH (|d| - L)^2  +  SHAPE |d - R p|^2 ,     d = x_j - x_i ,  p = d at the start ,  L = |p|

The first term keeps lengths. The second keeps folds and details: R is the mean of the rotations of both ends, each the
nearest rotation from the one-ring at the start to the present one (as-rigid-as-possible, Sorkine and Alexa 2007). Both
have the same constant matrix, the graph Laplacian of the edges, so that a local and a global step alternate (Bouaziz et
al. 2014). The energy is in units of an edge's stiffness: only ratios matter to a static problem.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...linear.block_cholesky import BlockCholesky
from ...linear.nested_dissection import NestedDissection
from ...row_ops import length

STRETCH = 1.0
"""Stiffness that keeps the lengths of edges: the unit of all others here [-]."""
SHAPE = 0.2
"""Stiffness that keeps the one-rings rigid, over `STRETCH` [-]: cloth bends more easily than it stretches."""
DRAG = 1e-3
"""Stiffness that holds vertices where they are in one iteration, over `STRETCH` [-]: the matrix is regular for pieces
that nothing holds."""


class ShapeEnergy:
    """The energy of V vertices, and its minimisation by local and global steps.

    Args:
        start: (V, 3) [m], the shape to keep.
        edges: (E, 2), of the mesh, and between neighbours inside it.
        held: (V,) vertices that do not move.
    """

    def __init__(self, start: FloatArray, edges: IntArray, held: BoolArray) -> None:
        edges = np.unique(np.sort(edges, axis=1), axis=0)
        self._edges, self._held, self._count = edges, held, len(start)
        self._shapeless = np.zeros(len(edges), dtype=np.bool_)
        self._start = start[edges[:, 1]] - start[edges[:, 0]]
        self._lengths = length(self._start)
        self._tree = NestedDissection(edges, start)
        self._degree = np.bincount(edges.ravel(), minlength=len(start))
        self._coupling: FloatArray = np.where(held[edges].any(axis=1), 0.0, -(STRETCH + SHAPE))[:, None, None]

    def factor(self, stiffness: FloatArray) -> BlockCholesky:
        """Return the inverse of the matrix, with more `stiffness` (V,) [-] of distances at each vertex."""
        diagonal = np.where(self._held, 1.0, (STRETCH + SHAPE) * self._degree + stiffness + DRAG)
        return BlockCholesky(self._tree, diagonal[:, None, None], self._coupling.copy(), single=False)

    def rotations(self, x: FloatArray) -> FloatArray:
        """Return the nearest rotation (V, 3, 3) of each one-ring from the start to x (V, 3) [m]."""
        d = x[self._edges[:, 1]] - x[self._edges[:, 0]]
        products = (d[:, :, None] * self._start[:, None, :]).reshape(-1, 9)
        moments = np.stack([self._sums(column) for column in products.T], axis=1).reshape(-1, 3, 3)
        left, _, right = np.linalg.svd(moments)
        left[:, :, 2] *= np.linalg.det(left @ right)[:, None]                  # a rotation, never a reflection
        result: FloatArray = left @ right
        return result

    def force(self, x: FloatArray, rotations: FloatArray) -> FloatArray:
        """Return the forces (V, 3), in units of the stiffness [m], at x (V, 3) [m] with these rotations (V, 3, 3);
        0 on vertices that do not move."""
        one, other = self._edges.T
        d = x[other] - x[one]
        size = length(d) if len(d) else self._lengths
        too_long = 1.0 - self._lengths / np.where(size > 0.0, size, np.inf)
        turned = np.einsum("eij,ej->ei", 0.5 * (rotations[one] + rotations[other]), self._start)
        bent = np.where(self._shapeless[:, None], 0.0, d - turned)
        pull = STRETCH * too_long[:, None] * d + SHAPE * bent
        total = np.stack([np.bincount(one, column, self._count) - np.bincount(other, column, self._count)
                          for column in pull.T], axis=1, dtype=np.float64)
        total[self._held] = 0.0
        return total

    def forget_shape(self, some: BoolArray) -> BoolArray:
        """Let `some` vertices (V,) and their neighbours bend freely from now on, and return these (V,)."""
        ring = some.copy()
        ring[self._edges[some[self._edges].any(axis=1)]] = True
        self._shapeless |= ring[self._edges].any(axis=1)
        return ring & ~self._held

    def smoothing(self, x: FloatArray, some: BoolArray) -> FloatArray:
        """Return the way (V, 3) [m] from `some` vertices (V,) at x (V, 3) [m] to the mean of their neighbours; 0 of
        others."""
        one, other = self._edges.T
        d = x[other] - x[one]
        total = np.stack([np.bincount(one, column, self._count) - np.bincount(other, column, self._count)
                          for column in d.T], axis=1, dtype=np.float64)
        return np.where(some[:, None], total / np.maximum(self._degree, 1)[:, None], 0.0)

    def _sums(self, of_edges: FloatArray) -> FloatArray:
        one, other = (np.bincount(ends, of_edges, self._count).astype(np.float64) for ends in self._edges.T)
        return one + other
