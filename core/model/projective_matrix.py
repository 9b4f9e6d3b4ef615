# SPDX-License-Identifier: GPL-3.0-or-later
"""The constant matrix of projective dynamics (004), for any forces that are a stencil and a law.

    A = M + h D + h^2 H,      H_ij = sum_c omega_c w_ic w_jc  times the 3x3 identity          [N/m]

For projective dynamics omega_c bounds the stiffness, sum_cd d_c . H_cd d_d <= sum_c omega_c |d_c|^2, so that a step
with A falls short of the energy's minimum rather than beyond it. The laws of 004 state the bound w A, which holds in
every state. The bound of other laws is read at rest and some per cent around it; where they are stiffer elsewhere, the
step is shortened. Bending is included. D is tau H, and the drag of triangles as blocks on the diagonal, three times
that of each corner, which bounds all three corners together.

The preconditioner of last resort (`linear/preconditioners/constant_matrix.py`) uses the same form with omega_c =
|H_cc|, the Frobenius norm at rest. That is the stiffness of laws that act along one direction per column, and up to
sqrt(3) times that of soft pins. Bending is left out there: it couples two rings of vertices, which would double every
separator of the factor, and adds B / (k dx^2), less than a thousandth, to the stiffness in the plane of the cloth.

The largest omega^2 of M^-1 H limits the length of explicit steps, see `integrators/stability_limit.py`.
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
from ..linear.scalar_matrix import ScalarMatrix
from ..linear.side_operator import SideOperator
from ..stencils.stencil import ELEMENTS_PER_BATCH, ElementForce, Stencil, scalar_blocks, scalar_row_sums
from .velocity_forces import RateForce

POWER_ITERATIONS = 60
"""Iterations of the power method for the largest frequency, which give it to a few per cent, from above [-]."""
READING_SCALES = (0.97, 1.0, 1.03)
"""Scales of the rest shape at which stiffness is read [-]: exactly at rest, some laws have none."""
WIDEST_ELEMENT = 3
"""Largest number of vertices of an element in the preconditioner [-]: wider elements are those of bending."""


class ProjectiveMatrix:
    """H and tau H of a system, with omega_c that bound the stiffness.

    Args:
        forces: of all its elements.
        x: (V, 3) positions at rest [m].
        mass: (V,) [kg].
        viscous: (V,) coefficients of viscous drag [kg/s].
    """

    def __init__(self, forces: Sequence[ElementForce], x: FloatArray, mass: FloatArray, viscous: FloatArray) -> None:
        self._x, self._mass, self._viscous = x, mass, viscous
        self._pattern = BlockPattern(len(x), [], [force.stencil.vertices for force in forces])
        self._elements = constant_elements(forces, x, bounding=True)
        stencils = [force.stencil for force in forces]
        self._stiffness = self._matrix(stencils, [part.stiffness for part in self._elements])
        self._damping = self._matrix(stencils, [part.damping for part in self._elements])

    def _matrix(self, stencils: Sequence[Stencil], blocks: Sequence[FloatArray]) -> ScalarMatrix:
        """Return the matrix of elements with scalar blocks (E, k, k)."""
        pattern = self._pattern.scalar
        sums = [scalar_row_sums(stencil, part, pattern.vertex_count)
                for stencil, part in zip(stencils, blocks, strict=True)]
        there = [part for part in sums if part is not None]
        return ScalarMatrix(pattern, pattern.assemble(blocks), sum(there[1:], start=there[0]) if there else None)

    def matrix(self, h: float, rate: RateForce | None, beside: SideOperator | None = None) -> BlockMatrix:
        """Return A of a step of h [s] with the drag and the force fields of `rate`, and the operator `beside` it."""
        A = BlockMatrix(self._pattern, None, h * h * self._stiffness + h * self._damping, beside)
        A.add_diagonal(self._mass + h * self._viscous)
        if rate is not None and rate.drags:
            # q q^T between every two corners of a triangle is at most 3 q q^T on each
            for drag in rate.drags:
                A.add_diagonal(h * drag.row_sums(len(self._mass)))
        if rate is not None and rate.blocks is not None:
            A.add_diagonal(h * rate.blocks)
        return A

    def factor(self, h: float, A: BlockMatrix, filter_: ConstraintFilter) -> Operator:
        """Return A^-1 for a step of h [s], without the drag and contacts that were added to A; exact where `filter_`
        takes no direction of a vertex or all of them."""
        factor = self._factors.factor(h, self._mass + h * self._viscous, filter_.rows, single=False)
        return ConstantMatrixAlone(factor, BlockJacobi(A, filter_), filter_.rows)

    @cached_property
    def _factors(self) -> ConstantMatrix:
        return ConstantMatrix(self._elements, self._x)

    def largest(self, held: IntArray) -> tuple[float, float]:
        """Return upper bounds of the eigenvalues of M^-1 H [1/s^2] and of M^-1 tau H [1/s], without vertices `held`
        (n,).

        For y > 0 no eigenvalue of B = M^-1 |H| is above max_i (B y)_i / y_i (Collatz 1942), and none of M^-1 H is above
        those of B. The power method makes y a good one.
        """
        free = np.ones(len(self._mass), dtype=np.bool_)
        free[held] = False
        return self._bound(self._stiffness, free), self._bound(self._damping, free)

    def _bound(self, matrix: ScalarMatrix, free: BoolArray) -> float:
        size = self._pattern.scalar.with_sums(np.abs(matrix.values))
        y = np.where(free, 1.0, 0.0)
        best = np.inf
        for _ in range(POWER_ITERATIONS):
            z = size.product(np.repeat(y[:, None], 3, axis=1))[:, 0] / self._mass
            top = float(z[free].max(initial=0.0))
            if top == 0.0:
                return 0.0
            best = min(best, float(np.max(z[free] / y[free])))
            y = np.where(free, z / top + y, 0.0)                        # never below its start, 1
        return best


def constant_elements(forces: Sequence[ElementForce], x: FloatArray, *, bounding: bool) -> list[ScalarElements]:
    """Return the constant stiffness H and damping tau H of the elements of each force, at x (V, 3) [m].

    Args:
        forces: element forces; tau [s] is the damping of each, over its stiffness.
        x: (V, 3) rest positions [m].
        bounding: take weights omega_c that bound the stiffness in every state, for projective dynamics. Otherwise take
            the norms of the stiffness at rest, and leave out elements of more than `WIDEST_ELEMENT` vertices, for the
            preconditioner.
    """
    result = []
    for force in forces:
        stencil = force.stencil
        if bounding:
            K = scalar_blocks(force) if force.law.constant_tangent else _isotropic(_bounds(force, x), stencil.weights)
            damping = K
            if hasattr(force.law, "damping_bounds"):
                bounds = np.stack(force.law.damping_bounds(force.parameters), axis=1)
                damping = _isotropic(bounds, stencil.weights)
        elif stencil.vertices.shape[1] <= WIDEST_ELEMENT:
            K = damping = _isotropic(stiffness_norms(force, x), stencil.weights)
        else:
            continue
        result.append(ScalarElements(stencil.vertices, K, force.damping * damping))
    return result


def _isotropic(omega: FloatArray, w: FloatArray) -> FloatArray:
    """Return sum_c omega_c w_ic w_jc (E, k, k) of omega (E, C) and weights (E, k, C)."""
    total: FloatArray = np.einsum("ec,eic,ejc->eij", omega, w, w, optimize=True)
    return total


def stiffness_norms(force: ElementForce, x: FloatArray) -> FloatArray:
    """Return |H_cc| (E, C) [N/m per weight squared] at x (V, 3) [m]."""
    H = force.law.projected_tangent(force.stencil.gather(x), force.parameters)
    return np.stack([np.sqrt(sum(entry * entry for row in H[c][c] for entry in row)) for c in range(len(H))], axis=1)


def _bounds(force: ElementForce, x: FloatArray) -> FloatArray:
    """Return omega_c (E, C) [N/m per weight squared] that bound the stiffness at rest, x (V, 3) [m], and around it."""
    if hasattr(force.law, "tangent_bounds"):
        return np.stack(force.law.tangent_bounds(force.parameters), axis=1)
    vertices, weights = force.stencil.vertices, force.stencil.weights
    found = []
    for first in range(0, len(vertices), ELEMENTS_PER_BATCH):
        some = slice(first, first + ELEMENTS_PER_BATCH)
        stencil = Stencil(vertices[some], weights[some], held=force.stencil.held)
        p = tuple(p[some] for p in force.parameters)
        size = np.zeros((len(stencil.vertices), weights.shape[2], weights.shape[2]))           # of each block
        for scale in READING_SCALES:
            H = np.array(force.law.projected_tangent(stencil.gather(scale * x), p))
            size = np.maximum(size, np.sqrt(np.einsum("cdije,cdije->ecd", H, H)))
        own = np.einsum("ecc->ec", size)
        own = np.where(own > 0.0, own, size.max(axis=2))         # a column may act by its coupling to others alone
        # scaled by sqrt(own), no row of blocks sums to more than `most`, and so no eigenvalue is above it
        root = np.sqrt(np.maximum(own, np.finfo(float).tiny))
        most = (size / (root[:, :, None] * root[:, None, :])).sum(axis=2).max(axis=1)
        found.append(most[:, None] * own)
    return np.concatenate(found) if found else np.zeros((0, weights.shape[2]))
