# SPDX-License-Identifier: GPL-3.0-or-later
"""A preconditioner for a matrix with vectors u_k beside it, by deflation.

    M^-1 = (I - Q A) P^-1 (I - A Q) + Q,     Q = W (W^T A W)^-1 W^T,     W = S P^-1 S U

P is near A without U U^T. With P equal to that part, this is (P + U U^T)^-1 itself, the formula of Sherman, Morrison
and Woodbury. M is positive definite with any other W, too (Tang et al. 2009, the method "BNN"), so that the W of one
solve serves the further ones of the same matrix in which contacts, and with these P and S, have changed. That saves an
application of P^-1 in each.

The vectors of different bodies have no vertex in common and A couples no bodies, so that W^T A W has one small block
for each body, and one application of P^-1 makes a field of W. Where A is indefinite, directions of negative curvature
are left out.
"""

from __future__ import annotations

import numpy as np

from ...arrays import SINGLE_PRECISION, FloatArray
from ..block_matrix import BlockMatrix
from ..constraint_filter import ConstraintFilter
from ..modified_pcg import Operator


class LowRankCorrection:
    """r -> M^-1 r.

    Args:
        precondition: r -> P^-1 r.
        A: the matrix, with vectors beside it.
        filter_: S, of pins and contacts.
    """

    def __init__(self, precondition: Operator, A: BlockMatrix, filter_: ConstraintFilter) -> None:
        assert A.beside is not None
        self._precondition, self._U = precondition, A.beside.low_rank
        directions = A.beside.directions
        if not directions:
            directions += [precondition(filter_.project(field)) for field in self._U.fields]
        self._W = [filter_.project(direction) for direction in directions]
        self._AW = [filter_.project(A.multiply(w)) for w in self._W]
        block = np.array([[self._U.sums(w, a) for a in self._AW] for w in self._W])                      # (r, r, B)
        self._inverse = _definite_inverses(block.transpose(2, 0, 1))

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return the product with r (V, 3)."""
        along = self._factors(self._W, r)
        result = r.copy()
        self._add(self._AW, -along, result)
        smoothed = self._precondition(result)
        result = smoothed.copy() if smoothed is result else smoothed
        self._add(self._W, along - self._factors(self._AW, result), result)
        return result

    def _factors(self, fields: list[FloatArray], r: FloatArray) -> FloatArray:
        """Return (W^T A W)^-1 fields^T r (r, B)."""
        factors: FloatArray = np.einsum("bij,jb->ib", self._inverse, np.stack([self._U.sums(f, r) for f in fields]))
        return factors

    def _add(self, fields: list[FloatArray], factors: FloatArray, total: FloatArray) -> None:
        for field, factor in zip(fields, factors, strict=True):
            self._U.add_multiple(field, factor, total)


def _definite_inverses(blocks: FloatArray) -> FloatArray:
    """Return the inverses of symmetric blocks (B, r, r), 0 along directions in which one is not positive."""
    sizes = np.sqrt(np.maximum(np.einsum("bii->bi", blocks), 0.0))
    scale = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
    both = scale[:, :, None] * scale[:, None, :]
    values, axes = np.linalg.eigh(both * blocks)
    parts = np.divide(1.0, values, out=np.zeros_like(values), where=values > SINGLE_PRECISION)
    inverses: FloatArray = both * ((axes * parts[:, None]) @ axes.transpose(0, 2, 1))
    return inverses
