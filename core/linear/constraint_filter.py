# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter of 001: the directions of particles that are constrained, and their prescribed velocities.

    S_i = I                      3 degrees of freedom
    S_i = I - p p^T              2
    S_i = I - p p^T - q q^T      1
    S_i = 0                      0

Baraff and Witkin 1998, section 5.1. Constraints add up: a particle that is pinned along x and rests on a floor has
two constrained directions. The prescribed values are in z, which the solver reads in the constrained directions only.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..kernels.layouts import OperatorArrays
from ..row_ops import any_of

LEAST_FREE_PART = 1e-6
"""Length of a unit direction's free part below which it counts as constrained already [-]."""


class ConstraintFilter:
    """S and z of `vertex_count` particles, all free at first.

    Attributes:
        rows: (n,), constrained particles, sorted.
        taken: (n, 3, 3), their constrained directions, orthonormal rows; unused rows are zero.
        count: (n,), number of constrained directions.
        z: (V, 3), prescribed values.
    """

    def __init__(self, vertex_count: int) -> None:
        self.rows: IntArray = np.zeros(0, dtype=np.int64)
        self.taken: FloatArray = np.zeros((0, 3, 3))
        self.count: IntArray = np.zeros(0, dtype=np.int64)
        self.z: FloatArray = np.zeros((vertex_count, 3))
        self._blocks: FloatArray | None = np.zeros((0, 3, 3))   # S_i of `rows`, once computed
        self._number: IntArray = np.full(vertex_count, -1)      # index of every particle in `rows`, -1 for none

    def copy(self) -> ConstraintFilter:
        """Return an independent copy, to add contacts to the pins of a step."""
        other = ConstraintFilter(0)
        other.taken, other.count, other.z = self.taken.copy(), self.count.copy(), self.z.copy()
        other.rows, other._number, other._blocks = self.rows, self._number, self._blocks    # never written into
        return other

    def shifted(self, change: FloatArray) -> ConstraintFilter:
        """Return an independent copy whose z is larger by `change` (V, 3)."""
        other = self.copy()
        other.z += change
        return other

    def fix(self, vertices: IntArray, change: FloatArray) -> None:
        """Constrain all three directions of `vertices` (n,), and prescribe their `change` (n, 3)."""
        for axis in range(3):
            direction = np.zeros((len(vertices), 3))
            direction[:, axis] = 1.0
            self.constrain(vertices, direction, change[:, axis])

    def constrain(self, vertices: IntArray, directions: FloatArray, change: FloatArray,
                  least: float = LEAST_FREE_PART) -> None:
        """Constrain a unit direction (n, 3) of each of `vertices` (n,), and prescribe `change` (n,) along it.

        Each vertex may occur once in a call. Earlier constraints stay: of the direction, only the part orthogonal to
        them is constrained, and nothing if that part is shorter than `least`.
        """
        if len(vertices) == 0:
            return
        at = self._rows_of(vertices)
        current().constraint_directions.take(at, vertices, directions, change, least, self.taken, self.count, self.z)
        self._blocks = None

    @property
    def blocks(self) -> FloatArray:
        """Return the projections S_i (n, 3, 3) of the constrained particles."""
        if self._blocks is None:
            self._blocks = current().constraint_directions.free(self.taken, self.count)
        return self._blocks

    def degrees_of_freedom(self, vertices: IntArray) -> IntArray:
        """Return ndof of `vertices` (n,): 3, 2, 1 or 0."""
        ndof = np.full(len(self.z), 3)
        ndof[self.rows] = 3 - self.count
        return ndof[vertices]

    def numbered(self) -> tuple[IntArray, FloatArray]:
        """Return the index of every particle among the constrained ones (V,), -1 if free, and their S_i (n, 3, 3)."""
        return self._number, self.blocks

    def project(self, d: FloatArray) -> FloatArray:
        """Return S d for d (V, 3), as a new array."""
        result = d.copy()
        if len(self.rows):
            current().block_matrix.project(self.rows, self.blocks, result)
        return result

    @property
    def projection(self) -> Projection:
        """Return d -> S d with the constraints of now, for a solve."""
        return Projection(self)

    def left_of(self, direction: FloatArray, vertices: IntArray) -> FloatArray:
        """Return S_i n (P, K, 3) for a direction n (P, 3) at each of `vertices` (P, K)."""
        result = np.repeat(direction[:, None, :], vertices.shape[1], axis=1)
        if len(self.rows):
            at = np.minimum(np.searchsorted(self.rows, vertices), len(self.rows) - 1)
            held = self.rows[at] == vertices
            taken = self.taken[at[held]]
            result[held] -= np.einsum("nki,nkj,nj->ni", taken, taken, result[held])
        return result

    def leaves_some(self, direction: FloatArray, vertices: IntArray, some: BoolArray, least: float) -> BoolArray:
        """Return whether more than `least` [-] of a unit direction (P, 3) is left to any of `some` (P, K) of `vertices`
        (P, K)."""
        left = np.einsum("pki,pi->pk", self.left_of(direction, vertices), direction)
        return any_of((left > least) & some)

    def _rows_of(self, vertices: IntArray) -> IntArray:
        at = self._number[vertices]
        missing = vertices[at < 0]
        if len(missing):
            self._make_room(missing)
            at = self._number[vertices]
        return at

    def _make_room(self, missing: IntArray) -> None:
        """Insert rows for the `missing` particles (n,), in the order of all particles."""
        before, taken, count = self.rows, self.taken, self.count
        self.rows = np.sort(np.concatenate([before, missing]))
        self.taken, self.count = np.zeros((len(self.rows), 3, 3)), np.zeros(len(self.rows), dtype=np.int64)
        self._number = np.full(len(self.z), -1)
        self._number[self.rows] = np.arange(len(self.rows))
        if len(before):
            at = self._number[before]
            self.taken[at], self.count[at] = taken, count


class Projection:
    """d -> S d for d (V, 3), as a new array.

    Attributes:
        arrays: as compiled kernels take it.
    """

    def __init__(self, filter_: ConstraintFilter) -> None:
        self._filter = filter_
        self.arrays = OperatorArrays("projection", (filter_.rows, filter_.blocks))

    def __call__(self, d: FloatArray) -> FloatArray:
        """Return S d."""
        return self._filter.project(d)
