# SPDX-License-Identifier: GPL-3.0-or-later
"""Block matrices: adding blocks, products with vectors, and the blocks that preconditioners need.

The numbers of a matrix are stored row by row; a row is three lines, each of them one line of all blocks of the row.
See `kernels.layouts` for the layout of rows.

Beside them stands `row_sums`, the sum of the blocks of each row. Stiffness takes no part in these sums, because a
translation makes no elastic force, but the sum of a row's rounded numbers is not exactly zero. So products are made of
differences:

    (A x)_i = sum_j A_ij (x_j - x_i) + R_i x_i,    R_i = sum_j A_ij

With R of the masses and of what holds vertices in space, a translation gets exactly the inertia of the masses, also
where the stiffness is 1e16 times as large.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...row_ops import highest
from ..layouts import Columns, PaddedRows


def add_element_blocks(vertices: IntArray, positions: Columns, blocks: FloatArray, layout: PaddedRows,
                       data: FloatArray) -> None:
    """Add the blocks (E, k, k, 3, 3) of elements with vertices (E, k) to a block matrix, in place.

    positions (E k k,): index of each block within its row, in the layout.
    """
    k = vertices.shape[1]
    places = layout.row_start[vertices][:, :, None] + positions.reshape(-1, k, k)
    add_entries(places.ravel(), blocks.reshape(-1, 9).T, layout, data)


def add_entries(places: IntArray, blocks: FloatArray, layout: PaddedRows, data: FloatArray) -> None:
    """Add blocks (9, ..) to a block matrix, in place, each at its place (..) in the layout."""
    for a in range(3):
        for b in range(3):
            total = np.bincount(places, weights=blocks[3 * a + b].ravel(), minlength=layout.size)
            for group in layout.groups:
                n, width = group.columns.shape
                part = slice(group.start, group.start + n * width)
                data[9 * part.start:9 * part.stop].reshape(n, 3, width, 3)[:, a, :, b] += total[part].reshape(n, width)


def add_diagonal(start: Columns, line: Columns, blocks: FloatArray, data: FloatArray, row_sums: FloatArray) -> None:
    """Add blocks (V, 3, 3) to a block matrix and to the sums of its rows (V, 3, 3), in place.

    Entry (a, b) of each is at start + a line + b, both (V,).
    """
    row_sums += blocks
    for a in range(3):
        for b in range(3):
            data[start + (a * line + b)] += blocks[:, a, b]


def add_multiples(start: Columns, line: Columns, values: FloatArray, data: FloatArray, row_sums: FloatArray) -> None:
    """Add multiples (V,) of the identity to a block matrix as `add_diagonal`."""
    for a in range(3):
        row_sums[:, a, a] += values
        data[start + a * (line + 1)] += values


def project(rows: IntArray, S: FloatArray, d: FloatArray) -> None:
    """Replace d (V, 3) by S d at the vertices `rows` (n,), in place, with projections S (n, 3, 3)."""
    d[rows] = np.einsum("nij,nj->ni", S, d[rows])


def product(data: FloatArray, layout: PaddedRows, scalar: FloatArray | None, scalar_layout: PaddedRows,
            row_sums: FloatArray, x: FloatArray) -> FloatArray:
    """Return A x (V, 3) for x (V, 3).

    A has the blocks `data` in `layout`, if given the scalars `scalar` (multiples of the identity) in `scalar_layout`,
    and rows that add up to row_sums (V, 3, 3).
    """
    result: FloatArray = np.einsum("nij,nj->ni", row_sums, x)
    for group in layout.groups:
        n, width = group.columns.shape
        lines = data[9 * group.start:9 * (group.start + n * width)].reshape(n, 3, 3 * width)
        add_block_product(lines, group.columns, group.rows, x, result)
    if scalar is not None:
        add_scalar_product(scalar, scalar_layout, x, result)
    return result


def add_block_product(lines: FloatArray, columns: Columns, rows: IntArray, x: FloatArray, result: FloatArray) -> None:
    """Add sum_j A_ij (x_j - x_i) to result[rows], for x (V, 3).

    lines (n, 3, 3 width): the blocks of n rows of A. columns (n, width): their columns.
    """
    n, width = columns.shape
    away = x.take(columns, axis=0) - x.take(rows, axis=0)[:, None]
    result[rows] += np.einsum("nij,nj->ni", lines, away.reshape(n, 3 * width))


def add_scalar_product(scalar: FloatArray, layout: PaddedRows, x: FloatArray, result: FloatArray) -> None:
    """Add sum_j K_ij (x_j - x_i) to result (V, 3) for x (V, 3).

    K has the numbers `scalar`, each times the identity, in `layout`.
    """
    for group in layout.groups:
        lines = scalar[group.start:group.start + group.columns.size].reshape(group.columns.shape)
        away = x.take(group.columns, axis=0) - x.take(group.rows, axis=0)[:, None]
        result[group.rows] += np.matmul(lines[:, None, :], away)[:, 0]


def neighbour_blocks(data: FloatArray, scalar: FloatArray, line: IntArray, own: IntArray, edges: IntArray,
                     near: IntArray, far_starts: IntArray, far: IntArray, number: IntArray, S: FloatArray, grow: float,
                     diagonal: FloatArray, off: FloatArray) -> None:
    """Write the blocks of a matrix from which neighbours are factorised: diagonal (V, 3, 3) and off (E, 3, 3).

    Args:
        data, scalar: numbers of the matrix: blocks, and scalars (multiples of the identity).
        line: (V,), distance of the lines of a block in `data`, by row.
        own, near, far: (V, 2), (E, 2), (F, 2), for the diagonal blocks, the blocks of `edges` and all other blocks:
            where the block begins in `data`, and the place of its scalar in `scalar`; -1 for none.
        edges: (E, 2), pairs of vertices.
        far_starts: (V + 1,), where each row begins in `far`. The norm of a far block (its largest absolute row or
            column sum) is added to the diagonal.
        number, S: (V,), (n, 3, 3), number of each vertex's projection in S, -1 for none.
        grow: factor of the diagonal [-].
    """
    rows = np.repeat(np.arange(len(own)), np.diff(far_starts))
    size = np.abs(_with_scalars(data, scalar, line[rows], far))
    size = np.maximum(highest(size[:, 0] + size[:, 1] + size[:, 2]),
                      highest(size[:, :, 0] + size[:, :, 1] + size[:, :, 2]))
    A = _with_scalars(data, scalar, line, own)
    A[:, [0, 1, 2], [0, 1, 2]] += np.bincount(rows, weights=size, minlength=len(own))[:, None]
    held = np.flatnonzero(number >= 0)
    A[held] = _restricted(A[held], S[number[held]])
    diagonal[:] = grow * A
    A = _with_scalars(data, scalar, line[edges[:, 0]], near)
    for end in (0, 1):
        some = np.flatnonzero(number[edges[:, end]] >= 0)
        P = S[number[edges[some, end]]]
        A[some] = A[some] @ P if end else P @ A[some]
    off[:] = A


def clear(data: FloatArray) -> None:
    """Set all numbers of `data` (n,) to zero."""
    data[:] = 0.0


def inverse_diagonal(data: FloatArray, scalar: FloatArray, line: IntArray, own: IntArray, number: IntArray,
                     S: FloatArray) -> FloatArray:
    """Return inverses (V, 3, 3) of the diagonal blocks, restricted to free directions; see `neighbour_blocks`."""
    blocks = _with_scalars(data, scalar, line, own)
    held = np.flatnonzero(number >= 0)
    blocks[held] = _restricted(blocks[held], S[number[held]])
    (a, b, c), (_, d, e), (_, _, f) = blocks.transpose(1, 2, 0)
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    D, E, F = a * f - c * c, b * c - a * e, a * d - b * b
    inverse = np.array([[A, B, C], [B, D, E], [C, E, F]])
    inverse /= a * A + b * B + c * C
    return np.ascontiguousarray(inverse.transpose(2, 0, 1))


def _restricted(A: FloatArray, P: FloatArray) -> FloatArray:
    """Return P A P + trace(A) / 3 (I - P), made symmetric, for blocks A and projections P (n, 3, 3)."""
    trace = np.trace(A, axis1=1, axis2=2)[:, None, None] / 3.0
    restricted: FloatArray = P @ A @ P + trace * (np.eye(3) - P)
    return 0.5 * (restricted + restricted.transpose(0, 2, 1))


def _with_scalars(data: FloatArray, scalar: FloatArray, line: IntArray, places: IntArray) -> FloatArray:
    """Return the blocks (n, 3, 3) that begin at places[:, 0], with the scalars at places[:, 1] on their diagonals."""
    start, there = places[:, 0], np.flatnonzero(places[:, 1] >= 0)
    blocks, own, none = np.empty((len(places), 3, 3)), scalar[places[there, 1]], start < 0
    for i in range(3):
        for j in range(3):
            blocks[:, i, j] = np.where(none, 0.0, data.take(start + (i * line + j)))
        blocks[there, i, i] += own
    return blocks
