# SPDX-License-Identifier: GPL-3.0-or-later
"""What conjugate gradients leave of the motion of whole bodies, made up for.

A body that nothing holds moves as one by the sum of its impulses, and that a solve which ends early gets least right.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..linear.modified_pcg import Operator


class Translations:
    """What a matrix A does to translations of whole bodies."""

    def __init__(self, body: IntArray, multiply: Operator) -> None:
        self._body, self._count, self._multiply = body, int(body.max()) + 1, multiply
        self._coarse: FloatArray | None = None

    def balanced(self, rhs: FloatArray, w: FloatArray, filter_: ConstraintFilter) -> FloatArray:
        """w exact on translations: each body that nothing holds gets the impulse it should, however early PCG stopped.

        The Galerkin correction w += T (T^T A T)^-1 T^T (rhs - A w), with T the translations of these bodies.
        """
        free = np.ones(self._count, dtype=bool)
        free[self._body[filter_.rows]] = False
        if not free.any() or not np.isfinite(w).all():
            return w
        if self._coarse is None:                               # nothing else in a solve changes A on free bodies
            self._coarse = np.stack([self._sums(self._multiply(np.tile(axis, (len(rhs), 1)))) for axis in np.eye(3)],
                                    axis=-1)
        shift = np.zeros((len(free), 3))
        lack = self._sums(rhs - self._multiply(w))
        shift[free] = np.linalg.solve(self._coarse[free], lack[free][:, :, None])[:, :, 0]
        return w + shift[self._body]

    def _sums(self, d: FloatArray) -> FloatArray:
        """Sums of d (V, 3) over each body."""
        return np.stack([np.bincount(self._body, weights=column, minlength=self._count) for column in d.T], axis=-1)
