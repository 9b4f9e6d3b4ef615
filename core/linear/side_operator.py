# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators beside a step's matrix: parts of A that couple all vertices of a piece and are never assembled.

    A = matrix + sum_k u_k u_k^T + R

The vectors u_k belong to pieces: the pressure of a piece that depends on its volume has one. R is
symmetric, and parts of it may be indefinite.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ..arrays import FloatArray, IntArray


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

    def sums(self, field: FloatArray, x: FloatArray) -> FloatArray:
        """Return u . x of each body (B,), for one field u and x (V, 3)."""
        product = np.einsum("vi,vi->v", field, x)
        sums: FloatArray = np.array([product.sum()])
        return sums if self.count == 1 else np.bincount(self.body, product, self.count).astype(np.float64)

    def times(self, field: FloatArray, factors: FloatArray) -> FloatArray:
        """Return one field (V, 3) times the factor of each body (B,)."""
        return factors[0] * field if self.count == 1 else factors[self.body][:, None] * field

    def add_product(self, x: FloatArray, total: FloatArray) -> None:
        """Add the product with x (V, 3) to total (V, 3)."""
        for field in self.fields:
            total += self.times(field, self.sums(field, x))


@dataclass(frozen=True)
class SideOperator:
    """sum_k u_k u_k^T + R.

    Attributes:
        low_rank: the vectors u_k.
        rest: the parts of R.
    """

    low_rank: LowRank
    rest: Sequence[Rest] = ()

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
