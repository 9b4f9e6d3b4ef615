# SPDX-License-Identifier: GPL-3.0-or-later
"""Anderson acceleration of a fixed-point iteration u -> g(u) (Anderson 1965).

With d = g(u) - u, and differences over the last m iterations of u and of d, dU_j and dD_j,

    theta = argmin | d - sum_j theta_j dD_j |,       u  <-  u + d - sum_j theta_j (dU_j + dD_j)

Peng et al. 2018 use it for projective dynamics. Prescribed parts of u are the same in all iterates, so a combination of
these keeps them. The caller has to check that the result lowers the energy.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray

LEAST_SINGULAR_VALUE = 1e-10
"""Singular values of the differences that are used, at least, over the largest one [-]."""


class Anderson:
    """The last iterates of one iteration.

    Args:
        weight: (V,) weights of the vertices in the norm.
        window: m, number of differences.
    """

    def __init__(self, weight: FloatArray, window: int) -> None:
        self._window = window
        self._root = np.sqrt(weight)[:, None]
        self._u: list[FloatArray] = []
        self._d: list[FloatArray] = []

    def forget(self) -> None:
        """Drop all iterates, because the iteration has changed."""
        self._u, self._d = [], []

    def next(self, u: FloatArray, g: FloatArray) -> FloatArray | None:
        """Return the accelerated iterate after u (V, 3), with g = g(u) (V, 3); None while there is no difference,
        and where the squares of differences are no numbers."""
        self._u.append(u)
        self._d.append(g - u)
        del self._u[:-self._window - 1], self._d[:-self._window - 1]
        if len(self._u) < 2:
            return None
        dU, dD = (np.stack([b - a for a, b in zip(x[:-1], x[1:], strict=True)]) for x in (self._u, self._d))
        flat = (self._root * dD).reshape(len(dD), -1)
        gram = np.einsum("in,jn->ij", flat, flat)                            # not threaded, for identical bytes
        if not np.isfinite(gram).all():
            self.forget()
            return None
        theta = np.linalg.pinv(gram, rcond=LEAST_SINGULAR_VALUE, hermitian=True) @ np.einsum(
            "in,n->i", flat, (self._root * self._d[-1]).ravel())
        result: FloatArray = g - np.einsum("i,ivk->vk", theta, dU + dD)
        return result
