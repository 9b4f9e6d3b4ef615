# SPDX-License-Identifier: GPL-3.0-or-later
"""A preconditioner for a matrix with vectors u_k beside it, by the formula of Sherman, Morrison and Woodbury.

    (P + U U^T)^-1 = P^-1 - Z (I + U^T Z)^-1 Z^T,     Z = P^-1 U

The vectors of different bodies have no vertex in common and P couples no bodies, so that I + U^T Z has one small block
for each body, and one application of P^-1 makes a field of Z.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..constraint_filter import ConstraintFilter
from ..modified_pcg import Operator
from ..side_operator import LowRank


class LowRankCorrection:
    """r -> (P + S U U^T S)^-1 r.

    Args:
        precondition: r -> P^-1 r.
        low_rank: U, of one vector or more.
        filter_: S, of pins and contacts.
    """

    def __init__(self, precondition: Operator, low_rank: LowRank, filter_: ConstraintFilter) -> None:
        self._precondition, self._U = precondition, low_rank
        fields = [filter_.project(field) for field in low_rank.fields]
        self._Z = [filter_.project(precondition(field)) for field in fields]
        block = np.array([[low_rank.sums(u, z) for z in self._Z] for u in fields])                      # (r, r, B)
        self._inverse: FloatArray = np.linalg.inv(block.transpose(2, 0, 1) + np.eye(len(fields)))

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return the product with r (V, 3)."""
        result = self._precondition(r)
        along = np.stack([self._U.sums(z, r) for z in self._Z], axis=1)                                  # (B, r)
        factors = np.einsum("bij,bj->ib", self._inverse, along)
        return result - sum(self._U.times(z, f) for z, f in zip(self._Z, factors, strict=True))
