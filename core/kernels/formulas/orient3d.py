# SPDX-License-Identifier: GPL-3.0-or-later
"""The side of a plane on which a point lies, as far as rounding lets it be known (Shewchuk 1997).

Vectors are tuples of components, arrays (P,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .vectors import Vector, cross, dot, select, subtract

VOLUME_ROUNDING = 8e-16
"""Largest error of a volume, over the sum of the sizes of its terms [-]."""
UNSURE = 2
"""The side of a point whose volume is not larger than its error."""


def side(a: Vector, b: Vector, c: Vector, d: Vector) -> Any:
    """Return 1 if d lies in front of the triangle (a, b, c), -1 behind, 0 in its plane, or `UNSURE`."""
    u, v, w = subtract(a, d), subtract(b, d), subtract(c, d)
    volume = -dot(u, cross(v, w))                                     # six times
    size = (np.abs(u[0]) * (np.abs(v[1] * w[2]) + np.abs(v[2] * w[1]))
            + np.abs(u[1]) * (np.abs(v[2] * w[0]) + np.abs(v[0] * w[2]))
            + np.abs(u[2]) * (np.abs(v[0] * w[1]) + np.abs(v[1] * w[0])))
    sure = select(volume > 0.0, 1, -1)
    return select(size == 0.0, 0, select(np.abs(volume) <= VOLUME_ROUNDING * size, UNSURE, sure))
