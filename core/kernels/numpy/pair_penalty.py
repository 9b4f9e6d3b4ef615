# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps of pair contacts, what their forces add up to, and their matrix.

The matrix is C = sum_p w w^T (x) B_p with B_p = a n n^T + b (I - n n^T). Its diagonal blocks are in the system's own
matrix, where preconditioners find them; what is left is an operator.

Per pair, everywhere: vertices and weights w (P, 4), unit normals n (P, 3), a = along (P,), b = across (P,).
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...row_ops import pick


def gaps(vertices: IntArray, weights: FloatArray, normals: FloatArray, fixed: FloatArray, base: FloatArray,
         velocity: FloatArray, h: float) -> FloatArray:
    """n . (sum_i w_i x_i + fixed) (P,) [m] for fixed (P, 3) [m], at x = base + h velocity (V, 3)."""
    offset = np.einsum("pk,pki->pi", weights, pick(base + h * velocity, vertices)) + fixed
    gap: FloatArray = np.einsum("pi,pi->p", offset, normals)
    return gap


def scattered(vertices: IntArray, weights: FloatArray, force: FloatArray, count: int) -> FloatArray:
    """Sums (V, 3) of w_i f for forces f (P, 3), on so many vertices."""
    parts, at = weights[:, :, None] * force[:, None, :], vertices.ravel()
    columns = [np.bincount(at, parts[:, :, axis].ravel(), minlength=count) for axis in range(3)]
    return np.stack(columns, axis=1).astype(np.float64, copy=False)          # of no pairs they are whole numbers


def diagonal(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
             count: int) -> FloatArray:
    """The diagonal blocks (V, 3, 3) of C, of so many vertices."""
    block = (along - across)[:, None, None] * (normals[:, :, None] * normals[:, None, :])
    block += across[:, None, None] * np.eye(3)
    parts, at = (weights**2)[:, :, None] * block.reshape(-1, 1, 9), vertices.ravel()
    entries = [np.bincount(at, parts[:, :, entry].ravel(), minlength=count) for entry in range(9)]
    result: FloatArray = np.stack(entries, axis=1).astype(np.float64, copy=False).reshape(-1, 3, 3)
    return result


def add_product(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
                x: FloatArray, result: FloatArray) -> None:
    """result += (C - its diagonal blocks) x for x, result (V, 3)."""
    corner = x[vertices]                                                    # (P, 4, 3)
    total = np.einsum("pk,pki->pi", weights, corner)[:, None, :] - weights[:, :, None] * corner
    part = ((along - across)[:, None] * np.einsum("pki,pi->pk", total, normals))[:, :, None] * normals[:, None, :]
    part += across[:, None, None] * total
    part *= weights[:, :, None]
    for axis in range(3):
        result[:, axis] += np.bincount(vertices.ravel(), part[:, :, axis].ravel(), minlength=len(x))
