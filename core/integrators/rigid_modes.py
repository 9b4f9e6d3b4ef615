# SPDX-License-Identifier: GPL-3.0-or-later
"""Correct the translation of free bodies after a solve.

A free body moves as a whole by the sum of its impulses. Conjugate gradients that end early get that part least right.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..linear.modified_pcg import Operator


class Translations:
    """Translations of whole bodies under a matrix A.

    Args:
        body: (V,) body of each vertex.
        multiply: x -> A x.
    """

    def __init__(self, body: IntArray, multiply: Operator) -> None:
        self._body, self._count, self._multiply = body, int(body.max()) + 1, multiply
        self._coarse: FloatArray | None = None

    def balanced(self, rhs: FloatArray, w: FloatArray, filter_: ConstraintFilter) -> FloatArray:
        """Return w (V, 3) with the exact impulse on the translations of all free bodies.

        This is the Galerkin correction w += T (T^T A T)^-1 T^T (rhs - A w), with T the translations of free bodies.
        """
        free = np.ones(self._count, dtype=bool)
        free[self._body[filter_.rows]] = False
        if not free.any() or not np.isfinite(w).all():
            return w
        if self._coarse is None:                               # A on free bodies is the same in all solves
            self._coarse = np.stack([self._sums(self._multiply(np.tile(axis, (len(rhs), 1)))) for axis in np.eye(3)],
                                    axis=-1)
        shift = np.zeros((len(free), 3))
        lack = self._sums(rhs - self._multiply(w))
        try:
            shift[free] = np.linalg.solve(self._coarse[free], lack[free][:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:                          # masses below the smallest number
            return w
        return w + shift[self._body]

    def _sums(self, d: FloatArray) -> FloatArray:
        """Return the sums of d (V, 3) over each body (B, 3)."""
        return np.stack([np.bincount(self._body, weights=column, minlength=self._count) for column in d.T], axis=-1)
