# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack block matrices into half the bytes, for products: a product takes as long as reading its numbers.

Off the diagonal, numbers are in single precision, column by column, and scalars are added to the block of their
vertices where there is one. The symmetric part of what rounding takes from a row is added to its diagonal, in double
precision. So the energy of a rigid translation is kept: strains may have a hundred thousand times as much, and their
rounding would hide it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray
from ..layouts import PackedRows
from .block_rows import multiplied
from .kernel_cache import njit
from .options import KERNEL
from .thread_pool import LEAST_ROWS, share

SINGLE_ROUNDING = 2.0 ** -24
"""Largest relative error of rounding to single precision [-]."""


def pack(data: FloatArray, scalar: FloatArray, rows: PackedRows, mass: FloatArray, largest: float) -> bool:
    """Write a matrix (see `block_matrix`) into the workspace of `rows`; return whether it fits.

    It fits where rounding takes at most `largest` times the `mass` (V,) of its vertex from each row, as a sum of
    absolute values.
    """
    layout, fits = rows.layout, np.ones(len(mass), dtype=np.bool_)
    share(_pack, len(mass), LEAST_ROWS, data, scalar, layout.row_start, layout.row_width, layout.columns, rows.beside,
          rows.row_starts, rows.far_starts, rows.far_places, mass, largest / SINGLE_ROUNDING, rows.blocks,
          rows.diagonal, rows.far, fits)
    return bool(fits.all())


def product(rows: PackedRows, x: FloatArray) -> FloatArray:
    """Return A x (V, 3) of the matrix that was packed last, for x (V, 3)."""
    result = np.empty_like(x)
    share(product_of_rows, len(x), LEAST_ROWS, rows.row_starts, rows.columns, rows.blocks, rows.diagonal,
          rows.far_starts, rows.far_columns, rows.far, x, result)
    return result


@njit(**KERNEL)
def _pack(begin: Any, end: Any, data: Any, scalar: Any, row_start: Any, row_width: Any, layout_columns: Any,
          beside: Any, starts: Any, far_starts: Any, far_places: Any, mass: Any, most: Any, blocks: Any, diagonal: Any,
          far: Any, fits: Any) -> None:
    u = np.uintp
    lost, size, more = np.empty((3, 3)), np.empty(3), 0.0
    for i in range(u(begin), u(end)):
        lost[:], size[:], diagonal[i], more = 0.0, 0.0, 0.0, 0.0
        slot, width, to = u(row_start[i]), u(row_width[i]), u(9 * starts[i])
        place = u(9) * slot
        for s in range(width):
            at, scale = place + u(3) * s, 0.0
            if beside[slot + s] >= 0:
                scale = scalar[beside[slot + s]]
            if layout_columns[slot + s] == i:                        # the diagonal, and the padding
                for a in range(u(3)):
                    for b in range(u(3)):
                        diagonal[i, b, a] += data[at + a * u(3) * width + b]
                    diagonal[i, a, a] += scale
                continue
            for a in range(u(3)):
                for b in range(u(3)):
                    value = data[at + a * u(3) * width + b] + (scale if a == b else 0.0)
                    kept = np.float32(value)
                    blocks[to + u(3) * b + a] = kept
                    lost[a, b] += value - kept
                    size[a] += abs(value)
            to += u(9)
        for k in range(u(far_starts[i]), u(far_starts[i + u(1)])):
            value = scalar[far_places[k]]
            kept = np.float32(value)
            far[k] = kept
            more += value - kept
            size += abs(value)
        for a in range(3):
            for b in range(3):
                diagonal[i, b, a] += 0.5 * (lost[a, b] + lost[b, a])
            diagonal[i, a, a] += more
        fits[i] = max(max(size[0], size[1]), size[2]) <= most * mass[i]


@njit(**KERNEL)
def product_of_rows(begin: Any, end: Any, starts: Any, columns: Any, blocks: Any, diagonal: Any, far_starts: Any,
                    far_columns: Any, far: Any, x: Any, result: Any) -> None:
    """Write rows begin..end - 1 of A x to result (V, 3), for x (V, 3).

    starts, columns, far_starts, far_columns: layout of `PackedRows`. blocks, diagonal, far: its numbers.
    """
    u = np.uintp
    for i in range(u(begin), u(end)):
        a, b, c = multiplied(blocks, starts[i], columns, starts[i], starts[i + u(1)] - starts[i], x)
        p, q, r = x[i, 0], x[i, 1], x[i, 2]
        a += diagonal[i, 0, 0] * p + diagonal[i, 1, 0] * q + diagonal[i, 2, 0] * r
        b += diagonal[i, 0, 1] * p + diagonal[i, 1, 1] * q + diagonal[i, 2, 1] * r
        c += diagonal[i, 0, 2] * p + diagonal[i, 1, 2] * q + diagonal[i, 2, 2] * r
        for k in range(u(far_starts[i]), u(far_starts[i + u(1)])):
            j, w = u(far_columns[k]), far[k]
            a += w * x[j, 0]
            b += w * x[j, 1]
            c += w * x[j, 2]
        result[i, 0], result[i, 1], result[i, 2] = a, b, c
