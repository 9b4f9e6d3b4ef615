# SPDX-License-Identifier: GPL-3.0-or-later
"""The left-hand side of projective dynamics (004), for any forces that are a stencil and a law.

    A = M + h D + h^2 H,      H_ij = sum_c omega_c w_ic w_jc  times the 3x3 identity          [N/m]

omega_c is never less than the stiffness at rest, sum_cd d_c . H_cd d_d <= sum_c omega_c |d_c|^2, so that a step with A
falls short of the energy's minimum rather than beyond it. The laws of 004 say themselves what it is, w A; it holds for
them in every state. Of others it is read off at rest and some per cent around it, and where they are stiffer elsewhere
the step is shortened. What bends is in it. D is tau H, and drag: of triangles in blocks on the diagonal, three times a
corner's own, which is as much as all three can do.

The largest omega^2 of M^-1 H says how long explicit steps may be, see `integrators/explicit.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.block_matrix import BlockMatrix, BlockPattern
from ..linear.constraint_filter import ConstraintFilter
from ..linear.modified_pcg import Operator
from ..linear.preconditioners.block_jacobi import BlockJacobi
from ..linear.preconditioners.constant_matrix import ConstantMatrix, ConstantMatrixAlone, ScalarElements
from ..stencils.stencil import ElementForce, Stencil, scalar_blocks
from .velocity_forces import RateForce

ROUNDS = 60
"""Products from which the largest frequency is estimated: to a few per cent, and always from above."""
SMALLEST = 1e-8
"""What y is kept above, as it must be above 0; it is of the order of 1."""
SCALES = (0.97, 1.0, 1.03)
"""Sizes at which stiffness is read off [-]: at rest itself, some laws have none."""
PIECE = 20_000
"""Elements whose tangents are looked at together: those of bending are 225 numbers each."""


class ProjectiveMatrix:
    """H and tau H of a system.

    Args:
        forces: of all its elements.
        x: (V, 3) [m], at rest.
        mass: (V,) [kg]; viscous: (V,) [kg/s].
    """

    def __init__(self, forces: Sequence[ElementForce], x: FloatArray, mass: FloatArray, viscous: FloatArray) -> None:
        self._x, self._mass, self._viscous = x, mass, viscous
        self._pattern = BlockPattern(len(x), [], [force.stencil.vertices for force in forces])
        parts = [_elements(force, x) for force in forces]
        self._elements = [ScalarElements(f.stencil.vertices, K, f.damping * _damping(f, K))
                          for f, K in zip(forces, parts, strict=True)]
        self._stiffness = self._pattern.scalar.assemble(parts)
        self._damping = self._pattern.scalar.assemble([part.damping for part in self._elements])

    def matrix(self, h: float, rate: RateForce | None) -> BlockMatrix:
        """A of a step of h [s] with the drag of `rate`."""
        A = BlockMatrix(self._pattern, None, h * h * self._stiffness + h * self._damping)
        A.add_diagonal(self._mass + h * self._viscous)
        if rate is not None and rate.drags:
            A.add_diagonal(h * drag_blocks(rate, len(self._mass)))
        return A

    def factor(self, h: float, A: BlockMatrix, filter_: ConstraintFilter) -> Operator:
        """A^-1 for a step of h [s], but for what drag and contacts have added to A and where `filter_` takes only some
        of a vertex's directions."""
        factor = self._factors.factor(h, self._mass + h * self._viscous, filter_.rows, single=False)
        return ConstantMatrixAlone(factor, BlockJacobi(A, filter_), filter_.rows)

    @cached_property
    def _factors(self) -> ConstantMatrix:
        return ConstantMatrix(self._elements, self._x)

    def largest(self, held: IntArray) -> tuple[float, float]:
        """Upper bounds of the eigenvalues of M^-1 H [1/s^2] and of M^-1 tau H [1/s], vertices `held` (n,) left out.

        For y > 0 no eigenvalue of B = M^-1 |H| is above max_i (B y)_i / y_i (Collatz 1942), and none of M^-1 H is above
        those of B. The power method makes y a good one.
        """
        free = np.ones(len(self._mass), dtype=np.bool_)
        free[held] = False
        return self._bound(self._stiffness, free), self._bound(self._damping, free)

    def _bound(self, values: FloatArray, free: BoolArray) -> float:
        size = np.abs(values)
        y = np.where(free, 1.0, 0.0)
        best = np.inf
        for _ in range(ROUNDS):
            z = self._pattern.scalar.product(size, np.repeat(y[:, None], 3, axis=1))[:, 0] / self._mass
            top = float(z[free].max(initial=0.0))
            if top == 0.0:
                return 0.0
            best = min(best, float(np.max(z[free] / y[free])))
            y = np.where(free, np.maximum(z / top + y, SMALLEST), 0.0)
        return best


def drag_blocks(rate: RateForce, vertex_count: int) -> FloatArray:
    """(V, 3, 3) [kg/s], no less than the matrix of the triangles' drag: q q^T between every two corners of a triangle
    is at most 3 q q^T on each."""
    total = np.zeros((vertex_count, 9))
    for drag in rate.drags:
        blocks = (3.0 * drag.vectors[:, :, None] * drag.vectors[:, None, :]).reshape(-1, 9)
        vertices = drag.stencil.vertices
        for entry in range(9):
            weights = np.repeat(blocks[:, entry], vertices.shape[1])
            total[:, entry] += np.bincount(vertices.ravel(), weights=weights, minlength=vertex_count)
    return total.reshape(-1, 3, 3)


def _damping(force: ElementForce, K: FloatArray) -> FloatArray:
    """What is no less than the damping of each element (E, k, k), over the force's own factor: K, as a rule."""
    if not hasattr(force.law, "damping_bounds"):
        return K
    return _isotropic(np.stack(force.law.damping_bounds(force.parameters), axis=1), force.stencil.weights)


def _elements(force: ElementForce, x: FloatArray) -> FloatArray:
    """H of each element (E, k, k) [N/m]."""
    if force.law.constant_tangent:
        return scalar_blocks(force)
    return _isotropic(_bounds(force, x), force.stencil.weights)


def _isotropic(omega: FloatArray, w: FloatArray) -> FloatArray:
    """sum_c omega_c w_ic w_jc (E, k, k) of omega (E, C) and weights (E, k, C)."""
    total: FloatArray = np.einsum("ec,eic,ejc->eij", omega, w, w, optimize=True)
    return total


def _bounds(force: ElementForce, x: FloatArray) -> FloatArray:
    """omega_c (E, C) [N/m per weight squared]."""
    if hasattr(force.law, "tangent_bounds"):
        return np.stack(force.law.tangent_bounds(force.parameters), axis=1)
    vertices, weights = force.stencil.vertices, force.stencil.weights
    found = []
    for first in range(0, len(vertices), PIECE):
        some = slice(first, first + PIECE)
        stencil = Stencil(vertices[some], weights[some])
        p = tuple(p[some] for p in force.parameters)
        size = np.zeros((len(stencil.vertices), weights.shape[2], weights.shape[2]))           # of each block
        for scale in SCALES:
            H = np.array(force.law.projected_tangent(stencil.gather(scale * x), p))
            size = np.maximum(size, np.sqrt(np.einsum("cdije,cdije->ecd", H, H)))
        own = np.einsum("ecc->ec", size)
        # scaled by sqrt(own), no row of blocks sums to more than `most`, and so no eigenvalue is above it
        root = np.sqrt(np.maximum(own, np.finfo(float).tiny))
        most = (size / (root[:, :, None] * root[:, None, :])).sum(axis=2).max(axis=1)
        found.append(most[:, None] * own)
    return np.concatenate(found) if found else np.zeros((0, weights.shape[2]))
