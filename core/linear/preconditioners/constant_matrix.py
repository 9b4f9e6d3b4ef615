# SPDX-License-Identifier: GPL-3.0-or-later
"""Projective dynamics' matrix beside block Jacobi: stiff motion by the one, soft motion by the other.

    P^-1 = C^-1 + J^-1,     C = M + h^2 sum_elements sum_c omega_c w_c w_c^T   (times the 3x3 identity)

C is the left-hand side of 004 (projective dynamics), with omega_c the stiffness of column c at rest, and h omega_c of
its damping on top: a scalar matrix that changes with nothing but the step and the pins, factored once for each
of them. J is the 3x3 diagonal of the real A of this step.

Why both: C takes a fabric for as stiff across its plane as along it. A slack or folded sheet is softer there by
a factor of up to k h^2 / (m dx^2), a million on a fine mesh, and C alone answers those motions with next to nothing. J
knows every vertex's soft direction. The sum takes whichever is larger, and twice the answer where both are right.
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
"""Factors of the steps and pins last used that are kept: a step that was halved will be doubled again."""


@dataclass(frozen=True)
class ScalarElements:
    """A family's part of C: vertices (E, k), stiffness (E, k, k) [N/m] and damping (E, k, k) [N s/m]."""

    vertices: IntArray
    stiffness: FloatArray
    damping: FloatArray


class ConstantMatrix:
    """C of a system, for all its steps.

    Args:
        families: what C consists of; their graph should be that of neighbours, as wider stencils fill the factor.
        positions: (V, 3), where the graph is cut.
    """

    def __init__(self, families: Sequence[ScalarElements], positions: FloatArray) -> None:
        n = len(positions)
        own = np.arange(n) * (n + 1)                               # keys i V + j, i <= j; all of the diagonal exists
        pairs = [own, *(_keys(family.vertices, n) for family in families)]
        keys, place = np.unique(np.concatenate(pairs), return_inverse=True)
        place = place.reshape(-1)[n:]
        edge = keys // n != keys % n
        self._tree = NestedDissection(np.column_stack([keys // n, keys % n])[edge], positions)
        self._parts: list[tuple[FloatArray, FloatArray]] = []      # diagonal (V,) and edges (E,), of h^2 and of h
        for values in ([f.stiffness for f in families], [f.damping for f in families]):
            flat = np.concatenate([np.zeros(0), *(v.ravel() for v in values)])
            total = np.bincount(place, weights=flat, minlength=len(keys))
            self._parts.append((total[~edge], 0.5 * total[edge]))  # (i, j) and (j, i) came to one place
        self._factors: dict[tuple[float, bytes, bytes, bool], BlockCholesky] = {}

    def at(self, h: float, mass: FloatArray, held: IntArray, matrix: BlockMatrix, *,
           filter_: ConstraintFilter | None = None, single: bool = True) -> ConstantMatrixJacobi:
        """P for a step of h [s].

        Args:
            mass: (V,) [kg], and h times what else resists every motion of a vertex, such as viscous drag.
            held: vertices (n,) that pins or contacts take directions of: they are taken out of C, even if they may move
                in others. To leave them in is worse: what is filtered away afterwards spoils the directions.
            matrix: A, for its diagonal.
            filter_: of pins and contacts, which restricts that diagonal.
            single: C in single precision; not for tolerances below 1e-6.
        """
        return ConstantMatrixJacobi(self.factor(h, mass, held, single=single), BlockJacobi(matrix, filter_), held)

    def factor(self, h: float, mass: FloatArray, held: IntArray, *, single: bool = True) -> BlockCholesky:
        """C^-1 itself, kept for the next that asks for the same; arguments as of `at`."""
        key = (h, mass.tobytes(), held.tobytes(), single)
        factor = self._factors.pop(key, None)
        if factor is None:
            factor = self._made(h, mass, held, single)
        self._factors[key] = factor                                # last used, last to go
        if len(self._factors) > FACTORS_KEPT:
            del self._factors[next(iter(self._factors))]
        return factor

    def _made(self, h: float, mass: FloatArray, held: IntArray, single: bool) -> BlockCholesky:
        (K, K_edges), (D, D_edges) = self._parts
        fixed = np.zeros(len(mass), dtype=np.bool_)
        fixed[held] = True
        edges = np.where(fixed[self._tree.edges].any(axis=1), 0.0, h * h * K_edges + h * D_edges)
        return BlockCholesky(self._tree, (mass + h * h * K + h * D)[:, None, None], edges[:, None, None], single=single)


class ConstantMatrixAlone:
    """r -> C^-1 r where nothing is taken, block Jacobi where something is: for systems whose matrix is C."""

    def __init__(self, constant: BlockCholesky, jacobi: BlockJacobi, held: IntArray) -> None:
        self._constant, self._own, self._held = constant, jacobi.inverse[held], held

    def __call__(self, r: FloatArray) -> FloatArray:
        """P^-1 r for r (V, 3)."""
        result = self._constant.solve(r)
        result[self._held] = np.einsum("nij,nj->ni", self._own, r[self._held])
        return result


class ConstantMatrixJacobi:
    """r -> C^-1 r + J^-1 r of one step."""

    def __init__(self, constant: BlockCholesky, jacobi: BlockJacobi, held: IntArray) -> None:
        self._constant, self._jacobi, self._held = constant, jacobi, held

    def __call__(self, r: FloatArray) -> FloatArray:
        """P^-1 r for r (V, 3)."""
        result = self._constant.solve(r)
        result[self._held] = 0.0
        result += self._jacobi(r)
        return result


def _keys(vertices: IntArray, n: int) -> IntArray:
    """min n + max of every pair of an element's vertices (E, k), both orders: (E k k,)."""
    a, b = vertices[:, :, None], vertices[:, None, :]
    keys: IntArray = (np.minimum(a, b) * n + np.maximum(a, b)).ravel()
    return keys
