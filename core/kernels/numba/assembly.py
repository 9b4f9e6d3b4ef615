# SPDX-License-Identifier: GPL-3.0-or-later
"""Add up the results of elements vertex by vertex, into forces or into the rows of a matrix.

Each vertex adds the elements around it in a fixed order, so that sums do not depend on threads, and no two threads
write to one place. A factory makes the loops for each number of vertices and columns of an element: with these as
constants the inner loops are unrolled, which halves the time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import FloatArray
from ..layouts import Columns, PaddedRows
from .kernel_cache import njit
from .options import KERNEL
from .thread_pool import LEAST_ELEMENTS, LEAST_VERTICES, share

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil

Loop = Callable[..., Any]


def subtract_scattered(stencil: Stencil, P: FloatArray, total: FloatArray) -> None:
    """Subtract sum_c w_ic P_c of elements with P (E, C, 3) from total (V, 3)."""
    starts, corners = stencil.incidence
    _, k, C = stencil.weights.shape
    share(_scatter(k, C), len(starts) - 1, LEAST_VERTICES, starts, corners, stencil.weights.reshape(-1, C), P, total)


def add_blocks(stencil: Stencil, H: FloatArray, common: FloatArray | None, positions: Columns, layout: PaddedRows,
               data: FloatArray) -> None:
    """Add sum_cd w_ic w_jd H_cd + sum_q q q^T to the numbers `data` of a matrix: H (E, C (C + 1) / 2, 9).

    common (E, R, 3): the R vectors q of each element.

    positions (E k k,): where in its row each block of an element is, in the matrix's layout. H has blocks c <= d
    alone, row by row, because H_dc = H_cd^T.
    """
    k = stencil.vertices.shape[1]
    C = 0 if H.shape[1] == 0 else stencil.weights.shape[2]
    add = _block_rows(k, C, k if stencil.hub_count is None else stencil.hub_count)
    starts, corners = stencil.incidence
    weights = stencil.weights.reshape(-1, stencil.weights.shape[2])
    share(add, len(starts) - 1, LEAST_ELEMENTS, starts, corners, weights, H,
          np.zeros((0, 1, 3)) if common is None else common, positions, layout.row_start, layout.row_width, data)


@cache
def _scatter(k: int, C: int) -> Loop:
    """Return a compiled loop for elements of k vertices and C columns."""
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def scatter(begin, end, starts, corners, weights, P, total):  # type: ignore[no-untyped-def]
        """Subtract the sum of w_ic P_c over the elements around each of the vertices begin..end - 1 from total (V, 3).

        starts (V + 1,): where the elements of each vertex begin in corners (E k,), which has k element + corner.
        weights (E k, C), P (E, C, 3).
        """
        u = np.uintp                                 # an unsigned index needs no test for negative values
        for v in range(u(begin), u(end)):
            fx, fy, fz = 0.0, 0.0, 0.0
            for at in range(starts[v], starts[v + u(1)]):
                corner = u(corners[at])
                e = corner // u(k)
                for c in range(u(C)):
                    w = weights[corner, c]
                    fx += w * P[e, c, 0]
                    fy += w * P[e, c, 1]
                    fz += w * P[e, c, 2]
            total[v, 0] -= fx
            total[v, 1] -= fy
            total[v, 2] -= fz

    return scatter  # type: ignore[no-any-return]


@cache
def _block_rows(k: int, C: int, core: int) -> Loop:
    """Return a compiled loop for elements of k vertices and C columns.

    core: number of vertices of an element that are coupled with all others; the rest is coupled with these only.
    """
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_rows(begin, end, starts, corners, weights, H, common, positions,  # type: ignore[no-untyped-def]
                 row_start, row_width, data):
        """Add the blocks of the elements around vertices begin..end - 1 to their rows of a matrix.

        starts, corners, weights: as of `scatter`. H, common, positions, data: as of `add_blocks`. row_start, row_width
        (V,): first place and number of blocks of each row.
        """
        u, joint = np.uintp, len(common) > 0
        half = np.empty((C, 3))                                   # row a of sum_c w_ic H_cd
        for v in range(u(begin), u(end)):
            first, line = 9 * row_start[v], 3 * row_width[v]
            for at in range(starts[v], starts[v + u(1)]):
                corner = u(corners[at])
                e = corner // u(k)
                own = corner * u(k)
                coupled = u(k if corner - e * u(k) < u(core) else core)
                for a in range(3):
                    for d in range(C):
                        x, y, z = 0.0, 0.0, 0.0
                        for c in range(C):
                            w = weights[corner, c]
                            if c <= d:
                                block = c * C - c * (c - 1) // 2 + d - c
                                x += w * H[e, block, 3 * a]
                                y += w * H[e, block, 3 * a + 1]
                                z += w * H[e, block, 3 * a + 2]
                            else:
                                block = d * C - d * (d - 1) // 2 + c - d
                                x += w * H[e, block, a]
                                y += w * H[e, block, 3 + a]
                                z += w * H[e, block, 6 + a]
                        half[d, 0], half[d, 1], half[d, 2] = x, y, z
                    same_x, same_y, same_z = 0.0, 0.0, 0.0
                    if joint:
                        for r in range(common.shape[1]):
                            same_x += common[e, r, a] * common[e, r, 0]
                            same_y += common[e, r, a] * common[e, r, 1]
                            same_z += common[e, r, a] * common[e, r, 2]
                    for j in range(coupled):
                        x, y, z = same_x, same_y, same_z
                        for d in range(C):
                            w = weights[e * u(k) + j, d]
                            x += w * half[d, 0]
                            y += w * half[d, 1]
                            z += w * half[d, 2]
                        place = first + a * line + 3 * positions[own + j]
                        data[place] += x
                        data[place + u(1)] += y
                        data[place + u(2)] += z

    return add_rows  # type: ignore[no-any-return]
