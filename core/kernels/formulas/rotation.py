# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations: from rotation vectors to unit quaternions (w, x, y, z), and from these to matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from .vectors import SMALLEST_DIVISOR


def quaternion(r: Any) -> Any:
    """Return the unit quaternion of the rotation by |r| [rad] about r, for a vector of components."""
    x, y, z = r
    angle = np.sqrt(x * x + y * y + z * z) + SMALLEST_DIVISOR
    s = np.sin(0.5 * angle) / angle
    return np.cos(0.5 * angle), s * x, s * y, s * z


def rotation_matrix(q: Any) -> Any:
    """Return the rows of the rotation matrix of a quaternion (w, x, y, z) of any length but zero.

    R = 1 + 2 w [v] + 2 [v]^2 for the quaternion (w, v) of unit length.
    """
    w, x, y, z = q
    f = 2.0 / (w * w + x * x + y * y + z * z)
    return ((1.0 - f * (y * y + z * z), f * (x * y - w * z), f * (x * z + w * y)),
            (f * (x * y + w * z), 1.0 - f * (x * x + z * z), f * (y * z - w * x)),
            (f * (x * z - w * y), f * (y * z + w * x), 1.0 - f * (x * x + y * y)))
