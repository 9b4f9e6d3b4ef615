# SPDX-License-Identifier: GPL-3.0-or-later
"""Galerkin product, restriction and prolongation between a mesh and its coarse level of groups of vertices.

S are the projections (n, 3, 3) of pins and contacts, and number (V,) is the number of a vertex's projection, -1 for
none. NumPy projects only the blocks of constrained vertices, in a second pass; the compiled loops project in one pass.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def coarse_product(data: FloatArray, scalar: FloatArray, line: IntArray, block_starts: IntArray, blocks: IntArray,
                   scalar_starts: IntArray, scalars: IntArray, number: IntArray, S: FloatArray, count: int,
                   grow: float, total: FloatArray) -> None:
    """Write the sums of S_i A_ij S_j over the members of each slot of the coarse matrix to total (slots, 3, 3).

    Slots are blocks of the coarse matrix; the first `count` ones are its diagonal, which is multiplied by `grow`. Slot
    k sums rows block_starts[k]..block_starts[k + 1] - 1 of blocks (B, 3), each of which has the place in `data`, the
    row i and the column j; and likewise scalars (.., 3) with places in `scalar`. line (V,): distance of the lines of a
    block in `data`, by row. The constrained directions of a vertex get a third of the trace of its own block.
    """
    place, step = blocks[:, 0].astype(np.int64), line[blocks[:, 1]]
    sums = np.zeros(total.shape)
    some, starts = _runs(block_starts)
    for a in range(3):
        for b in range(3):
            if len(some):
                sums[some, a, b] = np.add.reduceat(data.take(place + (a * step + b)), starts)
    some, starts = _runs(scalar_starts)
    if len(some):
        sums[some] += np.add.reduceat(scalar[scalars[:, 0]], starts)[:, None, None] * np.eye(3)
    if len(S):
        _hold(data, scalar, line, block_starts, blocks, scalar_starts, scalars, number, S, sums)
    sums[:count] = 0.5 * grow * (sums[:count] + sums[:count].transpose(0, 2, 1))
    total[:] = sums


def restrict(r: FloatArray, order: IntArray, starts: IntArray, number: IntArray, S: FloatArray) -> FloatArray:
    """Return the sums (n, 3) of S r over groups of vertices, for r (V, 3).

    Group k has the vertices order[starts[k]:starts[k + 1]].
    """
    sums: FloatArray = np.add.reduceat(_projected(r.copy(), number, S).take(order, axis=0), starts[:-1], axis=0)
    return sums


def prolong(coarse: FloatArray, group: IntArray, number: IntArray, S: FloatArray, inverse: FloatArray, r: FloatArray,
            result: FloatArray) -> None:
    """Write S z + inverse r to result (V, 3), with the value z of each vertex's group.

    coarse (n, 3): values of the groups. group (V,): group of each vertex. inverse (V, 3, 3), r (V, 3).
    """
    np.einsum("nij,nj->ni", inverse, r, out=result)
    result += _projected(coarse.take(group, axis=0), number, S)


def _projected(d: FloatArray, number: IntArray, S: FloatArray) -> FloatArray:
    """Return S d of d (V, 3): vertices with a projection (number >= 0) are projected, others are not."""
    held = np.flatnonzero(number >= 0)
    d[held] = np.matmul(S[number[held]], d[held, :, None])[:, :, 0]
    return d


def _runs(starts: IntArray) -> tuple[IntArray, IntArray]:
    """Return the slots that are not empty, and where their members begin."""
    some = np.flatnonzero(np.diff(starts))
    return some, starts[some]


def _hold(data: FloatArray, scalar: FloatArray, line: IntArray, block_starts: IntArray, blocks: IntArray,
          scalar_starts: IntArray, scalars: IntArray, number: IntArray, S: FloatArray, total: FloatArray) -> None:
    """Change sums of A_ij in total (slots, 3, 3) to sums of S_i A_ij S_j, and add the part of constrained directions.

    Arguments are those of `coarse_product`.
    """
    P = np.concatenate([S, np.eye(3)[None]])                         # number -1 is the last one
    three = np.arange(3)
    some = np.flatnonzero((number[blocks[:, 1]] >= 0) | (number[blocks[:, 2]] >= 0))
    place, row, column = blocks[some].T.astype(np.int64)
    A = data[place[:, None, None] + three[:, None] * line[row, None, None] + three]
    change = P[number[row]] @ A @ P[number[column]] - A
    own = np.flatnonzero(row == column)
    size = np.trace(A[own], axis1=1, axis2=2) / 3.0
    change[own] += size[:, None, None] * (np.eye(3) - P[number[row[own]]])
    _add_at(total, np.searchsorted(block_starts, some, side="right") - 1, change)
    some = np.flatnonzero((number[scalars[:, 1]] >= 0) | (number[scalars[:, 2]] >= 0))
    place, row, column = scalars[some].T
    both = P[number[row]] @ P[number[column]] - np.eye(3)
    _add_at(total, np.searchsorted(scalar_starts, some, side="right") - 1, scalar[place, None, None] * both)


def _add_at(total: FloatArray, slots: IntArray, blocks: FloatArray) -> None:
    """Add blocks (n, 3, 3) to total[slots]; a slot may occur more than once."""
    there, inverse = np.unique(slots, return_inverse=True)
    for i in range(3):
        for j in range(3):
            total[there, i, j] += np.bincount(inverse.reshape(-1), weights=blocks[:, i, j], minlength=len(there))
