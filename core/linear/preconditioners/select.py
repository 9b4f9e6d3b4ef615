# SPDX-License-Identifier: GPL-3.0-or-later
"""Which preconditioner to take, by what the solves before needed.

Aggregation multigrid is cheap to make and needs as many iterations on fine meshes as on coarse ones; the direct solve
of the neighbours costs as much to make as some dozens of its iterations and needs a few whatever cloth and contacts.
What counts is the work of all solves: a step's first may take long and the ones after its contacts changed, which
start from its answer, be short, so that a mean over the last few decides. When it is above what the direct factor
costs, which the kernels say, the next solves are direct; after some of them multigrid is tried again, and after twice
as many if that was in vain. Sheets of a few vertices are solved directly at once.
Decided by iterations, never by a clock, so that two runs decide alike. docs/performance.md has the measurements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...arrays import FloatArray, IntArray
from ...kernels import current
from ..block_matrix import BlockMatrix, BlockPattern
from ..constraint_filter import ConstraintFilter
from ..modified_pcg import Operator
from .aggregation_multigrid import AggregationMultigrid
from .constant_matrix import ConstantMatrix, ScalarElements
from .neighbour_cholesky import NeighbourCholesky

FEW = 100
"""Vertices up to which the direct factor costs less than the second iteration of anything else."""
TRY_AGAIN, LONGEST = 24, 192
"""Direct solves before multigrid is tried again, and at most: each time in vain doubles them."""
SHARE = 4
"""A solve counts for one in so many in the mean; the one that tries multigrid again begins a new mean."""
AT_MOST = 4
"""A solve counts in the mean as at most so many times the direct factor, so that it is soon forgotten."""
LARGEST = 150_000_000
"""Size of the direct factor above which it is never made [bytes]."""
SINGLE = 1e-6
"""Tolerances below this want double precision [-]."""


class PreconditionerChoice:
    """Preconditioners of one system, in one simulation.

    Args:
        pattern: of its matrices.
        families: gives those of the constant matrix, which takes over where the others find no factor.
        edges: (E, 2), pairs of neighbours.
        positions: (V, 3), where the graph is cut.

    Attributes:
        direct: whether the last one made is the direct factor, with which a first guess saves no iteration;
        slow, slow_in_contact: iterations of multigrid that are worth a direct solve.
    """

    def __init__(self, pattern: BlockPattern, families: Callable[[], Sequence[ScalarElements]], edges: IntArray,
                 positions: FloatArray) -> None:
        self._pattern, self._edges, self._positions = pattern, edges, positions
        self._families = families
        self._multigrid: AggregationMultigrid | None = None        # each made when first needed
        self._constant: ConstantMatrix | None = None
        self._direct: NeighbourCholesky | None = None
        self._left, self._wait = 0, TRY_AGAIN                      # direct solves until multigrid is tried
        self._usual, self._trial = 0.0, False      # mean of its iterations over what is slow; whether it is tried again
        self.direct = False
        self.few = len(positions) <= FEW
        self.slow, self.slow_in_contact = (int(first + second * len(positions) ** 0.5) for first, second in (
            current().multifrontal.WORTH, current().multifrontal.IN_CONTACT))

    def make(self, h: float, mass: FloatArray, filter_: ConstraintFilter, matrix: BlockMatrix,
             tolerance: float) -> Operator:
        """P^-1 for one solve: step h [s], `mass` (V,) as in `ConstantMatrix.at`, A = `matrix`, positive definite."""
        single = tolerance >= SINGLE
        self.direct = False
        try:
            if self._left > 0 or self.few:
                if self._direct is None:
                    self._direct = NeighbourCholesky(self._pattern, self._edges, self._positions)
                if self._direct.bytes(single) <= LARGEST:
                    factor = self._direct.at(matrix, filter_, single=single)
                    self.direct = True
                    return factor
            if self._multigrid is None:
                self._multigrid = AggregationMultigrid(self._pattern, self._edges, self._positions)
            return self._multigrid.at(matrix, filter_, single=single)
        except ArithmeticError:                                    # A is not positive definite: conjugate gradients
            if self._constant is None:                             # will find out, and say so
                self._constant = ConstantMatrix(self._families(), self._positions)
            return self._constant.at(h, mass, filter_.rows, matrix, filter_=filter_, single=single)

    def learn(self, iterations: int, *, touching: bool = False) -> None:
        """Tell what the solve with the last preconditioner made took, and whether anything was `touching` in it."""
        if self._left > 0:
            self._left -= 1
            self._trial = self._left == 0
            return
        taken = iterations / (self.slow_in_contact if touching else self.slow)
        if self._trial:                                            # it speaks for itself, the mean is of long ago
            self._usual = taken
        else:
            self._usual += (min(taken, AT_MOST) - self._usual) / SHARE
        if self._usual > 1.0:
            self._wait = min(2 * self._wait, LONGEST) if self._trial else TRY_AGAIN
            self._left = self._wait
        self._trial = False
