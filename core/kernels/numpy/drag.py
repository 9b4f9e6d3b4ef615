# SPDX-License-Identifier: GPL-3.0-or-later
"""Air drag of triangles, by `formulas.drag`.

Each triangle has one or more vectors q [sqrt(kg/s)]; the sum of q q^T is -df_i/dv_j for any two of its corners i, j.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas.drag import air_vectors as air_formula
from ..formulas.drag import corner_drag, drag_vector
from .vectors import add, corners, join, split

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def add_force(stencil: Stencil, vectors: FloatArray, u: FloatArray, total: FloatArray) -> None:
    """Subtract the drag at velocities u (V, 3) [m/s] from the forces `total` (V, 3) [N].

    vectors (T, R, 3) [sqrt(kg/s)]: R vectors q of each triangle. stencil: sums up the three corners of each triangle.
    """
    (sum_of_corners,) = stencil.gather(u)
    drag = corner_drag(split(vectors[:, 0]), sum_of_corners)
    for row in range(1, vectors.shape[1]):
        drag = add(drag, corner_drag(split(vectors[:, row]), sum_of_corners))
    total -= stencil.scatter((drag,), len(u))


def drag_vectors(triangles: IntArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """Return q = sqrt(k_d A / 9) n (T, 3) [sqrt(kg/s)] of triangles (T, 3) at x (V, 3) [m]; coefficients: k_d (T,)."""
    a, b, c = corners(x, triangles)
    return join(drag_vector(a, b, c, coefficients))


def air_vectors(triangles: IntArray, x: FloatArray, u: FloatArray, c_n: FloatArray, c_t: FloatArray, slow: FloatArray,
                mass: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
    """Return q (T, 3, 3) [sqrt(kg/s)] and g (T, 3) [N] of triangles (T, 3) in a step of h [s].

    x (V, 3) [m]; u (V, 3): velocities relative to the air [m/s]. c_n, c_t, slow, mass (T,): of each triangle.
    """
    a, b, c = corners(x, triangles)
    v0, v1, v2 = corners(u, triangles)
    *q, g = air_formula(a, b, c, add(add(v0, v1), v2), c_n, c_t, slow, mass, h)
    return np.stack([join(row) for row in q], axis=1), join(g)
