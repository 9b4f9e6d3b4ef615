# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a system that depend on positions only: element forces, pressure and weight."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..linear.block_matrix import BlockMatrix, BlockPattern
from ..linear.scalar_matrix import ScalarMatrix, ScalarPattern
from ..linear.side_operator import SideOperator
from ..stencils.stencil import ElementForce, Stencil, scalar_blocks, scalar_row_sums
from .force_families import changing, families
from .latest import Latest
from .matrix_free import MatrixFree
from .pressure_forces import PressureAt
from .turned_start import TurnedStart
from .velocity_forces import RateForce


class ElasticForces:
    """Energy, force and stiffness of element forces, pressure and a constant weight (V, 3) [N].

    Forces whose stiffness is constant are in the scalar part of the matrix. The others are assembled, or `matrix_free`
    makes an `ImplicitMatrix` of them. The stiffness of `pressure` is an operator beside the matrix.
    """

    def __init__(self, forces: Sequence[ElementForce], pattern: BlockPattern, weight: FloatArray,
                 constant: ConstantStiffness, matrix_free: MatrixFree | None = None,
                 pressure: PressureAt | None = None) -> None:
        self._pattern, self._weight, self._constant, self._matrix_free = pattern, weight, constant, matrix_free
        self._pressure = pressure
        self._free: FloatArray | None = None
        self._families = families(forces)
        self._acting = families(force for force in forces if not force.law.linear)
        self._acting_constant = families(
            force for force in forces if not force.law.linear and force.law.constant_tangent)
        self._changing = changing(forces)

    def in_step(self, x: FloatArray, free: FloatArray, h: float, gravity: FloatArray) -> ElasticForces:
        """Return the forces in a step; arguments as of `PressureAt.in_step`."""
        result = copy(self)
        result._free = free
        if self._pressure is not None:
            result._pressure = self._pressure.in_step(x, free, h, gravity)
        return result

    def energy(self, x: FloatArray) -> float:
        """Return the elastic energy and that of the gas minus weight . x [J] at x (V, 3)."""
        gas = 0.0 if self._pressure is None else self._pressure.energy(x)
        return sum((current().element_families.energy(family, x) for family in self._families),
                   start=gas - float(np.sum(self._weight * x)))

    def force(self, x: FloatArray) -> FloatArray:
        """Return f = -dE/dx + weight (V, 3) [N] at x (V, 3)."""
        total = self._weight.copy()
        if self._constant.linear is not None:
            total -= self._constant.linear.product(x)
        for family in self._acting:
            current().element_families.add_force(family, x, total)
        if self._pressure is not None:
            self._pressure.add_force(x, total)
        return total

    def magnitude(self, x: FloatArray) -> FloatArray:
        """Return the sum of the absolute contributions to each entry of `force`, the measure of its rounding error."""
        total = np.abs(self._weight)
        for family in self._families:
            stencil = family[0].stencil
            F = stencil.gather(x)
            sizes = Stencil(stencil.vertices, np.abs(stencil.weights), held=True)
            for force in family:
                P = force.law.stress(F, force.parameters)
                total += sizes.scatter(tuple((np.abs(a), np.abs(b), np.abs(c)) for a, b, c in P), len(x))
        if self._pressure is not None:
            self._pressure.add_magnitude(x, total)
        return total

    def beside(self, x: FloatArray, factor: float, *, definite: bool) -> SideOperator | None:
        """Return `factor` K of the pressure at x (V, 3) [m], None without any; `definite`: its semi-definite part."""
        if self._pressure is None:
            return None
        operator = self._pressure.stiffness(x, factor)
        return operator.definite() if definite else operator

    def stiffness(self, x: FloatArray, factor: float, *, exact: bool = False, definite: bool = False,
                  room: FloatArray | None = None, rate: RateForce | None = None,
                  rate_factor: float = 0.0) -> BlockMatrix:
        """Return `factor` K + `rate_factor` D with K = -df/dx at x (V, 3), made semi-definite in each element unless
        `exact`.

        The pressure in closed pieces may make K indefinite, unless `definite`. D is the matrix of `rate`. `room`
        (pattern.size,) is memory for the result, of a matrix that is no longer used.
        """
        return self._matrix(x, factor, exact=exact, definite=definite, room=room, rate=rate, rate_factor=rate_factor)

    def linearised(self, start: TurnedStart, x: FloatArray, factor: float, *, definite: bool = False,
                   room: FloatArray | None = None, rate: RateForce | None = None, rate_factor: float = 0.0
                   ) -> tuple[BlockMatrix, FloatArray]:
        """Return the matrix of `stiffness` with the elements at the turned `start`, and the linear force f (V, 3) [N]
        at x (V, 3).

        Elements of constant stiffness are taken at x. Those of a law with branches act as if x were the end. The force
        contains damping along changing conditions.
        """
        total = self._weight.copy()
        if self._constant.linear is not None:
            total -= self._constant.linear.product(x)
        for family in self._acting_constant:
            current().element_families.add_force(family, x, total)
        if self._pressure is not None:
            self._pressure.add_force(x, total)
        A = self._matrix(x, factor, definite=definite, room=room, rate=rate, rate_factor=rate_factor, start=start,
                         total=total)
        return A, total

    def _matrix(self, x: FloatArray, factor: float, *, exact: bool = False, definite: bool,
                room: FloatArray | None, rate: RateForce | None, rate_factor: float, start: TurnedStart | None = None,
                total: FloatArray | None = None) -> BlockMatrix:
        """Return the matrix of `stiffness`; with a `start`, add the linear forces of elements at x to `total` (V, 3).
        """
        rate_factor = 0.0 if rate is None else rate_factor
        damping = 0.0 if rate is None else rate_factor * rate.share
        damped_at = TurnedStart(x, 1.0) if rate is None else rate.damped_at
        beside = self.beside(x, factor, definite=definite)
        scalar = self._constant.sum(factor, damping)
        kernels, layout = current().element_families, self._pattern.layout
        acting, free = self._changing, x if self._free is None else self._free
        if start is not None:
            acting = [kernels.expected(family, x, free) for family in acting]
        if self._matrix_free is not None:
            return self._matrix_free.matrix(acting, x, factor, scalar, exact=exact, rate=rate,
                                            rate_factor=rate_factor, beside=beside, start=start, total=total)
        matrix = BlockMatrix(self._pattern, room, scalar, beside)
        if room is not None:
            current().block_matrix.clear(room)
        drags = {} if rate is None else {
            self._pattern.family(drag.stencil.vertices): (drag.stencil, np.sqrt(rate_factor) * drag.vectors)
            for drag in rate.drags}
        for family in acting:
            number = self._pattern.family(family[0].stencil.vertices)
            _, common = drags.pop(number, (None, None))
            places = self._pattern.positions(number)
            if start is not None and total is not None:
                turn = start.turn(family)
                kernels.add_linearised(family, start.x, turn, x, factor, places, layout, matrix.data, total,
                                       damping=damping, common=common)
            else:
                kernels.add_tangents(family, x, factor, places, layout, matrix.data, exact=exact,
                                     damped_at=damped_at.x, damped_turn=damped_at.turn(family), damping=damping,
                                     common=common)
        for number, (stencil, common) in drags.items():
            kernels.add_common(stencil, common, self._pattern.positions(number), layout, matrix.data)
        if rate is not None:
            for drag in rate.drags:
                matrix.add_row_sums(rate_factor * drag.row_sums(len(x)))
        if rate is not None and rate.viscous is not None:
            matrix.add_diagonal(rate_factor * rate.viscous)
        if rate is not None and rate.blocks is not None:
            matrix.add_diagonal(rate_factor * rate.blocks)
        return matrix


class ConstantStiffness:
    """Stiffness K and damping of the forces whose law has a constant tangent, as matrices of scalars.

    Args:
        forces: all forces of the system.
        pattern: of the matrices.
        again: whether further ones are made on this pattern.

    Attributes:
        linear: K of linear laws only, None if there are none.
        damping: K of each force times its damping [s], None if there is none.
    """

    def __init__(self, forces: Sequence[ElementForce], pattern: ScalarPattern, *, again: bool = False) -> None:
        constant = [force for force in forces if force.law.constant_tangent]
        entries = [scalar_blocks(force) for force in constant]
        sums = [scalar_row_sums(force.stencil, part, pattern.vertex_count)
                for force, part in zip(constant, entries, strict=True)]

        def matrix(factors: list[float]) -> ScalarMatrix:
            """Return the sum of K of each force times its factor."""
            parts = [factor * part for factor, part in zip(factors, sums, strict=True) if part is not None]
            return ScalarMatrix(
                pattern, pattern.assemble([factor * part for factor, part in zip(factors, entries, strict=True)]),
                sum(parts[1:], start=parts[0]) if parts else None)

        def scaled(factors: list[float]) -> ScalarMatrix | None:
            """Return K of each force times its factor, None if all are zero."""
            first = factors[0] if factors else 0.0
            if any(factor != first for factor in factors):
                return matrix(factors)
            return None if first == 0.0 else self._stiffness if first == 1.0 else first * self._stiffness

        self._stiffness = matrix([1.0] * len(constant))
        self.linear = scaled([float(force.law.linear) for force in constant])
        self.damping = scaled([force.damping for force in constant])
        self._latest_sum: Latest[tuple[float, float], ScalarMatrix] = Latest()
        if not again:
            pattern.forget_elements()

    def sum(self, factor: float, damping_factor: float) -> ScalarMatrix:
        """Return `factor` K + `damping_factor` times the damping."""
        return self._latest_sum.at((factor, damping_factor), self._made_sum)

    def _made_sum(self, factors: tuple[float, float]) -> ScalarMatrix:
        total = factors[0] * self._stiffness
        return total if self.damping is None else total + factors[1] * self.damping


def edge_stiffness(edges: IntArray, stiffness: FloatArray) -> FloatArray:
    """Return an estimate of the stiffness of edges (E, 2) as springs (E,) [N/m].

    stiffness: (V,) trace of each vertex's block of K [N/m]. The edges of a vertex share it; a spring adds to both ends.
    """
    share = stiffness / np.maximum(np.bincount(edges.ravel(), minlength=len(stiffness)), 1)
    mean: FloatArray = 0.5 * (share[edges[:, 0]] + share[edges[:, 1]])
    return mean
