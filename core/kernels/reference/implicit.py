# SPDX-License-Identifier: GPL-3.0-or-later
"""Products with a matrix that is not there (000): scatter(H (gather x)), element by element or along threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def add_element_product(stencil: Stencil, H: FloatArray, x: FloatArray, total: FloatArray) -> None:
    """total (V, 3) += sum_cd w_ic w_jd H_cd x_j of elements with H (E, C (C + 1) / 2, 9), blocks c <= d row by row."""
    C = stencil.weights.shape[2]
    F = np.einsum("eia,eic->eca", x[stencil.vertices], stencil.weights)               # (E, C, 3)
    blocks = H.reshape(*H.shape[:2], 3, 3)
    P = np.zeros_like(F)
    number = 0
    for c in range(C):
        for d in range(c, C):
            P[:, c] += np.einsum("eab,eb->ea", blocks[:, number], F[:, d])
            if d > c:
                P[:, d] += np.einsum("eba,eb->ea", blocks[:, number], F[:, c])
            number += 1
    per_corner = np.einsum("eca,eic->aei", P, stencil.weights)                        # (3, E, k)
    flat = stencil.vertices.ravel()
    for axis in range(3):
        total[:, axis] += np.bincount(flat, weights=per_corner[axis].ravel(), minlength=len(total))


def add_spring_product(order: IntArray, k: FloatArray, l: FloatArray, alpha: FloatArray, d: FloatArray,  # noqa: E741
                       x: FloatArray, total: FloatArray) -> None:
    """total (V, 3) += K x of springs between each of order (n,) and the next, {k, l, alpha, d} (n - 1,): K = -J, and
    G v = alpha v - (k + alpha) (d . v) / l^2 d. No vertex is twice in `order`; k and alpha are 0 where a thread ends.
    """
    v = x[order]
    v = v[1:] - v[:-1]
    along = (k + alpha) / (l * l) * np.einsum("ei,ei->e", d, v)
    pull = along[:, None] * d - alpha[:, None] * v
    result = np.zeros((len(order), 3))
    result[1:] = pull
    result[:-1] -= pull
    total[order] += result
