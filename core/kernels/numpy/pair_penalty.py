# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps, forces and stiffness matrix of pair contacts, by `formulas.pair_penalty`.

The matrix is C = sum_p w w^T (x) B_p with B_p = a n n^T + b (I - n n^T). Its diagonal blocks are added to the matrix of
the system, where preconditioners use them; the rest acts as an operator.

Arguments of all functions, one row per pair: vertices and weights (P, 4), unit normals (P, 3), a = `along` (P,) and
b = `across` (P,).
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas.pair_penalty import contact_block, gap, product_beside_diagonal
from ..formulas.vectors import weighted_sum
from .vectors import at_vertices, columns, corners, join_block, split


def gaps(vertices: IntArray, weights: FloatArray, normals: FloatArray, fixed: FloatArray, base: FloatArray,
         velocity: FloatArray, h: float) -> FloatArray:
    """Return n . (sum_i w_i x_i + fixed) (P,) [m] for fixed (P, 3) [m], at x = base + h velocity (V, 3) [m]."""
    return gap(columns(weights), corners(base + h * velocity, vertices), split(fixed), split(normals))


def scattered(vertices: IntArray, weights: FloatArray, force: FloatArray, count: int) -> FloatArray:
    """Return the sum of w_i f at each of `count` vertices (V, 3), for the force f (P, 3) of each pair."""
    parts, at = weights[:, :, None] * force[:, None, :], vertices.ravel()
    sums = [np.bincount(at, parts[:, :, axis].ravel(), minlength=count) for axis in range(3)]
    return np.stack(sums, axis=1).astype(np.float64, copy=False)             # integers if there are no pairs


def diagonal(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
             count: int) -> FloatArray:
    """Return the diagonal blocks of C (V, 3, 3) for `count` vertices."""
    block = join_block(contact_block(along, across, split(normals)))
    parts, at = (weights**2)[:, :, None] * block.reshape(-1, 1, 9), vertices.ravel()
    entries = [np.bincount(at, parts[:, :, entry].ravel(), minlength=count) for entry in range(9)]
    result: FloatArray = np.stack(entries, axis=1).astype(np.float64, copy=False).reshape(-1, 3, 3)
    return result


def add_product(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
                x: FloatArray, result: FloatArray) -> None:
    """Add the product of C, without its diagonal blocks, and x (V, 3) to result (V, 3)."""
    w, (a, b, c) = np.ascontiguousarray(weights.T), at_vertices(x, vertices)
    total = weighted_sum((0.0, 0.0, 0.0), w, tuple(zip(a, b, c, strict=True)))
    parts = product_beside_diagonal(w, (a, b, c), total, along, across, split(normals))
    at = vertices.ravel()
    for axis, part in enumerate(parts):
        result[:, axis] += np.bincount(at, part.T.ravel(), minlength=len(x))
