# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands for the stiffness in a step's matrix A, and how systems with it are preconditioned.

    tangent     A = M + h D + h^2 K(x)      Newton's method: assembled anew, multigrid or a direct factor
    constant    A = M + h D + h^2 H         projective dynamics (004): factored once, or as published
    mass        A = M                       explicit methods (003): nothing but the diagonal

Pins, contacts and the loop that solves for them are the same with each: they add to A and filter it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ..arrays import FloatArray
from ..linear.block_matrix import BlockMatrix
from ..linear.constraint_filter import ConstraintFilter
from ..linear.modified_pcg import Operator
from ..linear.preconditioners.block_jacobi import BlockJacobi
from ..linear.preconditioners.select import NO_SOLVES, after
from ..model.elastic_forces import ElasticForces
from ..model.particle_system import System
from ..model.velocity_forces import RateForce
from ..state import SolveHistory

if TYPE_CHECKING:
    from ..description.settings import Solver


class Linearisation(Protocol):
    """Attributes: tangent, whether `matrix` can be the exact one; direct, whether the last preconditioner made solves
    so well that a first guess saves nothing."""

    tangent: bool

    @property
    def direct(self) -> bool:
        """See above."""

    def matrix(self, elastic: ElasticForces, x: FloatArray, h: float, rate: RateForce | None, *,
               exact: bool = False) -> BlockMatrix:
        """A of a step of h [s] at x (V, 3) [m]."""

    def preconditioner(self, h: float, A: BlockMatrix, filter_: ConstraintFilter, tolerance: float) -> Operator:
        """r -> P^-1 r for A with pins and contacts in `filter_`, to solve to `tolerance`."""

    def learn(self, iterations: int, *, touching: bool) -> None:
        """Tell what the solve with the last preconditioner took, and whether anything was `touching` in it."""


class SolveMemory:
    """History of the linear solves while a step is tried: every solve counts, those of rejected tries too."""

    def __init__(self, before: SolveHistory | None) -> None:
        self.history = NO_SOLVES if before is None else before

    def learn(self, iterations: int, worth: int) -> None:
        """Count a solve; arguments as of `select.after`."""
        self.history = after(self.history, iterations, worth)


class Tangent:
    """Newton's."""

    tangent = True

    def __init__(self, system: System, solves: SolveMemory) -> None:
        self._system, self._solves = system, solves
        self.direct = False

    def matrix(self, elastic: ElasticForces, x: FloatArray, h: float, rate: RateForce | None, *,
               exact: bool = False) -> BlockMatrix:
        """M + h D + h^2 K(x), K semi-definite element by element unless `exact`."""
        A = elastic.stiffness(x, h ** 2, exact=exact, room=self._system.room, rate=rate, rate_factor=h)
        A.add_diagonal(self._system.mass)
        return A

    def preconditioner(self, h: float, A: BlockMatrix, filter_: ConstraintFilter, tolerance: float) -> Operator:
        """Multigrid or a factor, by what the solves before took."""
        operator, self.direct = self._system.preconditioner(self._solves.history, h, A, filter_, tolerance)
        return operator

    def learn(self, iterations: int, *, touching: bool) -> None:
        """For the next choice."""
        self._solves.learn(iterations, self._system.preconditioners.worth(touching=touching))


class Constant:
    """Projective dynamics'."""

    tangent = False

    def __init__(self, system: System, settings: Solver) -> None:
        self._constant, self._factored = system.projective, settings.projective_solve == "factor"

    @property
    def direct(self) -> bool:
        """Where there is a factor."""
        return self._factored

    def matrix(self, elastic: ElasticForces, x: FloatArray, h: float, rate: RateForce | None, *,
               exact: bool = False) -> BlockMatrix:
        """M + h D + h^2 H, of which only the drag of triangles depends on x."""
        return self._constant.matrix(h, rate)

    def preconditioner(self, h: float, A: BlockMatrix, filter_: ConstraintFilter, tolerance: float) -> Operator:
        """The factor, kept from step to step; or none, as published."""
        return self._constant.factor(h, A, filter_) if self._factored else _same

    def learn(self, iterations: int, *, touching: bool) -> None:
        """Nothing to choose."""


class Mass:
    """Of explicit methods."""

    tangent = False
    direct = True

    def __init__(self, system: System) -> None:
        self._system = system

    def matrix(self, elastic: ElasticForces, x: FloatArray, h: float, rate: RateForce | None, *,
               exact: bool = False) -> BlockMatrix:
        """M."""
        A = BlockMatrix(self._system.diagonal_pattern)
        A.add_diagonal(self._system.mass)
        return A

    def preconditioner(self, h: float, A: BlockMatrix, filter_: ConstraintFilter, tolerance: float) -> Operator:
        """The inverse itself, as long as cloth does not press on cloth."""
        return BlockJacobi(A, filter_)

    def learn(self, iterations: int, *, touching: bool) -> None:
        """Nothing to choose."""


def _same(r: FloatArray) -> FloatArray:
    return r
