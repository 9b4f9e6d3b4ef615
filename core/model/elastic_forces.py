# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a system that depend on positions alone: every element force, and weight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import FloatArray
from ..kernels import current
from ..linear.block_matrix import BlockMatrix, BlockPattern
from ..linear.scalar_matrix import ScalarPattern
from ..stencils.stencil import ElementForce, Stencil, scalar_blocks
from .matrix_free import MatrixFree
from .velocity_forces import RateForce


class ElasticForces:
    """Energy, force and stiffness of element forces and a constant weight (V, 3) [N].

    Forces whose stiffness is constant are in the scalar part of the matrix. The others are assembled, or `matrix_free`
    makes an `ImplicitMatrix` of them.
    """

    def __init__(self, forces: Sequence[ElementForce], pattern: BlockPattern, weight: FloatArray,
                 constant: ConstantStiffness, matrix_free: MatrixFree | None = None) -> None:
        self._pattern, self._weight, self._constant, self._matrix_free = pattern, weight, constant, matrix_free
        self._families = by_stencil(forces)
        self._acting = by_stencil(force for force in forces if not force.law.linear)
        self._changing = changing_families(forces)
        self._energies: list[tuple[FloatArray, float]] = []

    def energy(self, x: FloatArray) -> float:
        """Elastic energy minus weight . x [J] at x (V, 3); looked up for one of the last two arrays asked for: a step
        starts where another has ended."""
        for known, energy in self._energies:
            if known is x:
                return energy
        found = sum((current().element_families.energy(family, x) for family in self._families),
                    start=-float(np.sum(self._weight * x)))
        self._energies = [(x, found), *self._energies[:1]]
        return found

    def force(self, x: FloatArray) -> FloatArray:
        """f = -dE/dx + weight (V, 3) [N] at x (V, 3)."""
        total = self._weight.copy()
        if self._constant.linear is not None:
            total -= self._pattern.scalar.product(self._constant.linear, x)
        for family in self._acting:
            current().element_families.add_force(family, x, total)
        return total

    def magnitude(self, x: FloatArray) -> FloatArray:
        """Sum of the absolute contributions to each entry of `force`: what its rounding error is relative to."""
        total = np.abs(self._weight)
        for family in self._families:
            stencil = family[0].stencil
            F = stencil.gather(x)
            sizes = Stencil(stencil.vertices, np.abs(stencil.weights))
            for force in family:
                P = force.law.stress(F, force.parameters)
                total += sizes.scatter(tuple((np.abs(a), np.abs(b), np.abs(c)) for a, b, c in P), len(x))
        return total

    def stiffness(self, x: FloatArray, factor: float, *, exact: bool = False, room: FloatArray | None = None,
                  rate: RateForce | None = None, rate_factor: float = 0.0) -> BlockMatrix:
        """`factor` K + `rate_factor` D with K = -df/dx at x (V, 3), made semi-definite in each element unless `exact`.

        D is the matrix of `rate`. `room` (pattern.size,) is overwritten with the numbers: those of a matrix that is no
        longer needed.
        """
        rate_factor = 0.0 if rate is None else rate_factor
        if self._matrix_free is not None:
            return self._matrix_free.matrix(self._changing, x, factor, self._constant.sum(factor, rate_factor),
                                            exact=exact, rate=rate, rate_factor=rate_factor)
        matrix = BlockMatrix(self._pattern, room, self._constant.sum(factor, rate_factor))
        if room is not None:
            room[:] = 0.0
        drags = {} if rate is None else {
            self._pattern.family(drag.stencil.vertices): (drag.stencil, np.sqrt(rate_factor) * drag.vectors)
            for drag in rate.drags}
        kernels, layout = current().element_families, self._pattern.layout
        for family in self._changing:
            number = self._pattern.family(family[0].stencil.vertices)
            _, common = drags.pop(number, (None, None))
            kernels.add_tangents(family, x, factor, self._pattern.positions(number), layout, matrix.data, exact=exact,
                                 damped_at=x if rate is None else rate.x, damping=rate_factor, common=common)
        for number, (stencil, common) in drags.items():
            kernels.add_common(stencil, common, self._pattern.positions(number), layout, matrix.data)
        if rate is not None and rate.viscous is not None:
            matrix.add_diagonal(rate_factor * rate.viscous)
        return matrix


def by_stencil(forces: Iterable[ElementForce]) -> list[list[ElementForce]]:
    """Forces that share a stencil together, as they gather and assemble once."""
    families: dict[int, list[ElementForce]] = {}
    for force in forces:
        families.setdefault(id(force.stencil), []).append(force)
    return list(families.values())


def changing_families(forces: Iterable[ElementForce]) -> list[list[ElementForce]]:
    """Return the forces whose stiffness changes with positions, grouped by stencil."""
    return by_stencil(force for force in forces if not force.law.constant_tangent)


class ConstantStiffness:
    """Of the forces whose law has a constant tangent: their stiffness K and damping, as values on the scalar pattern.

    Attributes:
        linear: K of linear laws alone; damping: K of each force times its damping [s], None if there is none.
    """

    def __init__(self, forces: Sequence[ElementForce], pattern: ScalarPattern) -> None:
        constant = [force for force in forces if force.law.constant_tangent]
        entries = [scalar_blocks(force) for force in constant]
        self._stiffness = pattern.assemble(entries)

        def values(factors: list[float]) -> FloatArray | None:
            """K of each force times its factor, None where all are zero."""
            first = factors[0] if factors else 0.0
            if any(factor != first for factor in factors):
                return pattern.assemble([factor * part for factor, part in zip(factors, entries, strict=True)])
            return None if first == 0.0 else self._stiffness if first == 1.0 else first * self._stiffness

        self.linear = values([float(force.law.linear) for force in constant])
        self.damping = values([force.damping for force in constant])
        self._sum: tuple[float, float, FloatArray] | None = None
        pattern.forget_elements()

    def sum(self, factor: float, damping_factor: float) -> FloatArray:
        """`factor` K + `damping_factor` times the damping. Steps are of one size as a rule, so it is kept."""
        if self._sum is None or self._sum[:2] != (factor, damping_factor):
            total = factor * self._stiffness
            if self.damping is not None:
                total += damping_factor * self.damping
            self._sum = factor, damping_factor, total
        return self._sum[2]
