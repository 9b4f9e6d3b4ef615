# SPDX-License-Identifier: GPL-3.0-or-later
"""Block matrices: adding blocks into one, and its product with a vector."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..layouts import Columns, PaddedRows

WIDTH_STEP = 4
"""Rows are padded to a multiple of this many entries: rows of one width are one product of arrays."""


def add_element_blocks(vertices: IntArray, positions: Columns, blocks: FloatArray, layout: PaddedRows,
                       data: FloatArray) -> None:
    """Add the blocks (E, k, k, 3, 3) of elements with vertices (E, k) into a block matrix, in place; positions
    (E k k,): where in its row each block is."""
    k = vertices.shape[1]
    places = layout.row_start[vertices][:, :, None] + positions.reshape(-1, k, k)
    add_entries(places.ravel(), blocks.reshape(-1, 9).T, layout, data)


def add_entries(places: IntArray, blocks: FloatArray, layout: PaddedRows, data: FloatArray) -> None:
    """Add blocks (9, ..) into a block matrix, in place: each at one of the places (..) of the layout."""
    for a in range(3):
        for b in range(3):
            total = np.bincount(places, weights=blocks[3 * a + b].ravel(), minlength=layout.size)
            for group in layout.groups:
                n, width = group.columns.shape
                part = slice(group.start, group.start + n * width)
                data[9 * part.start:9 * part.stop].reshape(n, 3, width, 3)[:, a, :, b] += total[part].reshape(n, width)


def add_diagonal(start: Columns, line: Columns, blocks: FloatArray, data: FloatArray) -> None:
    """Add blocks (V, 3, 3) into a block matrix, in place: entry (a, b) of each is at start + a line + b, both (V,)."""
    for a in range(3):
        for b in range(3):
            data[start + (a * line + b)] += blocks[:, a, b]


def add_multiples(start: Columns, line: Columns, values: FloatArray, data: FloatArray) -> None:
    """As `add_diagonal`, multiples (V,) of the identity."""
    for a in range(3):
        data[start + a * (line + 1)] += values


def project(rows: IntArray, S: FloatArray, d: FloatArray) -> None:
    """d (V, 3), in place, becomes S d in these rows (n,), with S (n, 3, 3)."""
    d[rows] = np.einsum("nij,nj->ni", S, d[rows])


def product(data: FloatArray, layout: PaddedRows, scalar: FloatArray | None, scalar_layout: PaddedRows,
            x: FloatArray) -> FloatArray:
    """A x for x (V, 3) of the matrix with blocks `data` and scalars `scalar` in these layouts."""
    result = np.empty_like(x)
    for group in layout.groups:
        n, width = group.columns.shape
        lines = data[9 * group.start:9 * (group.start + n * width)].reshape(n, 3, 3 * width)
        block_product(lines, group.columns, group.rows, x, result)
    if scalar is not None:
        add_scalar_product(scalar, scalar_layout, x, result)
    return result


def block_product(lines: FloatArray, columns: Columns, rows: IntArray, x: FloatArray, result: FloatArray) -> None:
    """result[rows] = A x from lines (n, 3, 3 width) and columns (n, width) of 3x3 blocks, for x (V, 3)."""
    n, width = columns.shape
    result[rows] = np.einsum("nij,nj->ni", lines, x.take(columns, axis=0).reshape(n, 3 * width))


def add_scalar_product(scalar: FloatArray, layout: PaddedRows, x: FloatArray, result: FloatArray) -> None:
    """result (V, 3) += K x of the matrix with these scalars in a layout, for x (V, 3)."""
    for group in layout.groups:
        lines = scalar[group.start:group.start + group.columns.size].reshape(group.columns.shape)
        result[group.rows] += np.matmul(lines[:, None, :], x.take(group.columns, axis=0))[:, 0]


def near_blocks(data: FloatArray, scalar: FloatArray, line: IntArray, own: IntArray, edges: IntArray, near: IntArray,
                far_starts: IntArray, far: IntArray, number: IntArray, S: FloatArray, grow: float,
                diagonal: FloatArray, off: FloatArray) -> None:
    """The blocks that a factor of neighbours takes of a matrix, into diagonal (V, 3, 3) and off (E, 3, 3).

    own (V, 2), near (E, 2) and far (F, 2) say where the diagonal's, the edges' and all other blocks begin in `data`,
    and where their scalars lie in `scalar`, -1 for none; a row's lines are line (V,) apart; far ones are sorted by
    row, from far_starts (V + 1,). A far one counts in the diagonal with the larger of its absolute row and column
    sums. number (V,) of each vertex's projection in S (n, 3, 3), -1 for none; the diagonal grows by `grow`.
    """
    rows = np.repeat(np.arange(len(own)), np.diff(far_starts))
    size = np.abs(_with_scalars(data, scalar, line[rows], far))
    size = np.maximum(size.sum(axis=1).max(axis=1), size.sum(axis=2).max(axis=1))
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


def inverse_diagonal(data: FloatArray, scalar: FloatArray, line: IntArray, own: IntArray, number: IntArray,
                     S: FloatArray) -> FloatArray:
    """Inverses (V, 3, 3) of the diagonal blocks, restricted to the directions left free; arguments as above."""
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
    """P A P + trace(A) / 3 (I - P), made symmetric."""
    trace = np.trace(A, axis1=1, axis2=2)[:, None, None] / 3.0
    restricted: FloatArray = P @ A @ P + trace * (np.eye(3) - P)
    return 0.5 * (restricted + restricted.transpose(0, 2, 1))


def _with_scalars(data: FloatArray, scalar: FloatArray, line: IntArray, places: IntArray) -> FloatArray:
    """Blocks (n, 3, 3) that begin at places[:, 0], with the scalars at places[:, 1] on their diagonals."""
    three = np.arange(3)
    at = places[:, 0, None, None] + three[:, None] * line[:, None, None] + three
    blocks: FloatArray = np.where(places[:, 0, None, None] < 0, 0.0, data[at])
    there = np.flatnonzero(places[:, 1] >= 0)
    for i in range(3):
        blocks[there, i, i] += scalar[places[there, 1]]
    return blocks
