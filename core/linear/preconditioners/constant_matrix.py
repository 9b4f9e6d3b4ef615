# SPDX-License-Identifier: GPL-3.0-or-later
"""The constant matrix of projective dynamics plus block Jacobi: the first covers stiff motions, the other soft ones.

    P^-1 = C^-1 + J^-1,     C = M + h^2 sum_elements sum_c omega_c w_c w_c^T   (times the 3x3 identity)

C is the left-hand side of 004 (projective dynamics), with omega_c the stiffness of column c at rest, plus h omega_c of
its damping: a scalar matrix that depends only on the step and the pins, and is factored once for each of them. J is the
3x3 block diagonal of A in this step.

Why both: C is as stiff across the plane of a fabric as along it. A slack or folded sheet is softer there by a factor of
up to k h^2 / (m dx^2), a million on a fine mesh, and C^-1 alone makes almost no correction for such motions. J has the
soft direction of every vertex. The sum is at least the larger of both, and at most twice that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import FloatArray, IntArray
from ..block_cholesky import BlockCholesky
from ..block_matrix import BlockMatrix
from ..constraint_filter import ConstraintFilter
from ..nested_dissection import NestedDissection
from .block_jacobi import BlockJacobi

FACTORS_KEPT = 4
"""Most factors that are kept, for the steps and pins used last [-]: a step that was halved is doubled again."""


@dataclass(frozen=True)
class ScalarElements:
    """The contribution of an element family to C.

    Attributes:
        vertices: (E, k).
        stiffness: (E, k, k) [N/m].
        damping: (E, k, k) [N s/m].
    """

    vertices: IntArray
    stiffness: FloatArray
    damping: FloatArray


class ConstantMatrix:
    """C of a system, in all steps.

    Args:
        families: whose sum C is; they should couple neighbours only, because wider stencils make the factor larger.
        positions: (V, 3), which determine the cuts of the nested dissection.
    """

    def __init__(self, families: Sequence[ScalarElements], positions: FloatArray) -> None:
        n = len(positions)
        own = np.arange(n) * (n + 1)                               # keys i V + j, i <= j, with the whole diagonal
        pairs = [own, *(_keys(family.vertices, n) for family in families)]
        keys, place = np.unique(np.concatenate(pairs), return_inverse=True)
        place = place.reshape(-1)[n:]
        edge = keys // n != keys % n
        self._tree = NestedDissection(np.column_stack([keys // n, keys % n])[edge], positions)
        self._parts: list[tuple[FloatArray, FloatArray]] = []      # diagonal (V,) and edges (E,), times h^2 and h
        for values in ([f.stiffness for f in families], [f.damping for f in families]):
            flat = np.concatenate([np.zeros(0), *(v.ravel() for v in values)])
            total = np.bincount(place, weights=flat, minlength=len(keys))
            self._parts.append((total[~edge], 0.5 * total[edge]))  # (i, j) and (j, i) have one place
        self._recent: dict[tuple[float, bytes, bytes, bool], BlockCholesky] = {}     # by the values it depends on

    def at(self, h: float, mass: FloatArray, held: IntArray, matrix: BlockMatrix, *,
           filter_: ConstraintFilter | None = None, single: bool = True) -> ConstantMatrixJacobi:
        """Return P for a step of h [s].

        Args:
            mass: (V,) [kg], plus h times the coefficient of viscous drag.
            held: vertices (n,) with directions constrained by pins or contacts. They are taken out of C, even if they
                are free in other directions: if they were left in, filtering the result would spoil the search
                directions.
            matrix: A, for its diagonal.
            filter_: of pins and contacts, which restricts that diagonal.
            single: whether C is in single precision, which is not for tolerances below 1e-6.
        """
        return ConstantMatrixJacobi(self.factor(h, mass, held, single=single), BlockJacobi(matrix, filter_), held)

    def factor(self, h: float, mass: FloatArray, held: IntArray, *, single: bool = True) -> BlockCholesky:
        """Return C^-1, kept for the next call with equal arguments; arguments as of `at`."""
        key = (h, mass.tobytes(), held.tobytes(), single)
        factor = self._recent.pop(key, None)
        if factor is None:
            factor = self._made(h, mass, held, single)
        self._recent[key] = factor                                 # in the order of last use
        if len(self._recent) > FACTORS_KEPT:
            del self._recent[next(iter(self._recent))]
        return factor

    def _made(self, h: float, mass: FloatArray, held: IntArray, single: bool) -> BlockCholesky:
        (K, K_edges), (D, D_edges) = self._parts
        fixed = np.zeros(len(mass), dtype=np.bool_)
        fixed[held] = True
        edges = np.where(fixed[self._tree.edges].any(axis=1), 0.0, h * h * K_edges + h * D_edges)
        return BlockCholesky(self._tree, (mass + h * h * K + h * D)[:, None, None], edges[:, None, None], single=single)


class ConstantMatrixAlone:
    """r -> C^-1 r for free vertices, block Jacobi for constrained ones: for systems whose matrix is C."""

    def __init__(self, constant: BlockCholesky, jacobi: BlockJacobi, held: IntArray) -> None:
        self._constant, self._own, self._held = constant, jacobi.inverse[held], held

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return P^-1 r for r (V, 3)."""
        result = self._constant.solve(r)
        result[self._held] = np.einsum("nij,nj->ni", self._own, r[self._held])
        return result


class ConstantMatrixJacobi:
    """r -> C^-1 r + J^-1 r of one step."""

    def __init__(self, constant: BlockCholesky, jacobi: BlockJacobi, held: IntArray) -> None:
        self._constant, self._jacobi, self._held = constant, jacobi, held

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return P^-1 r for r (V, 3)."""
        result = self._constant.solve(r)
        result[self._held] = 0.0
        result += self._jacobi(r)
        return result


def _keys(vertices: IntArray, n: int) -> IntArray:
    """Return min n + max for every pair of an element's vertices (E, k), in both orders: (E k k,)."""
    a, b = vertices[:, :, None], vertices[:, None, :]
    keys: IntArray = (np.minimum(a, b) * n + np.maximum(a, b)).ravel()
    return keys
