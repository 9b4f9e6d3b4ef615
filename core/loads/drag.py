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
from ..stencils.stencil import Stencil


def drag_stencil(triangles: IntArray) -> Stencil:
    """One column per triangle (T, 3): the sum of its vertices' velocities."""
    return Stencil(triangles, np.ones((len(triangles), 3, 1)))


def air_drag_tangent(triangles: IntArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """-df/dv on the columns of `drag_stencil`, (1, 1, 3, 3, T) [kg/s], of triangles (T, 3) with k_d coefficients (T,)
    at positions x (V, 3) [m]."""
    a, b, c = (x[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a).T                              # 2 A n [m^2]
    double_area = np.sqrt((normal * normal).sum(axis=0))
    factor = coefficients / (18.0 * np.maximum(double_area, 1e-300))      # k_d A / 9 over (2 A)^2
    block: FloatArray = factor * normal[:, None] * normal[None]
    return block[None, None]
