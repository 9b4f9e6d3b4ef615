# SPDX-License-Identifier: GPL-3.0-or-later
"""From elements to vertices: what elements left, added up vertex by vertex, into forces or into rows of a matrix.

Each vertex goes through the elements around it in one order, so that sums do not depend on threads, and no two threads
write to one place. Rows of a matrix are added up with a fixed count of an element's vertices and columns, which a
factory per count gives them: the loops unroll, at half the time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from ...arrays import FloatArray
from .options import KERNEL
from .pool import share

if TYPE_CHECKING:
    from ...linear.block_matrix import BlockMatrix
    from ...stencils.stencil import Stencil

Loop = Callable[..., Any]
LEAST, LEAST_ROWS = 2000, 250
"""Vertices worth another thread, when forces are added up and when rows of a matrix are."""


def subtract_scattered(stencil: Stencil, P: FloatArray, total: FloatArray) -> None:
    """total (V, 3) -= sum_c w_ic P_c of elements with P (E, C, 3)."""
    starts, corners = stencil.incidence
    share(_scatter, len(starts) - 1, LEAST, starts, corners, stencil.weights, P, total)


def add_blocks(stencil: Stencil, H: FloatArray, common: FloatArray | None, matrix: BlockMatrix) -> None:
    """matrix += sum_cd w_ic w_jd H_cd + q q^T of elements with H (E, C (C + 1) / 2, 9), and vectors q = common (E, 3).

    Of H, blocks c <= d alone, row by row, because H_dc = H_cd^T.
    """
    pattern = matrix.pattern
    k = stencil.vertices.shape[1]
    add = _block_rows(k, 0 if H.shape[1] == 0 else stencil.weights.shape[2])
    starts, corners = stencil.incidence
    share(add, len(starts) - 1, LEAST_ROWS, starts, corners, stencil.weights, H,
          np.zeros((0, 3)) if common is None else common, pattern.positions(pattern.family(stencil.vertices)),
          pattern.layout.row_start, pattern.layout.row_width, matrix.data)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _scatter(begin, end, starts, corners, weights, P, total):  # type: ignore[no-untyped-def]
    u = np.uintp                                     # with signed numbers every index is asked whether it is negative
    k, C = weights.shape[1], weights.shape[2]
    part = 1.0 / k
    for v in range(u(begin), u(end)):
        fx, fy, fz = 0.0, 0.0, 0.0
        for at in range(starts[v], starts[v + u(1)]):
            e = int((corners[at] + 0.5) * part)                   # corner // k, quicker than dividing
            i = corners[at] - e * k
            for c in range(C):
                w = weights[e, i, c]
                fx += w * P[e, c, 0]
                fy += w * P[e, c, 1]
                fz += w * P[e, c, 2]
        total[v, 0] -= fx
        total[v, 1] -= fy
        total[v, 2] -= fz


@cache
def _block_rows(k: int, C: int) -> Loop:
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_rows(begin, end, starts, corners, weights, H, common, positions, row_start, row_width,  # type: ignore[no-untyped-def]
                 data):
        u, joint = np.uintp, len(common) > 0
        half = np.empty(C)                                        # entry (a, b) of sum_c w_ic H_cd
        for v in range(u(begin), u(end)):
            first, line = 9 * row_start[v], 3 * row_width[v]
            for at in range(starts[v], starts[v + u(1)]):
                e = corners[at] // k
                i, own = corners[at] - e * k, corners[at] * k
                for a in range(3):
                    for b in range(3):
                        for d in range(C):
                            s = 0.0
                            for c in range(C):
                                if c <= d:
                                    s += weights[e, i, c] * H[e, c * C - c * (c - 1) // 2 + d - c, 3 * a + b]
                                else:
                                    s += weights[e, i, c] * H[e, d * C - d * (d - 1) // 2 + c - d, 3 * b + a]
                            half[d] = s
                        same = common[e, a] * common[e, b] if joint else 0.0
                        for j in range(k):
                            s = same
                            for d in range(C):
                                s += weights[e, j, d] * half[d]
                            data[first + 3 * positions[own + j] + a * line + b] += s

    return add_rows  # type: ignore[no-any-return]
