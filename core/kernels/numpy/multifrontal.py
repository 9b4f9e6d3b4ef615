# SPDX-License-Identifier: GPL-3.0-or-later
"""The multifrontal Cholesky factor in NumPy: a few batches of dense products per level of the tree.

With a front's own rows o and its boundary b, elimination leaves

    D = F_oo^-1,    W = D F_ob,    U = F_bb - F_ob^T W   (added to the parent's front)

and A x = r is solved by y_b -= W^T y_o from the leaves to the root and x_o = D y_o - W x_b from the root to the leaves.
The inverses are stored instead of triangles, so that a solve consists of products only. D is symmetric positive
definite and the way down is the transpose of the way up, so that the operator is symmetric and positive definite up to
rounding.

No LAPACK is used: its calls on many small matrices are up to a hundred times slower when the library starts threads for
each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import NUMBERS_PER_PIECE, FloatArray, IntArray

Numbers = npt.NDArray[np.floating[Any]]

TINY: dict[Any, float] = {np.float32: 1e-18, np.float64: 1e-150}
"""Largest absolute value that is set to zero, in factors whose largest numbers are near one [-]. Products of smaller
numbers are denormal and take a processor a hundred times as long; the influence on a far vertex of a stiff sheet decays
below that."""
LARGEST_ENTRYWISE = 8
"""Largest size of matrices that are inverted entry by entry, a batch at once [-]."""


def plan(levels: Sequence[Any], slots: int) -> Any:
    """Return the data that the functions below need of a tree: levels, slots, and the slot of each vertex.

    levels: of `FrontLevel`, leaves first. slots: number of places for vertices, padding included.
    """
    slot = np.empty(sum(len(level.vertices) for level in levels), dtype=np.int64)
    for level in levels:
        slot[level.vertices] = level.start + level.node * level.own + level.row
    return levels, slots, slot


def numbers(plan: Any) -> int:
    """Return the count of numbers in the factor of a scalar matrix, padding included."""
    return sum(level.nodes * level.own * (level.own + level.boundary) for level in plan[0])


def factor(plan: Any, diagonal: FloatArray, off_diagonal: FloatArray, working: Any, kept: Any, old: Any = None) -> Any:
    """Return the factor of diagonal (V, w, w) and off_diagonal (E, w, w), computed in `working`, kept in `kept`.

    Both are types of numbers. A factor `old` of this plan may be overwritten.

    Raises:
        ArithmeticError: the matrix is not positive definite.
    """
    update: Numbers = np.zeros(0)
    below, factors = None, []
    for level in plan[0]:
        D, W, update = _eliminate(level, diagonal, off_diagonal, update, below, working)
        factors.append((D.astype(kept, copy=False), W.astype(kept, copy=False)))
        below = level
    return factors


def memory(factor: Any) -> int:
    """Return the size of a factor [bytes]."""
    return sum(D.nbytes + W.nbytes for D, W in factor)


def solve(plan: Any, factor: Any, r: FloatArray, scale: float, size: float) -> FloatArray:
    """Return size P^-1 r / scale for r (V, w, columns), whose largest absolute value is `scale`."""
    levels, slots, slot = plan
    _, w, given = r.shape
    columns = max(given, 2)              # for one column BLAS has another routine, whose result depends on threads
    y: Numbers = np.zeros((slots + 1, w, columns), dtype=factor[0][0].dtype)
    y[slot, :, :given] = r / scale                                           # single precision has a narrow range
    y = y.reshape(slots + 1, w * columns)
    _up(levels, factor, y, w, columns)
    _down(levels, factor, y, w, columns)
    result: FloatArray = y.reshape(-1, w, columns)[slot, :, :given].astype(np.float64)
    result *= size
    return result


def _up(levels: Sequence[Any], factor: Any, y: Numbers, w: int, columns: int) -> None:
    """Solve from the leaves to the root: update y in place.

    y (slots w, columns): right-hand side. w: size of a block.
    """
    update, below = np.zeros(0, dtype=np.float32), None
    for level, (_, W) in zip(levels, factor, strict=True):
        m, own = level.nodes, level.own
        mine = y[level.start:level.start + m * own].reshape(m, own, -1)
        outer: Numbers = np.zeros(1, dtype=y.dtype)
        if below is not None and below.boundary:
            sums: Numbers = np.zeros((m, own + level.boundary + 1, w * columns), dtype=y.dtype)
            node = np.arange(m)[:, None]
            parts = update.reshape(m, -1, below.boundary, w * columns)
            for child in range(parts.shape[1]):
                sums[node, below.parent_place[:, child]] += parts[:, child]
            mine += sums[:, :own]
            outer = sums[:, own:-1].reshape(m, -1, columns)
        if level.boundary:
            update = outer - W.transpose(0, 2, 1) @ mine.reshape(m, own * w, columns)
        below = level


def _down(levels: Sequence[Any], factor: Any, y: Numbers, w: int, columns: int) -> None:
    """Solve from the root to the leaves: update y in place. Arguments are those of `_up`."""
    for level, (D, W) in zip(reversed(levels), reversed(factor), strict=True):
        m, own = level.nodes, level.own
        mine = y[level.start:level.start + m * own]
        x = D @ mine.reshape(m, own * w, columns)
        if level.boundary:
            x -= W @ y.take(level.outer, axis=0).reshape(m, level.boundary * w, columns)
        mine[:] = x.reshape(m * own, -1)


def _eliminate(level: Any, diagonal: FloatArray, off_diagonal: FloatArray, update: Numbers, below: Any,
               working: Any) -> tuple[Numbers, Numbers, Numbers]:
    """Eliminate the fronts of one level; return D, W and U of each (see above).

    diagonal, off_diagonal: blocks of the matrix. update, below: the children's U, and the level below, None at the
    leaves. working: type of the numbers.
    """
    w = diagonal.shape[1]
    m, o = level.nodes, level.own * w
    size = level.own + level.boundary + 1                                # with a spare row for padding
    front: Numbers = np.zeros((m, size, w, size, w), dtype=working)
    swapped = level.swapped.astype(np.bool_)[:, None, None]
    blocks = np.where(swapped, off_diagonal[level.edges].transpose(0, 2, 1), off_diagonal[level.edges])
    front[level.edge_node, level.edge_row, :, level.edge_column, :] = blocks
    near = level.edge_column < level.own
    front[level.edge_node[near], level.edge_column[near], :, level.edge_row[near], :] = (
        blocks[near].transpose(0, 2, 1))
    padding = np.ones((m, level.own), dtype=np.bool_)
    padding[level.node, level.row] = False
    node, row = np.nonzero(padding)
    front[node, row, :, row, :] = np.eye(w)
    front[level.node, level.row, :, level.row, :] = diagonal[level.vertices]
    flat = front.reshape(m, size * w, size * w)
    if below is not None and below.boundary:
        _extend_add(flat, update, _rows_of_blocks(below.parent_place, w))
    with np.errstate(all="ignore"):                               # a zero pivot shows in the diagonal
        D = _inverse(flat[:, :o, :o])
    own = np.diagonal(D, axis1=1, axis2=2)
    if not ((own > 0.0) & np.isfinite(own)).all():
        raise ArithmeticError("the matrix is not positive definite")
    D = _flushed(D)
    F_ob = np.ascontiguousarray(flat[:, :o, o:-w])
    W = _flushed(D @ F_ob)
    remaining: Numbers = flat[:, o:-w, o:-w] - F_ob.transpose(0, 2, 1) @ W
    return D, W, _flushed(remaining)


def _flushed(numbers: Numbers) -> Numbers:
    """Set numbers below `TINY` to zero, in place; nan stays nan. Return them."""
    numbers *= np.abs(numbers) >= TINY[numbers.dtype.type]
    return numbers


def _rows_of_blocks(places: IntArray, w: int) -> IntArray:
    """Return the scalar rows (.., n w) of rows of blocks `places` (.., n), for blocks w x w."""
    return (w * places[..., None] + np.arange(w)).reshape(*places.shape[:-1], -1)


def _extend_add(front: FloatArray, update: Numbers, places: IntArray) -> None:
    """Add the children's matrices (m fan, b, b) to the rows and columns places (m, fan, b) of the fronts (m, n, n)."""
    m, fan, b = places.shape
    n = front.shape[1]
    parts, target = update.reshape(m, fan, b, b), front.reshape(-1)
    step = max(1, NUMBERS_PER_PIECE // max(b * b, 1))
    for first in range(0, m, step):
        some = slice(first, first + step)
        base = (np.arange(m)[some] * n * n)[:, None, None]
        for child in range(fan):
            rows = places[some, child]
            # only the spare place, which is not read, occurs twice in one child
            target[base + rows[:, :, None] * n + rows[:, None, :]] += parts[some, child]


def _inverse(A: Numbers) -> Numbers:
    """Return the inverses of symmetric positive definite matrices (m, n, n), by recursion on halves."""
    n = A.shape[1]
    if n <= LARGEST_ENTRYWISE:
        return _small_inverse(A)
    half = n // 2
    first = _inverse(A[:, :half, :half])
    B = first @ np.ascontiguousarray(A[:, :half, half:])
    second = _inverse(A[:, half:, half:] - B.transpose(0, 2, 1) @ A[:, :half, half:])
    X = B @ second
    result: Numbers = np.empty_like(A, order="C")
    result[:, :half, :half] = first + X @ B.transpose(0, 2, 1)
    result[:, :half, half:] = -X
    result[:, half:, :half] = -X.transpose(0, 2, 1)
    result[:, half:, half:] = second
    result += result.transpose(0, 2, 1).copy()
    result *= 0.5
    return result


def _small_inverse(A: Numbers) -> Numbers:
    """Return the inverses of small matrices (m, n, n) by Gauss-Jordan elimination.

    Without pivoting, which symmetric positive definite matrices do not need.
    """
    n = A.shape[1]
    B = np.ascontiguousarray(A.transpose(1, 2, 0))                           # (n, n, m): a batch is one line
    for k in range(n):
        pivot = 1.0 / B[k, k]
        line = B[k] * pivot
        column = B[:, k].copy()
        B -= column[:, None] * line
        B[k] = line
        B[:, k] = -column * pivot
        B[k, k] = pivot
    return np.ascontiguousarray(B.transpose(2, 0, 1))
