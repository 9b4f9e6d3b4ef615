# SPDX-License-Identifier: GPL-3.0-or-later
"""Galerkin product, restriction and prolongation between a mesh and its coarse level of groups of vertices.

Each sum is one compiled loop. NumPy projects the blocks of constrained vertices in a second pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .block_matrix import between
from .kernel_cache import njit
from .options import KERNEL, MAKING
from .thread_pool import LEAST_ROWS, LEAST_VERTICES, share

if TYPE_CHECKING:
    from ...arrays import FloatArray, IntArray


def coarse_product(data: FloatArray, scalar: FloatArray, line: IntArray, block_starts: IntArray, blocks: IntArray,
                   scalar_starts: IntArray, scalars: IntArray, number: IntArray, S: FloatArray, count: int,
                   grow: float, total: FloatArray) -> None:
    """Write sums of S_i A_ij S_j to total (slots, 3, 3); the first `count` slots are the diagonal, times `grow`.

    Slot k is the sum of the rows block_starts[k]..block_starts[k + 1] - 1 of blocks (B, 3), and of scalars likewise:
    each has the place in `data` or `scalar`, the row and the column. Lines of a block are line (V,) apart in `data`.
    Constrained directions of a vertex add a third of the trace of its own block, without its scalar.
    """
    share(_coarse_product, len(total), LEAST_ROWS, data, scalar, line, block_starts, blocks, scalar_starts, scalars,
          number, S, count, grow, total)


def restrict(r: FloatArray, order: IntArray, starts: IntArray, number: IntArray, S: FloatArray) -> FloatArray:
    """Return the sums (n, 3) of S r, r (V, 3), over groups: group k has the vertices order[starts[k]:starts[k + 1]]."""
    total = np.empty((len(starts) - 1, 3))
    share(sums_of_groups, len(total), LEAST_ROWS, r, order, starts, number, S, total)
    return total


def prolong(coarse: FloatArray, group: IntArray, number: IntArray, S: FloatArray, inverse: FloatArray, r: FloatArray,
            result: FloatArray) -> None:
    """Write S times the value (n, 3) of each vertex's group, plus inverse (V, 3, 3) times r, to result (V, 3)."""
    share(values_of_vertices, len(group), LEAST_VERTICES, coarse, group, number, S, inverse, r, result)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _coarse_product(begin, end, data, scalar, line, block_starts, blocks, scalar_starts,  # type: ignore[no-untyped-def]
                    scalars, number, S, count, grow, total):
    """Write slots begin..end - 1 of the Galerkin product to total (slots, 3, 3), as `coarse_product`."""
    u, T, A = np.uintp, np.empty((3, 3)), np.empty((3, 3))
    for k in range(u(begin), u(end)):
        T[:] = 0.0
        for s in range(block_starts[k], block_starts[k + u(1)]):
            place, i, j = blocks[s, 0], blocks[s, 1], blocks[s, 2]
            if number[i] < 0 and number[j] < 0:
                for a in range(3):
                    for b in range(3):
                        T[a, b] += data[place + a * line[i] + b]
                continue
            for a in range(3):
                for b in range(3):
                    A[a, b] = data[place + a * line[i] + b]
            size = (A[0, 0] + A[1, 1] + A[2, 2]) / 3.0 if i == j else 0.0
            _add_held(T, A, number[i], number[j], S, size)
        free = 0.0
        for s in range(scalar_starts[k], scalar_starts[k + u(1)]):
            value, i, j = scalar[scalars[s, 0]], scalars[s, 1], scalars[s, 2]
            if number[i] < 0 and number[j] < 0:
                free += value
                continue
            for a in range(3):
                for b in range(3):
                    A[a, b] = value if a == b else 0.0
            _add_held(T, A, number[i], number[j], S, 0.0)
        for a in range(3):
            T[a, a] += free
        for a in range(3):
            for b in range(3):
                total[k, a, b] = 0.5 * grow * (T[a, b] + T[b, a]) if k < count else T[a, b]


@njit(**MAKING)  # type: ignore[untyped-decorator]
def _add_held(T, A, i, j, S, size):  # type: ignore[no-untyped-def]
    """Add S_i A S_j + size (I - S_i) to T (3, 3), for a block A (3, 3).

    i, j: numbers of the projections in S (n, 3, 3), -1 for the identity.
    """
    unit, B = np.eye(3), np.empty((3, 3))
    P = S[i] if i >= 0 else unit
    between(P, A, S[j] if j >= 0 else unit, B)
    for a in range(3):
        for b in range(3):
            T[a, b] += B[a, b] + size * (unit[a, b] - P[a, b])


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def sums_of_groups(begin, end, r, order, starts, number, S, total):  # type: ignore[no-untyped-def]
    """Write the sums of groups begin..end - 1 to total (n, 3), as `restrict`."""
    u = np.uintp
    for k in range(u(begin), u(end)):
        x, y, z = 0.0, 0.0, 0.0
        for s in range(u(starts[k]), u(starts[k + u(1)])):
            i = u(order[s])
            p = number[i]
            if p < 0:
                x, y, z = x + r[i, 0], y + r[i, 1], z + r[i, 2]
            else:
                x += S[p, 0, 0] * r[i, 0] + S[p, 0, 1] * r[i, 1] + S[p, 0, 2] * r[i, 2]
                y += S[p, 1, 0] * r[i, 0] + S[p, 1, 1] * r[i, 1] + S[p, 1, 2] * r[i, 2]
                z += S[p, 2, 0] * r[i, 0] + S[p, 2, 1] * r[i, 1] + S[p, 2, 2] * r[i, 2]
        total[k, 0], total[k, 1], total[k, 2] = x, y, z


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def values_of_vertices(begin, end, coarse, group, number, S, inverse, r,  # type: ignore[no-untyped-def]
                       result):
    """Write vertices begin..end - 1 of the prolongation to result (V, 3), as `prolong`."""
    for i in range(np.uintp(begin), np.uintp(end)):
        x, y, z = coarse[group[i], 0], coarse[group[i], 1], coarse[group[i], 2]
        p = number[i]
        if p >= 0:
            x, y, z = (S[p, 0, 0] * x + S[p, 0, 1] * y + S[p, 0, 2] * z,
                       S[p, 1, 0] * x + S[p, 1, 1] * y + S[p, 1, 2] * z,
                       S[p, 2, 0] * x + S[p, 2, 1] * y + S[p, 2, 2] * z)
        u, v, w = r[i, 0], r[i, 1], r[i, 2]
        result[i, 0] = x + inverse[i, 0, 0] * u + inverse[i, 0, 1] * v + inverse[i, 0, 2] * w
        result[i, 1] = y + inverse[i, 1, 0] * u + inverse[i, 1, 1] * v + inverse[i, 1, 2] * w
        result[i, 2] = z + inverse[i, 2, 0] * u + inverse[i, 2, 1] * v + inverse[i, 2, 2] * w
