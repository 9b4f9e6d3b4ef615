# SPDX-License-Identifier: GPL-3.0-or-later
"""A preconditioner for a matrix with vectors u_k beside it, by deflation where they are stiff.

    M^-1 = (I - W B Z^T) P^-1 (I - Z B W^T) + W B W^T,     B = (W^T Z)^-1,     Z = A W,     W = S P^-1 S U

P is near A without U U^T. With P equal to that part, this is (P + U U^T)^-1 itself, the formula of Sherman, Morrison
and Woodbury. M is positive definite with any other W (Tang et al. 2009, the method "BNN"), and with any other Z and
positive definite B, as it is written. So W of one solve serves the further ones of the same matrix, in which contacts,
and with these P, S and the diagonal of A, have changed. Z follows that diagonal: it decides how good M is where pairs
press. That saves an application of P^-1 and a product with A in each.

W costs an application of P^-1 for each field, and Z a product. Where U U^T is soft, P^-1 alone does as well. A solve
tells by the first vector that it preconditions, its right-hand side b: with c = P^-1 b,

    c^T U U^T c <= c^T P c = b^T c     implies     b^T (P + U U^T)^-1 b >= 1/2 b^T P^-1 b

so that a tolerance in the norm of P^-1 is one in the norm of M^-1, the energy of the error, up to a factor of sqrt 2.
Otherwise P^-1 would measure b by a motion that U U^T does not allow, and stop too early.

The vectors of different bodies have no vertex in common and A couples no bodies, so that W^T Z has one small block
for each body, and one application of P^-1 makes a field of W. Where A is indefinite, directions of negative curvature
are left out.
"""

from __future__ import annotations

import numpy as np

from ...arrays import SINGLE_PRECISION, FloatArray
from ...kernels import current
from ...row_ops import any_of
from ..block_matrix import BlockMatrix
from ..constraint_filter import ConstraintFilter
from ..modified_pcg import Operator


class LowRankCorrection:
    """r -> M^-1 r.

    Its first argument is the right-hand side of the solve, which decides whether it deflates.

    Args:
        precondition: r -> P^-1 r.
        A: the matrix, with vectors beside it.
        filter_: S, of pins and contacts.
        near: whether P is near A without these vectors; of any other P nothing can be told, and it deflates.
    """

    def __init__(self, precondition: Operator, A: BlockMatrix, filter_: ConstraintFilter, *, near: bool = True) -> None:
        assert A.beside is not None
        self._precondition, self._A, self._filter, self._U = precondition, A, filter_, A.beside.low_rank
        self._known = A.beside.directions
        self._decided = self._deflates = bool(self._known) or not near
        if self._deflates:
            self._deflate()

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return the product with r (V, 3)."""
        if not self._decided:
            smoothed = self._precondition(r)
            self._decided, self._deflates = True, self._is_stiff(r, smoothed)
            if not self._deflates:
                return smoothed
            self._deflate()
        return self._deflated(r) if self._deflates else self._precondition(r)

    def _is_stiff(self, b: FloatArray, c: FloatArray) -> bool:
        """Return whether U U^T adds more than P has along c = P^-1 b (V, 3)."""
        c = self._filter.project(c)
        added = sum(float(np.sum(self._U.sums(field, c) ** 2)) for field in self._U.fields)
        return added > current().gradients.dot(b, c)

    def _deflate(self) -> None:
        """Find W, or take that of an earlier solve with the matrix, Z and B."""
        A, filter_ = self._A, self._filter
        if not self._known:
            found = [filter_.project(self._precondition(filter_.project(field))) for field in self._U.fields]
            self._known += [(w, A.multiply(w), A.row_sums.copy()) for w in found]
        self._W = [filter_.project(w) for w, _, _ in self._known]
        self._Z = [filter_.project(_with_change(z, w, before, A.row_sums)) for w, z, before in self._known]
        block = np.array([[self._U.sums(w, z) for z in self._Z] for w in self._W])                       # (r, r, B)
        self._inverse = _definite_inverses(0.5 * (block + block.transpose(1, 0, 2)).transpose(2, 0, 1))

    def _deflated(self, r: FloatArray) -> FloatArray:
        """Return M^-1 r for r (V, 3)."""
        along = self._factors(self._W, r)
        result = r.copy()
        self._add(self._Z, -along, result)
        smoothed = self._precondition(result)
        result = smoothed.copy() if smoothed is result else smoothed
        self._add(self._W, along - self._factors(self._Z, result), result)
        return result

    def _factors(self, fields: list[FloatArray], r: FloatArray) -> FloatArray:
        """Return B fields^T r (r, B)."""
        factors: FloatArray = np.einsum("bij,jb->ib", self._inverse, np.stack([self._U.sums(f, r) for f in fields]))
        return factors

    def _add(self, fields: list[FloatArray], factors: FloatArray, total: FloatArray) -> None:
        for field, factor in zip(fields, factors, strict=True):
            self._U.add_multiple(field, factor, total)


def _with_change(product: FloatArray, w: FloatArray, before: FloatArray, now: FloatArray) -> FloatArray:
    """Return the `product` of a matrix with w (V, 3) after contacts have added blocks on its diagonal.

    before, now: (V, 3, 3) sums of its rows.
    """
    i = np.arange(3)                                           # the blocks are those of contacts: their diagonals tell
    rows = np.flatnonzero(any_of(now[:, i, i] != before[:, i, i]))
    if len(rows) == 0:
        return product
    result = product.copy()
    result[rows] += np.einsum("vij,vj->vi", now[rows] - before[rows], w[rows])
    return result


def _definite_inverses(blocks: FloatArray) -> FloatArray:
    """Return the inverses of symmetric blocks (B, r, r), 0 along directions in which one is not positive."""
    if blocks.shape[1] == 1:
        single: FloatArray = np.divide(1.0, blocks, out=np.zeros_like(blocks), where=blocks > 0.0)
        return single
    sizes = np.sqrt(np.maximum(np.einsum("bii->bi", blocks), 0.0))
    scale = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0.0)
    both = scale[:, :, None] * scale[:, None, :]
    values, axes = np.linalg.eigh(both * blocks)
    parts = np.divide(1.0, values, out=np.zeros_like(values), where=values > SINGLE_PRECISION)
    inverses: FloatArray = both * ((axes * parts[:, None]) @ axes.transpose(0, 2, 1))
    return inverses
