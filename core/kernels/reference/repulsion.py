# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix of pair contacts, C = sum_p w w^T (x) B_p with B_p = a n n^T + b (I - n n^T), as an operator.

Its diagonal blocks are in the system's own matrix, where preconditioners find them; here is what is left.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def add_product(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
                x: FloatArray, result: FloatArray) -> None:
    """result += (C - its diagonal blocks) x for x, result (V, 3).

    Per pair: vertices and weights w (P, 4), unit normals n (P, 3), a = along (P,), b = across (P,).
    """
    corner = x[vertices]                                                    # (P, 4, 3)
    total = np.einsum("pk,pki->pi", weights, corner)[:, None, :] - weights[:, :, None] * corner
    part = ((along - across)[:, None] * np.einsum("pki,pi->pk", total, normals))[:, :, None] * normals[:, None, :]
    part += across[:, None, None] * total
    part *= weights[:, :, None]
    for axis in range(3):
        result[:, axis] += np.bincount(vertices.ravel(), part[:, :, axis].ravel(), minlength=len(x))
