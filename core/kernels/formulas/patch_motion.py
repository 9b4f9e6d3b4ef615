# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation of patches of vertices from means over them; see `core/model/velocity_predictor.py`.

Vectors are tuples of components, arrays (V,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rotation import quaternion, rotation_matrix
from .vectors import SMALLEST_DIVISOR, Vector, cross, dot, maximum, scale, subtract


def angular_velocity(c: Vector, V: Vector, moment: Vector, square: Vector, mixed: Vector, rounding: float,
                     smallest: float) -> Vector:
    """Return omega = I^-1 (mean of y x v, less c x V) of patches, with the inertia I about their means.

    Args:
        c, V: means of y and of v.
        moment: mean of y x v.
        square, mixed: means of yy and of y_x y_y, y_y y_z, y_z y_x.
        rounding, smallest: least inertia about any axis, over that about all, and the least number to divide by: a
            straight thread may turn about itself.
    """
    momentum = subtract(moment, cross(c, V))
    xx, yy, zz = square[0] - c[0] * c[0], square[1] - c[1] * c[1], square[2] - c[2] * c[2]
    f, g, e = -(mixed[0] - c[0] * c[1]), -(mixed[1] - c[1] * c[2]), -(mixed[2] - c[2] * c[0])
    total = xx + yy + zz
    least = rounding * total + smallest
    a, b, d = total - xx + least, total - yy + least, total - zz + least              # I = [a f e; f b g; e g d]
    ca, cf, ce = b * d - g * g, e * g - f * d, f * g - e * b                          # the adjugate of I
    cb, cg, cd = a * d - e * e, e * f - a * g, a * b - f * f
    scale: Any = 1.0 / maximum(a * ca + f * cf + e * ce, smallest)
    x, y, z = momentum
    return (scale * (ca * x + cf * y + ce * z), scale * (cf * x + cb * y + cg * z), scale * (ce * x + cg * y + cd * z))


def of_formula(omega: Vector, excess: float) -> Vector:
    """Return the turn a of a step [rad] from that of the velocities of a multistep formula, omega = a + excess a^3."""
    return scale(1.0 / (1.0 + excess * dot(omega, omega)), omega)


def of_chord(omega: Vector) -> Vector:
    """Return the turn of a step [rad] from that of its chords at arms half way: the chords of a turn by a are
    2 tan(a / 2) times these."""
    half = 0.5 * np.sqrt(dot(omega, omega)) + SMALLEST_DIVISOR
    return scale(np.arctan(half) / half, omega)


def matrix_of(r: Vector) -> Any:
    """Return the rows of the rotation matrix of a rotation vector r [rad]."""
    return rotation_matrix(quaternion(r))
