# SPDX-License-Identifier: GPL-3.0-or-later
"""A fixed-point iteration u -> g(u) that takes the steps before into account (Anderson 1965).

With d = g(u) - u, and differences over the last m iterations of u and of d, dU_j and dD_j,

    theta = argmin | d - sum_j theta_j dD_j |,       u  <-  u + d - sum_j theta_j (dU_j + dD_j)

Peng et al. 2018 use it for projective dynamics. Where u has parts that are prescribed, all iterates have them, and so
has what is combined of them. Who uses it has to see that it helps: it knows no energy.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray

INDEPENDENT = 1e-10
"""Part of the largest singular value below which a combination of the differences says nothing [-]."""


class Anderson:
    """The memory of one iteration; weight (V,) of vertices in the norm; m = `window`."""

    def __init__(self, weight: FloatArray, window: int) -> None:
        self._window = window
        self._root = np.sqrt(weight)[:, None]
        self._u: list[FloatArray] = []
        self._d: list[FloatArray] = []

    def forget(self) -> None:
        """What was iterated is something else from now on."""
        self._u, self._d = [], []

    def next(self, u: FloatArray, g: FloatArray) -> FloatArray | None:
        """Where to go from u (V, 3), with g (V, 3) the end of a plain iteration; None if that is all there is."""
        self._u.append(u)
        self._d.append(g - u)
        del self._u[:-self._window - 1], self._d[:-self._window - 1]
        if len(self._u) < 2:
            return None
        dU, dD = (np.stack([b - a for a, b in zip(x[:-1], x[1:], strict=True)]) for x in (self._u, self._d))
        flat = (self._root * dD).reshape(len(dD), -1)
        gram = np.einsum("in,jn->ij", flat, flat)                            # never threaded: two runs, the same bytes
        theta = np.linalg.pinv(gram, rcond=INDEPENDENT, hermitian=True) @ np.einsum(
            "in,n->i", flat, (self._root * self._d[-1]).ravel())
        result: FloatArray = g - np.einsum("i,ivk->vk", theta, dU + dD)
        return result
