# SPDX-License-Identifier: GPL-3.0-or-later
"""Select the preconditioner of a solve from the iteration counts of the solves before.

Aggregation multigrid is cheap to set up, and its iteration count hardly depends on the mesh width. The direct factor of
the neighbours' blocks costs as much to make as some dozens of multigrid iterations, and needs a few iterations whatever
the cloth and the contacts. What counts is the work of all solves: the first solve of a step may be long, and the ones
after its contacts changed, which start from its solution, be short. So a running mean of the iteration counts decides.
Above the count whose work equals a direct solve, which the kernels give, the next solves are direct; after `wait` of
these, multigrid is tried again, and after twice as many each time that it is still too slow. Systems of a few vertices
are always solved directly.

The memory of this is a value, `SolveHistory`: `Preconditioners.make` reads it, `after` returns the next one. It counts
iterations and never reads a clock, so that two runs select alike. docs/decisions/0011 has the timings.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from ...arrays import SINGLE_PRECISION, FloatArray, IntArray
from ...kernels.tuning import tuning
from ...state import SolveHistory
from ..block_matrix import BlockMatrix, BlockPattern
from ..constraint_filter import ConstraintFilter
from ..modified_pcg import Operator
from .aggregation_multigrid import AggregationMultigrid
from .constant_matrix import ConstantMatrix, ScalarElements
from .neighbour_cholesky import NeighbourCholesky

ALWAYS_DIRECT, DIRECT_IN_FLIGHT = 100, 3000
"""Largest number of vertices at which every solve is direct, and every one of a step without contact [-]: the factor
costs no more than a few iterations, and motion lasts only as long as it is solved well."""
FIRST_WAIT, LONGEST_WAIT = 24, 192
"""Direct solves before multigrid is tried again, at first and at most [-]."""
MEAN_WEIGHT = 0.25
"""Weight of the last solve in the running mean of iteration counts [-]."""
LARGEST_COUNT = 4.0
"""Largest iteration count that enters the mean, over the count that is worth a direct solve [-]."""
LARGEST_FACTOR = 150_000_000
"""Largest size of a direct factor [bytes]."""

NO_SOLVES = SolveHistory(direct_left=0, wait=FIRST_WAIT, mean=0.0, trial=False)
"""History at the start of a simulation."""


def after(history: SolveHistory, iterations: int, worth: int) -> SolveHistory:
    """Return the history after a solve with the preconditioner that was made for `history`.

    Args:
        iterations: of conjugate gradients in that solve.
        worth: multigrid iterations whose work equals a direct solve, as `Preconditioners.worth` gives them.
    """
    if history.direct_left > 0:
        return replace(history, direct_left=history.direct_left - 1, trial=history.direct_left == 1)
    count = iterations / worth
    # a trial begins a new mean: the old one is from before the wait
    mean = count if history.trial else history.mean + (min(count, LARGEST_COUNT) - history.mean) * MEAN_WEIGHT
    if mean <= 1.0:
        return SolveHistory(0, history.wait, mean, False)
    wait = min(2 * history.wait, LONGEST_WAIT) if history.trial else FIRST_WAIT
    return SolveHistory(wait, wait, mean, False)


class Preconditioners:
    """The preconditioners of one system. Each is set up once, from constants of the system: by `prepare`, or when it is
    first needed.

    Args:
        pattern: of its matrices.
        families: returns the families of the constant matrix, which is used where the others find no factor.
        edges: (E, 2), pairs of neighbours.
        positions: (V, 3), for the nested dissection of the graph.
    """

    def __init__(self, pattern: BlockPattern, families: Callable[[], Sequence[ScalarElements]], edges: IntArray,
                 positions: FloatArray) -> None:
        self._pattern, self._edges, self._positions = pattern, edges, positions
        self._families = families
        self._worth, self._worth_in_contact = (
            int(min(first + second * len(positions) ** 0.5, most)) for first, second, most in (
                tuning().direct_worth, tuning().direct_worth_in_contact))

    def prepare(self) -> None:
        """Set up what the first solves select from. It takes as long as some frames, and would delay a single one."""
        _ = self._direct
        if len(self._positions) > ALWAYS_DIRECT:
            _ = self._multigrid

    @cached_property
    def _direct(self) -> NeighbourCholesky:
        return NeighbourCholesky(self._pattern, self._edges, self._positions)

    @cached_property
    def _multigrid(self) -> AggregationMultigrid:
        return AggregationMultigrid(self._pattern, self._edges, self._positions)

    @cached_property
    def _constant(self) -> ConstantMatrix:
        return ConstantMatrix(self._families(), self._positions)

    def worth(self, *, touching: bool) -> int:
        """Return the multigrid iterations whose work equals a direct solve, with or without contacts in it."""
        return self._worth_in_contact if touching else self._worth

    def make(self, history: SolveHistory, h: float, mass: FloatArray, filter_: ConstraintFilter, matrix: BlockMatrix,
             tolerance: float, *, in_flight: bool = False) -> tuple[Operator, bool]:
        """Return r -> P^-1 r for one solve, and whether it is the direct factor, which makes a first guess needless.

        Args:
            history: of the solves before.
            h: step [s].
            mass: (V,) [kg], as in `ConstantMatrix.at`.
            filter_: of pins and contacts.
            matrix: A, positive definite.
            tolerance: of the solve [-].
            in_flight: whether the step is one without contact.
        """
        always = len(self._positions) <= (DIRECT_IN_FLIGHT if in_flight else ALWAYS_DIRECT)
        single = tolerance >= SINGLE_PRECISION
        try:
            if (history.direct_left > 0 or always) and self._direct.bytes(single) <= LARGEST_FACTOR:
                return self._direct.at(matrix, filter_, single=single), True
            return self._multigrid.at(matrix, filter_, single=single), False
        except ArithmeticError:         # A is not positive definite: conjugate gradients detect this, and report it
            return self._constant.at(h, mass, filter_.rows, matrix, filter_=filter_, single=single), False
