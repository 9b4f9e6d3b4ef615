# SPDX-License-Identifier: GPL-3.0-or-later
"""Air drag of one triangle, from its velocity along its normal.

With the unit normal n, the area A [m^2] and the coefficient k_d, the vector q = sqrt(k_d A / 9) n [sqrt(kg/s)] gives
the drag q (q . sum_j u_j) [N] that each corner loses, for velocities u_j of the three corners [m/s]. Vectors are tuples
of components, arrays (T,) or plain numbers.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from .vectors import SMALLEST_DIVISOR, Vector, cross, dot, length, maximum, scale, subtract


def drag_vector(a: Vector, b: Vector, c: Vector, k_d: FloatArray) -> Vector:
    """Return q [sqrt(kg/s)] of the triangle (a, b, c) [m]."""
    normal = cross(subtract(b, a), subtract(c, a))                  # 2 A n [m^2]
    double_area = maximum(length(normal), SMALLEST_DIVISOR)
    return scale(np.sqrt(k_d / (18.0 * double_area)), normal)


def corner_drag(q: Vector, total: Vector) -> Vector:
    """Return q (q . total) [N]; total: the sum of the corners' velocities [m/s]."""
    return scale(dot(q, total), q)
