# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather from vertices to elements, scatter from elements to vertices, and element blocks.

Every sum has a fixed order, so that two runs give the same bytes. `np.bincount` adds in the order of its input and is
several times faster than `np.add.at`.

Columns are sums of differences to the element's first vertex, w_ic (x_i - x_0), so that rounding is relative to the
size of the element and not to its distance from the origin.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray


def gather(vertices: IntArray, weights: FloatArray, x: FloatArray) -> Any:
    """Return F_c = sum_i w_ic x_i as a tuple of C tuples of 3 component arrays (E,).

    vertices (k, E), weights (k, C, E), x (V, 3).
    """
    corners = [[column.take(v) for v in vertices] for column in np.ascontiguousarray(x.T)]          # axis, vertex
    for corner in corners:
        for i in range(1, len(corner)):
            corner[i] -= corner[0]
    held = np.add.reduce(weights)                       # (C, E), zero but for elements that are held in space
    return tuple(tuple(_sum_of([held[c], *weights[1:, c]], corners[axis]) for axis in range(3))
                 for c in range(weights.shape[1]))


def scatter(vertices: IntArray, weights: FloatArray, columns: Any, vertex_count: int) -> FloatArray:
    """Return the sums of sum_c w_ic columns_c at each vertex (V, 3): the transpose of `gather`."""
    flat, per_corner = vertices.ravel(), np.empty(vertices.shape)
    total = np.empty((vertex_count, 3))
    for axis in range(3):
        P = [column[axis] for column in columns]
        for w, corner in zip(weights, per_corner, strict=True):
            corner[:] = _sum_of(w, P)
        total[:, axis] = np.bincount(flat, weights=per_corner.ravel(), minlength=vertex_count)
    return total


def element_blocks(weights: FloatArray, tangent: FloatArray, blocks: FloatArray) -> None:
    """Write K_ij = sum_cd w_ic w_jd H_cd to blocks (9, k, k, E), with weights (k, C, E) and H (C, C, 3, 3, E)."""
    k, C, E = weights.shape
    H, term = tangent.reshape(C, C, 9, E), np.empty((9, E))
    for i in range(k):
        half = [_sum_of(weights[i], H[:, d]) for d in range(C)]
        for j in range(k):
            total = blocks[:, i, j]
            np.multiply(weights[j, 0], half[0], out=total)
            for d in range(1, C):
                total += np.multiply(weights[j, d], half[d], out=term)


def _sum_of(weights: Any, parts: Any) -> FloatArray:
    """Return sum_n w_n part_n, for weights (N, E) and parts (.., E)."""
    total: FloatArray = weights[0] * parts[0]
    for n in range(1, len(parts)):
        total += weights[n] * parts[n]
    return total
