# SPDX-License-Identifier: GPL-3.0-or-later
"""Block matrices, compiled: adding blocks, products with vectors, and the blocks that preconditioners need.

The loops go row by row on threads. NumPy multiplies all rows of one width at once.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..layouts import PaddedRows
from ..numpy.block_matrix import add_element_blocks
from .kernel_cache import njit
from .options import INNER, KERNEL
from .thread_pool import LEAST_ROWS, LEAST_UPDATES, LEAST_VERTICES, share

__all__ = ["add_diagonal", "add_element_blocks", "add_multiples", "add_scalar_product", "clear", "inverse_diagonal",
           "neighbour_blocks", "product", "project"]


def product(data: FloatArray, layout: PaddedRows, scalar: FloatArray | None, scalar_layout: PaddedRows,
            row_sums: FloatArray, x: FloatArray) -> FloatArray:
    """Return A x (V, 3) for x (V, 3).

    A has the blocks `data` in `layout`, if given the scalars `scalar` (multiples of the identity) in `scalar_layout`,
    and rows that add up to row_sums (V, 3, 3).
    """
    result = np.empty_like(x)
    scalars = data[:0] if scalar is None else scalar
    share(product_of_rows, len(layout.row_width), LEAST_ROWS, data, layout.row_start, layout.row_width,
          layout.columns, scalars, scalar_layout.row_start, scalar_layout.row_width, scalar_layout.columns, row_sums,
          x, result)
    return result


def add_scalar_product(scalar: FloatArray, layout: PaddedRows, x: FloatArray, result: FloatArray) -> None:
    """Add K x to result (V, 3) for x (V, 3); K has the numbers `scalar`, each times the identity, in `layout`."""
    share(_add_scalar_product, len(layout.row_width), LEAST_VERTICES, scalar, layout.row_start, layout.row_width,
          layout.columns, x, result)


def neighbour_blocks(data: FloatArray, scalar: FloatArray, line: IntArray, own: IntArray, edges: IntArray,
                     near: IntArray, far_starts: IntArray, far: IntArray, number: IntArray, S: FloatArray, grow: float,
                     diagonal: FloatArray, off: FloatArray) -> None:
    """Write the blocks of a matrix from which neighbours are factorised: diagonal (V, 3, 3) and off (E, 3, 3).

    Arguments are described in `kernels.numpy.block_matrix`.
    """
    share(_neighbour_blocks, len(own) + len(edges), LEAST_VERTICES, data, scalar, line, own, edges, near, far_starts,
          far, number, S, grow, diagonal, off)


def add_diagonal(start: IntArray, line: IntArray, blocks: FloatArray, data: FloatArray, row_sums: FloatArray) -> None:
    """Add blocks (V, 3, 3) to a block matrix and to the sums of its rows (V, 3, 3), in place.

    Entry (a, b) of each is at start + a line + b, both (V,).
    """
    share(_add_diagonal, len(blocks), LEAST_VERTICES, start, line, blocks, data, row_sums)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _add_diagonal(begin, end, start, line, blocks, data, row_sums):  # type: ignore[no-untyped-def]
    """Add the blocks (V, 3, 3) of vertices begin..end - 1 to the diagonal of a matrix, as `add_diagonal`."""
    for i in range(np.uintp(begin), np.uintp(end)):
        for a in range(3):
            for b in range(3):
                data[start[i] + a * line[i] + b] += blocks[i, a, b]
                row_sums[i, a, b] += blocks[i, a, b]


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def add_multiples(start, line, values, data, row_sums):  # type: ignore[no-untyped-def]
    """Add multiples (V,) of the identity to a block matrix as `add_diagonal`."""
    for i in range(np.uintp(len(values))):
        for a in range(3):
            data[start[i] + a * (line[i] + 1)] += values[i]
            row_sums[i, a, a] += values[i]


def project(rows: IntArray, S: FloatArray, d: FloatArray) -> None:
    """Replace d (V, 3) by S d at the vertices `rows` (n,), in place, with projections S (n, 3, 3)."""
    share(project_rows, len(rows), LEAST_VERTICES, rows, S, d)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def project_rows(begin, end, rows, S, d):  # type: ignore[no-untyped-def]
    """Replace d (V, 3) by S d as `project`, for vertices rows[begin..end - 1]."""
    for k in range(np.uintp(begin), np.uintp(end)):
        i = rows[k]
        x, y, z = d[i, 0], d[i, 1], d[i, 2]
        for a in range(3):
            d[i, a] = S[k, a, 0] * x + S[k, a, 1] * y + S[k, a, 2] * z


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def product_of_rows(begin, end, data, starts, widths, columns, scalar,  # type: ignore[no-untyped-def]
                    scalar_starts, scalar_widths, scalar_columns, row_sums, x, result):
    """Write rows begin..end - 1 of A x to result (V, 3), for x (V, 3).

    starts, widths (V,), columns: layout of the blocks in `data`: first place and number of blocks of each row, and the
    column of each place. scalar, scalar_starts, scalar_widths, scalar_columns: the same for the scalars; none if empty.
    row_sums (V, 3, 3): the sum of the blocks of each row.
    """
    u = np.uintp                                     # an unsigned index needs no test for negative values
    for i in range(u(begin), u(end)):
        x0, y0, z0 = x[i, 0], x[i, 1], x[i, 2]
        a = row_sums[i, 0, 0] * x0 + row_sums[i, 0, 1] * y0 + row_sums[i, 0, 2] * z0
        b = row_sums[i, 1, 0] * x0 + row_sums[i, 1, 1] * y0 + row_sums[i, 1, 2] * z0
        c = row_sums[i, 2, 0] * x0 + row_sums[i, 2, 1] * y0 + row_sums[i, 2, 2] * z0
        first, line = u(9 * starts[i]), u(3 * widths[i])
        second, third = first + line, first + line + line
        for s in range(u(widths[i])):
            j = u(columns[u(starts[i]) + s])
            p, q, r = x[j, 0] - x0, x[j, 1] - y0, x[j, 2] - z0
            t = u(3) * s
            a += data[first + t] * p + data[first + t + u(1)] * q + data[first + t + u(2)] * r
            b += data[second + t] * p + data[second + t + u(1)] * q + data[second + t + u(2)] * r
            c += data[third + t] * p + data[third + t + u(1)] * q + data[third + t + u(2)] * r
        if len(scalar):
            start = u(scalar_starts[i])
            for s in range(u(scalar_widths[i])):
                j, w = u(scalar_columns[start + s]), scalar[start + s]
                a += w * (x[j, 0] - x0)
                b += w * (x[j, 1] - y0)
                c += w * (x[j, 2] - z0)
        result[i, 0], result[i, 1], result[i, 2] = a, b, c


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _add_scalar_product(begin, end, scalar, starts, widths, columns, x, result):  # type: ignore[no-untyped-def]
    """Add rows begin..end - 1 of K x to result (V, 3), for x (V, 3).

    scalar: the numbers of K. starts, widths (V,), columns: first place and number of entries of each row, and the
    column of each place.
    """
    u = np.uintp
    for i in range(u(begin), u(end)):
        x0, y0, z0 = x[i, 0], x[i, 1], x[i, 2]
        a, b, c = 0.0, 0.0, 0.0
        start = u(starts[i])
        for s in range(u(widths[i])):
            j, w = u(columns[start + s]), scalar[start + s]
            a += w * (x[j, 0] - x0)
            b += w * (x[j, 1] - y0)
            c += w * (x[j, 2] - z0)
        result[i, 0] += a
        result[i, 1] += b
        result[i, 2] += c


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _neighbour_blocks(begin, end, data, scalar, line, own, edges, near, far_starts,  # type: ignore[no-untyped-def]
                      far, number, S, grow, diagonal, off):
    """Write the blocks of items begin..end - 1 (vertices, then edges), as `neighbour_blocks` in NumPy."""
    u, vertices = np.uintp, len(own)
    A, B, unit = np.empty((3, 3)), np.empty((3, 3)), np.eye(3)
    for i in range(u(begin), u(min(end, vertices))):
        _read(data, scalar, line[i], own[i, 0], own[i, 1], A)
        folded = 0.0
        for k in range(far_starts[i], far_starts[i + u(1)]):
            if far[k, 0] < 0:
                folded += abs(scalar[far[k, 1]])
                continue
            _read(data, scalar, line[i], far[k, 0], far[k, 1], B)
            size = 0.0
            for a in range(3):
                size = max(size, abs(B[a, 0]) + abs(B[a, 1]) + abs(B[a, 2]),
                           abs(B[0, a]) + abs(B[1, a]) + abs(B[2, a]))
            folded += size
        for a in range(3):
            A[a, a] += folded
        if number[i] >= 0:
            _restrict(A, S[number[i]], B)
        for a in range(3):
            for b in range(3):
                diagonal[i, a, b] = grow * A[a, b]
    for e in range(u(max(begin - vertices, 0)), u(max(end - vertices, 0))):
        i, j = edges[e, 0], edges[e, 1]
        _read(data, scalar, line[i], near[e, 0], near[e, 1], A)
        if number[i] >= 0 or number[j] >= 0:
            between(S[number[i]] if number[i] >= 0 else unit, A, S[number[j]] if number[j] >= 0 else unit, B)
            for a in range(3):
                for b in range(3):
                    off[e, a, b] = B[a, b]
        else:
            for a in range(3):
                for b in range(3):
                    off[e, a, b] = A[a, b]


def clear(data: FloatArray) -> None:
    """Set all numbers of `data` (n,) to zero."""
    share(_clear, len(data), LEAST_UPDATES, data)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _clear(begin, end, data):  # type: ignore[no-untyped-def]
    """Set the numbers begin..end - 1 of `data` to zero."""
    data[begin:end] = 0.0


def inverse_diagonal(data: FloatArray, scalar: FloatArray, line: IntArray, own: IntArray, number: IntArray,
                     S: FloatArray) -> FloatArray:
    """Return inverses (V, 3, 3) of the diagonal blocks, restricted to free directions; see `neighbour_blocks`."""
    result = np.empty((len(own), 3, 3))
    share(_inverse_diagonal, len(own), LEAST_ROWS, data, scalar, line, own, number, S, result)
    return result


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _inverse_diagonal(begin, end, data, scalar, line, own, number, S, result):  # type: ignore[no-untyped-def]
    """Write the inverses of vertices begin..end - 1 to result (V, 3, 3)."""
    M, B = np.empty((3, 3)), np.empty((3, 3))
    for i in range(begin, end):
        _read(data, scalar, line[i], own[i, 0], own[i, 1], M)
        if number[i] >= 0:
            _restrict(M, S[number[i]], B)
        a, b, c, d, e, f = M[0, 0], M[0, 1], M[0, 2], M[1, 1], M[1, 2], M[2, 2]
        A, G, C = d * f - e * e, c * e - b * f, b * e - c * d
        over = 1.0 / (a * A + b * G + c * C)
        result[i, 0, 0] = A * over
        result[i, 0, 1] = result[i, 1, 0] = G * over
        result[i, 0, 2] = result[i, 2, 0] = C * over
        result[i, 1, 1] = (a * f - c * c) * over
        result[i, 1, 2] = result[i, 2, 1] = (b * c - a * e) * over
        result[i, 2, 2] = (a * d - b * b) * over


@njit(**INNER)  # type: ignore[untyped-decorator]
def _restrict(A, P, B):  # type: ignore[no-untyped-def]
    """Replace the block A by P A P + trace(A) / 3 (I - P), made symmetric; B (3, 3) is workspace."""
    trace = (A[0, 0] + A[1, 1] + A[2, 2]) / 3.0
    between(P, A, P, B)
    for a in range(3):
        for b in range(3):
            A[a, b] = 0.5 * (B[a, b] + B[b, a]) + trace * ((1.0 if a == b else 0.0) - P[a, b])


@njit(**INNER)  # type: ignore[untyped-decorator]
def _read(data, scalar, line, place, scalar_place, block):  # type: ignore[no-untyped-def]
    """Write the block that begins at `place` in `data` to block (3, 3); its lines are `line` numbers apart.

    The number at `scalar_place` of `scalar` is added to its diagonal, unless that is -1.
    """
    for a in range(3):
        for b in range(3):
            block[a, b] = data[place + a * line + b]
        if scalar_place >= 0:
            block[a, a] += scalar[scalar_place]


@njit(**INNER)  # type: ignore[untyped-decorator]
def between(P, A, Q, result):  # type: ignore[no-untyped-def]
    """Write the product P A Q of blocks (3, 3) to result (3, 3)."""
    for a in range(3):
        x = P[a, 0] * A[0, 0] + P[a, 1] * A[1, 0] + P[a, 2] * A[2, 0]
        y = P[a, 0] * A[0, 1] + P[a, 1] * A[1, 1] + P[a, 2] * A[2, 1]
        z = P[a, 0] * A[0, 2] + P[a, 1] * A[1, 2] + P[a, 2] * A[2, 2]
        for b in range(3):
            result[a, b] = x * Q[0, b] + y * Q[1, b] + z * Q[2, b]
