# SPDX-License-Identifier: GPL-3.0-or-later
"""Products with a matrix that is not assembled: one loop over elements, then one over vertices.

NumPy works on all elements at once, with arrays of their columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray, IntArray
from .assembly import subtract_scattered
from .kernel_cache import njit
from .options import KERNEL
from .thread_pool import LEAST_VERTICES, share

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def add_element_product(stencil: Stencil, H: FloatArray, x: FloatArray, total: FloatArray) -> None:
    """Add sum_cd w_ic w_jd H_cd x_j of elements to total (V, 3); H (E, C (C + 1) / 2, 9), blocks c <= d row by row."""
    E, _, C = stencil.weights.shape
    P = stencil.workspace.numbers(E * C * 3).reshape(E, C, 3)
    share(_stresses, E, LEAST_VERTICES, stencil.vertices, stencil.weights, H, x, P)
    subtract_scattered(stencil, P, total)


def add_spring_product(order: IntArray, k: FloatArray, l: FloatArray, alpha: FloatArray, d: FloatArray,  # noqa: E741
                       x: FloatArray, total: FloatArray) -> None:
    """Add K x of springs between successive vertices of order (n,), {k, l, alpha, d} (n - 1,), to total (V, 3).

    K = -J with G v = alpha v - (k + alpha) (d . v) / l^2 d. No vertex occurs twice in `order`; k and alpha are 0
    between two threads.
    """
    _add_springs(order, k, l, alpha, d, x, total)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _stresses(begin, end, vertices, weights, H, x, P):  # type: ignore[no-untyped-def]
    """Write P_c = -sum_d H_cd F_d of elements begin..end - 1, with F_d = sum_i w_id x_i, to P (E, C, 3).

    vertices (E, k), weights (E, k, C), H (E, C (C + 1) / 2, 9): blocks c <= d, row by row. x (V, 3).
    """
    u = np.uintp
    k, C = weights.shape[1], weights.shape[2]
    F = np.empty((C, 3))
    for e in range(u(begin), u(end)):
        for c in range(C):
            o, total = vertices[e, 0], weights[e, 0, c]
            a, b, d = 0.0, 0.0, 0.0
            for i in range(1, k):
                v, w = vertices[e, i], weights[e, i, c]
                total += w
                a += w * (x[v, 0] - x[o, 0])
                b += w * (x[v, 1] - x[o, 1])
                d += w * (x[v, 2] - x[o, 2])
            F[c, 0], F[c, 1], F[c, 2] = a + total * x[o, 0], b + total * x[o, 1], d + total * x[o, 2]
            P[e, c, 0], P[e, c, 1], P[e, c, 2] = 0.0, 0.0, 0.0
        number = 0
        for c in range(C):
            for d in range(c, C):
                for a in range(3):
                    for b in range(3):
                        h = H[e, number, 3 * a + b]
                        P[e, c, a] -= h * F[d, b]
                        if d > c:
                            P[e, d, b] -= h * F[c, a]
                number += 1


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _add_springs(order, k, l, alpha, d, x, total):  # type: ignore[no-untyped-def]  # noqa: E741
    """Add the product of the springs along `order` and x (V, 3) to total, as `add_spring_product`."""
    u = np.uintp
    v = order[0]
    x0, x1, x2 = x[v, 0], x[v, 1], x[v, 2]
    p0, p1, p2 = 0.0, 0.0, 0.0                                     # force of the previous spring
    for e in range(u(len(k))):
        w = order[e + u(1)]
        y0, y1, y2 = x[w, 0], x[w, 1], x[w, 2]
        v0, v1, v2 = y0 - x0, y1 - x1, y2 - x2
        along = (k[e] + alpha[e]) / (l[e] * l[e]) * (d[e, 0] * v0 + d[e, 1] * v1 + d[e, 2] * v2)
        q0, q1, q2 = along * d[e, 0] - alpha[e] * v0, along * d[e, 1] - alpha[e] * v1, along * d[e, 2] - alpha[e] * v2
        total[v, 0] += p0 - q0
        total[v, 1] += p1 - q1
        total[v, 2] += p2 - q2
        v, x0, x1, x2, p0, p1, p2 = w, y0, y1, y2, q0, q1, q2
    total[v, 0] += p0
    total[v, 1] += p1
    total[v, 2] += p2
