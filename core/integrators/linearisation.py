# SPDX-License-Identifier: GPL-3.0-or-later
"""Linearisations: the matrix A of a step, and its preconditioner.

    tangent     A = M + h D + h^2 K(x)      Newton's method: assembled anew; multigrid or a direct factor
    constant    A = M + h D + h^2 H         projective dynamics (004): factored once, or without preconditioner
    mass        A = M                       explicit integrators (003): the diagonal

Pins, contacts and their active-set loop are the same for all: they add to A and filter it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..arrays import FloatArray
from ..linear.block_matrix import BlockMatrix
from ..linear.constraint_filter import ConstraintFilter
from ..linear.modified_pcg import Operator
from ..linear.preconditioners.block_jacobi import BlockJacobi
from ..linear.preconditioners.low_rank import LowRankCorrection
from ..linear.preconditioners.select import NO_SOLVES, after
from ..model.elastic_forces import ElasticForces
from ..model.particle_system import ParticleSystem
from ..model.turned_start import TurnedStart
from ..model.velocity_forces import RateForce
from ..state import SolveHistory

if TYPE_CHECKING:
    from ..description.settings import Solver


class Linearisation(Protocol):
    """The interface of linearisations.

    Attributes:
        tangent: whether `matrix` can be the exact derivative.
    """

    tangent: bool

    @property
    def direct(self) -> bool:
        """Return whether the last preconditioner is a direct factor, which makes a first guess needless."""

    def matrix(self, elastic: ElasticForces, x: FloatArray, h: float, rate: RateForce | None, *,
               exact: bool = False, definite: bool = False) -> BlockMatrix:
        """Return A of a step of h [s] at x (V, 3) [m]; `exact`, `definite`: as of `ElasticForces.stiffness`."""

    def preconditioner(self, h: float, A: BlockMatrix, filter_: ConstraintFilter, tolerance: float) -> Operator:
        """Return r -> P^-1 r for A, with pins and contacts in `filter_`, for a solve to `tolerance`."""

    def learn(self, iterations: int, *, touching: bool) -> None:
        """Count the iterations of the last solve; `touching`: whether contacts acted in it."""


class SolveMemory:
    """History of the linear solves while a step is tried: every solve counts, those of rejected tries too."""

    def __init__(self, before: SolveHistory | None) -> None:
        self.history = NO_SOLVES if before is None else before

    def learn(self, iterations: int, worth: int) -> None:
        """Count a solve; arguments as of `select.after`."""
        self.history = after(self.history, iterations, worth)


class Tangent:
    """The tangent stiffness, for Newton's method, in a step with or without (`in_flight`) contact."""

    tangent = True

    def __init__(self, system: ParticleSystem, solves: SolveMemory, *, in_flight: bool) -> None:
        self._system, self._solves, self._in_flight = system, solves, in_flight
        self.direct = False

    def matrix(self, elastic: ElasticForces, x: FloatArray, h: float, rate: RateForce | None, *,
               exact: bool = False, definite: bool = False) -> BlockMatrix:
        """Return M + h D + h^2 K(x), K semi-definite in each element unless `exact`, and in all if `definite`."""
        A = elastic.stiffness(x, h ** 2, exact=exact, definite=definite, room=self._system.workspace, rate=rate,
                              rate_factor=h)
        A.add_diagonal(self._system.mass)
        return A

    def turned(self, elastic: ElasticForces, start: TurnedStart, x: FloatArray, h: float, rate: RateForce | None, *,
               definite: bool) -> tuple[BlockMatrix, FloatArray]:
        """Return the matrix at the turned `start`, and the linear elastic force (V, 3) [N] at x (V, 3) [m]."""
        A, force = elastic.linearised(start, x, h ** 2, definite=definite, room=self._system.workspace, rate=rate,
                                      rate_factor=h)
        A.add_diagonal(self._system.mass)
        return A, force

    def preconditioner(self, h: float, A: BlockMatrix, filter_: ConstraintFilter, tolerance: float) -> Operator:
        """Return multigrid or a direct factor, selected by the history of solves."""
        try:
            operator, self.direct = self._system.preconditioner(self._solves.history, h, A, filter_, tolerance,
                                                                  in_flight=self._in_flight)
        except ArithmeticError:                                # rounding leaves no coarse factor: the diagonal alone
            operator, self.direct = BlockJacobi(A, filter_), False
        return corrected(operator, A, filter_)

    def learn(self, iterations: int, *, touching: bool) -> None:
        """Count the solve for the next selection."""
        self._solves.learn(iterations, self._system.preconditioners.worth(touching=touching))


class Constant:
    """The constant stiffness of projective dynamics, that of a keyed fabric at `time` [s]."""

    tangent = False

    def __init__(self, system: ParticleSystem, settings: Solver, time: float) -> None:
        self._constant, self._factored = system.projective(time), settings.projective_solve == "factor"

    @property
    def direct(self) -> bool:
        """Return whether the matrix is factored."""
        return self._factored

    def matrix(self, elastic: ElasticForces, x: FloatArray, h: float, rate: RateForce | None, *,
               exact: bool = False, definite: bool = False) -> BlockMatrix:
        """Return M + h D + h^2 H; only the drag of triangles, and pressure that depends on the volume, depend on x."""
        return self._constant.matrix(h, rate, elastic.beside(x, h ** 2, definite=True))

    def preconditioner(self, h: float, A: BlockMatrix, filter_: ConstraintFilter, tolerance: float) -> Operator:
        """Return the factor, which is kept from step to step, or the identity, as published."""
        if not self._factored:
            return corrected(_same, A, filter_, near=False)
        try:
            return corrected(self._constant.factor(h, A, filter_), A, filter_)
        except ArithmeticError:                                # rounding leaves no factor: conjugate gradients alone
            return BlockJacobi(A, filter_)

    def learn(self, iterations: int, *, touching: bool) -> None:
        """Do nothing: there is one preconditioner."""


class Mass:
    """The mass matrix, for explicit integrators."""

    tangent = False
    direct = True

    def __init__(self, system: ParticleSystem) -> None:
        self._system = system

    def matrix(self, elastic: ElasticForces, x: FloatArray, h: float, rate: RateForce | None, *,
               exact: bool = False, definite: bool = False) -> BlockMatrix:
        """Return M."""
        A = BlockMatrix(self._system.diagonal_pattern)
        A.add_diagonal(self._system.mass)
        return A

    def preconditioner(self, h: float, A: BlockMatrix, filter_: ConstraintFilter, tolerance: float) -> Operator:
        """Return M^-1, exact as long as no contact by pairs adds to A."""
        return BlockJacobi(A, filter_)

    def learn(self, iterations: int, *, touching: bool) -> None:
        """Do nothing: there is one preconditioner."""


def corrected(precondition: Operator, A: BlockMatrix, filter_: ConstraintFilter, *, near: bool = True) -> Operator:
    """Return the preconditioner of A, from that of its assembled part; `near`: as of `LowRankCorrection`."""
    if A.beside is None or not A.beside.low_rank.fields:
        return precondition
    return LowRankCorrection(precondition, A, filter_, near=near)


def _same(r: FloatArray) -> FloatArray:
    return r
