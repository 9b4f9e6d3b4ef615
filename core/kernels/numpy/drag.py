# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag of triangles: one vector q for each, whose outer product q q^T is -df_i/dv_j of every two of its corners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def add_force(stencil: Stencil, vectors: FloatArray, u: FloatArray, total: FloatArray) -> None:
    """total (V, 3) [N] -= D u for velocities u (V, 3), D of triangles with `vectors` (T, 3).

    stencil: its one column is the sum of a triangle's corners.
    """
    (rate,) = stencil.gather(u)
    along = vectors[:, 0] * rate[0] + vectors[:, 1] * rate[1] + vectors[:, 2] * rate[2]
    total -= stencil.scatter(along * vectors.T[None], len(u))


def drag_vectors(triangles: IntArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """q = sqrt(k_d A / 9) n (T, 3) [sqrt(kg/s)] of triangles (T, 3) with k_d = coefficients (T,) at x (V, 3) [m]."""
    a, b, c = (x[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)                                # 2 A n [m^2]
    double_area = np.maximum(np.sqrt((normal * normal).sum(axis=1)), 1e-300)
    result: FloatArray = np.sqrt(coefficients / (18.0 * double_area))[:, None] * normal
    return result
