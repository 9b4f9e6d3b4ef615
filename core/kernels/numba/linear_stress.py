# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of elements, and stresses that are linear in the change of their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray
from ...stencils.stencil import GROUP_SIZE
from ..formulas import rotation
from ..formulas.rotation import rotation_matrix
from .kernel_cache import njit
from .options import KERNEL
from .plain_functions import register
from .thread_pool import LEAST_ROWS, share

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil

register(rotation)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def element_turns(begin, end, vertices, quaternions, turn):  # type: ignore[no-untyped-def]
    """Write the rotation matrices of the elements of groups begin..end - 1 to turn (G, 9, 8), row by row.

    vertices (G, k, 8); quaternions (V, 4) of the vertices, of which each element takes the mean.
    """
    corners = vertices.shape[1]
    for g in range(begin, end):
        for e in range(GROUP_SIZE):
            w, x, y, z = 0.0, 0.0, 0.0, 0.0
            for i in range(corners):
                v = vertices[g, i, e]
                w += quaternions[v, 0]
                x += quaternions[v, 1]
                y += quaternions[v, 2]
                z += quaternions[v, 3]
            (turn[g, 0, e], turn[g, 1, e], turn[g, 2, e]), (turn[g, 3, e], turn[g, 4, e], turn[g, 5, e]), (
                turn[g, 6, e], turn[g, 7, e], turn[g, 8, e]) = rotation_matrix((w, x, y, z))


def add_linear_stress(stencil: Stencil, H: FloatArray, end: FloatArray, start: FloatArray, turn: FloatArray,
                      factor: float, P: FloatArray) -> None:
    """Add `factor` H dF to the stresses P (E, C, 3).

    dF are the columns of `end` (V, 3) less those of `start` (V, 3), which are turned by turn (G, 9, 8). H (E, C (C + 1)
    / 2, 9): blocks c <= d, row by row.
    """
    share(_add, len(stencil.vertices), LEAST_ROWS, stencil.vertices, stencil.weights, np.ascontiguousarray(end),
          np.ascontiguousarray(start), turn, H, factor, P)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _add(begin, end, vertices, weights, x1, x0, turn, H, factor, P):  # type: ignore[no-untyped-def]
    """Add the stresses of elements begin..end - 1; arguments as of `add_linear_stress`."""
    k, C = vertices.shape[1], weights.shape[2]
    d = np.empty((C, 3))
    for e in range(begin, end):
        first = vertices[e, 0]
        g, lane = e // GROUP_SIZE, e % GROUP_SIZE
        for c in range(C):
            total = weights[e, 0, c]
            a, b, z = 0.0, 0.0, 0.0
            p, q, r = 0.0, 0.0, 0.0
            for i in range(1, k):
                v, w = vertices[e, i], weights[e, i, c]
                total += w
                a += w * (x0[v, 0] - x0[first, 0])
                b += w * (x0[v, 1] - x0[first, 1])
                z += w * (x0[v, 2] - x0[first, 2])
                p += w * (x1[v, 0] - x1[first, 0])
                q += w * (x1[v, 1] - x1[first, 1])
                r += w * (x1[v, 2] - x1[first, 2])
            a, b, z = a + total * x0[first, 0], b + total * x0[first, 1], z + total * x0[first, 2]
            p, q, r = p + total * x1[first, 0], q + total * x1[first, 1], r + total * x1[first, 2]
            if len(turn) > 0:
                a, b, z = (turn[g, 0, lane] * a + turn[g, 1, lane] * b + turn[g, 2, lane] * z,
                           turn[g, 3, lane] * a + turn[g, 4, lane] * b + turn[g, 5, lane] * z,
                           turn[g, 6, lane] * a + turn[g, 7, lane] * b + turn[g, 8, lane] * z)
            d[c, 0], d[c, 1], d[c, 2] = p - a, q - b, r - z
        for c in range(C):
            for i in range(3):
                force = 0.0
                for m in range(C):
                    for j in range(3):
                        if c <= m:
                            h = H[e, c * C - c * (c - 1) // 2 + m - c, 3 * i + j]
                        else:
                            h = H[e, m * C - m * (m - 1) // 2 + c - m, 3 * j + i]
                        force += h * d[m, j]
                P[e, c, i] += factor * force
