# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs of volumes of four points as far as rounding lets them be known; `contact.crossings` decides the rest."""

from __future__ import annotations

import numpy as np

from ...arrays import IntArray
from .vectors import Vector, cross, dot, subtract

ROUNDING = 8e-16
"""Error of a volume over the sum of the sizes of its terms [-] (Shewchuk 1997)."""
UNSURE = 2


def sides(a: Vector, b: Vector, c: Vector, d: Vector) -> IntArray:
    """Signs (P,) of the volumes of (a, b, c, d): 1 where d lies in front of (a, b, c), 0 in the plane, or UNSURE."""
    u, v, w = subtract(a, d), subtract(b, d), subtract(c, d)
    volume = -dot(u, cross(v, w))
    size = (
        np.abs(u[0]) * (np.abs(v[1] * w[2]) + np.abs(v[2] * w[1]))
        + np.abs(u[1]) * (np.abs(v[2] * w[0]) + np.abs(v[0] * w[2]))
        + np.abs(u[2]) * (np.abs(v[0] * w[1]) + np.abs(v[1] * w[0]))
    )
    sign = np.sign(volume).astype(np.int64)
    sign[(np.abs(volume) <= ROUNDING * size) & (size > 0.0)] = UNSURE
    return sign
