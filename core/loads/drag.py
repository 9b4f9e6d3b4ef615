# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag: forces that are linear in the velocity, with their df/dv.

    viscous   f_i = - c_i v_i                               c_i = k_d [kg/(m^2 s)] times the vertex's area
    air       f   = - k_d A (n . (v - v_wind)) n            per triangle, v the mean of its corners

002 lists both (damping family), 001 section 4.4 mentions air drag. A and n are taken at the start of the step, which
makes the force linear in v and df/dv symmetric and semi-definite: each corner gets a third of the force, so
df_i/dv_j = - k_d A n n^T / 9.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray


def air_drag_blocks(triangles: IntArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """-df_i/dv_j (T, 3, 3, 3, 3) [kg/s] of triangles (T, 3) with k_d coefficients (T,) at positions x (V, 3) [m]."""
    a, b, c = (x[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)                                # 2 A n [m^2]
    double_area = np.linalg.norm(normal, axis=1)
    factor = coefficients / (18.0 * np.maximum(double_area, 1e-300))      # k_d A / 9 over (2 A)^2
    block = factor[:, None, None] * normal[:, :, None] * normal[:, None, :]
    return np.broadcast_to(block[:, None, None], (len(triangles), 3, 3, 3, 3))
