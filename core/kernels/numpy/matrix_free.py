# SPDX-License-Identifier: GPL-3.0-or-later
"""Products with a matrix that is not assembled: elements gather x, multiply by H and scatter the result.

For springs along threads one pass follows each thread (000). NumPy works on all elements at once, the compiled kernels
in one loop over elements and one over vertices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def add_element_product(stencil: Stencil, H: FloatArray, x: FloatArray, total: FloatArray) -> None:
    """Add sum_cd w_ic w_jd H_cd x_j of elements to total (V, 3); H (E, C (C + 1) / 2, 9), blocks c <= d row by row."""
    vertices, w = stencil.vertices, stencil.weights.transpose(1, 2, 0)                # (k, C, E)
    k, C = w.shape[:2]
    origin = x.T[:, vertices[:, 0]]                                                   # (3, E)
    corners = [x.T[:, vertices[:, i]] - origin for i in range(k)]
    F = [sum((w[i, c] * corners[i] for i in range(1, k)), start=w[:, c].sum(axis=0) * origin) for c in range(C)]
    P = [np.zeros_like(corners[0]) for _ in range(C)]
    number = 0
    for c in range(C):
        for d in range(c, C):
            for a in range(3):
                for b in range(3):
                    h = H[:, number, 3 * a + b]
                    P[c][a] += h * F[d][b]
                    if d > c:
                        P[d][b] += h * F[c][a]
            number += 1
    flat = vertices.T.ravel()
    for axis in range(3):
        each = np.concatenate([sum(w[i, c] * P[c][axis] for c in range(C)) for i in range(k)])
        total[:, axis] += np.bincount(flat, weights=each, minlength=len(total))


def add_spring_product(order: IntArray, k: FloatArray, l: FloatArray, alpha: FloatArray, d: FloatArray,  # noqa: E741
                       x: FloatArray, total: FloatArray) -> None:
    """Add K x of springs between successive vertices of order (n,), {k, l, alpha, d} (n - 1,), to total (V, 3).

    K = -J with G v = alpha v - (k + alpha) (d . v) / l^2 d. No vertex occurs twice in `order`; k and alpha are 0
    between two threads.
    """
    v = x[order]
    v = v[1:] - v[:-1]
    along = (k + alpha) / (l * l) * np.einsum("ei,ei->e", d, v)
    pull = along[:, None] * d - alpha[:, None] * v
    result = np.zeros((len(order), 3))
    result[1:] = pull
    result[:-1] -= pull
    total[order] += result
