# SPDX-License-Identifier: GPL-3.0-or-later
"""Between vertices and elements: gather, scatter, element blocks.

Every sum has a fixed order, so two runs give the same bytes.
`np.bincount` adds in the order of its input and is several times quicker than `np.add.at`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray


def gather(vertices: IntArray, weights: FloatArray, x: FloatArray) -> Any:
    """F_c = sum_i w_ic x_i as a tuple of C tuples of 3 component arrays (E,).

    vertices (E, k), weights (E, k, C), x (V, 3).
    """
    corners = x[vertices]                                          # (E, k, 3)
    F = np.einsum("eia,eic->cae", corners, weights, order="C")     # (C, 3, E)
    return tuple((column[0], column[1], column[2]) for column in F)


def scatter(vertices: IntArray, weights: FloatArray, columns: Any, vertex_count: int) -> FloatArray:
    """sum_c w_ic columns_c added up per vertex (V, 3): the transpose of `gather`."""
    P = np.array(columns)                                          # (C, 3, E)
    per_corner = np.einsum("cae,eic->aei", P, weights)             # (3, E, k)
    flat = vertices.ravel()
    total = np.empty((vertex_count, 3))
    for axis in range(3):
        total[:, axis] = np.bincount(flat, weights=per_corner[axis].ravel(), minlength=vertex_count)
    return total


def element_blocks(weights: FloatArray, tangent: Any) -> FloatArray:
    """K_ij = sum_cd w_ic w_jd H_cd of every element as (E, k, k, 3, 3); tangent H[c][d][i][j] of (E,) arrays,
    as tuples or as one array."""
    E, k, C = weights.shape
    H = np.empty((E, C, C, 9))
    for c in range(C):
        for d in range(C):
            for i in range(3):
                for j in range(3):
                    H[:, c, d, 3 * i + j] = tangent[c][d][i][j]
    half = weights @ H.reshape(E, C, C * 9)                        # (E, k, C * 9)
    half = half.reshape(E, k, C, 9).transpose(0, 2, 1, 3).reshape(E, C, k * 9)
    full = weights @ half                                          # (E, j, i * 9)
    return full.reshape(E, k, k, 3, 3).transpose(0, 2, 1, 3, 4)
