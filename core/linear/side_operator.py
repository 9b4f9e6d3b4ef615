# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators beside a step's matrix: parts of A that couple all vertices of a piece and are never assembled.

    A = matrix + sum_k u_k u_k^T + R

The vectors u_k belong to pieces: the pressure of a piece that depends on its volume has one. R is
symmetric, and parts of it may be indefinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current


class Rest(Protocol):
    """A part of R.

    Attributes:
        definite: whether it is positive semi-definite.
    """

    definite: bool

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add its product with x (V, 3) to total (V, 3)."""


@dataclass(frozen=True)
class LowRank:
    """sum_k u_k u_k^T, whose vectors are stored together where they have no vertex in common.

    Attributes:
        fields: (V, 3) each; the rows of a body in a field are one vector u_k.
        body: (V,) body of each vertex; no matrix couples two of them.
        count: number of bodies.
    """

    fields: Sequence[FloatArray]
    body: IntArray
    count: int

    def sums(self, u: FloatArray, x: FloatArray) -> FloatArray:
        """Return u . x of each body (B,), for one field u and x (V, 3)."""
        if self.count == 1:
            return np.array([current().gradients.dot(u, x)])
        sums: FloatArray = np.bincount(self.body, np.einsum("vi,vi->v", u, x), self.count).astype(np.float64)
        return sums

    def add_multiple(self, u: FloatArray, factors: FloatArray, total: FloatArray) -> None:
        """Add one field u (V, 3), times the factor of each body (B,), to total (V, 3)."""
        if self.count == 1:
            current().gradients.add_scaled(float(factors[0]), u, total)
        else:
            total += factors[self.body][:, None] * u

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add the product with x (V, 3) to total (V, 3)."""
        for u in self.fields:
            self.add_multiple(u, self.sums(u, x), total)


@dataclass(frozen=True)
class SideOperator:
    """sum_k u_k u_k^T + R.

    Attributes:
        low_rank: the vectors u_k.
        rest: the parts of R.
        directions: w (V, 3), about P^-1 u_k, A w (V, 3), and the sums of the rows of A (V, 3, 3) then; found by the
            first preconditioner of a matrix, and used by the further ones that changes of its contacts ask for.
    """

    low_rank: LowRank
    rest: Sequence[Rest] = ()
    directions: list[tuple[FloatArray, FloatArray, FloatArray]] = field(default_factory=list)

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add the product with x (V, 3) to total (V, 3)."""
        self.low_rank.add_product(x, total)
        for part in self.rest:
            part.add_product(x, total)

    @property
    def is_definite(self) -> bool:
        """Return whether it is positive semi-definite for certain."""
        return all(part.definite for part in self.rest)

    def definite(self) -> SideOperator:
        """Return the operator without the parts that may be indefinite."""
        return replace(self, rest=[part for part in self.rest if part.definite])
