# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotation of patches of vertices from means over them; see `core/model/velocity_predictor.py`.

Vectors are tuples of components, arrays (V,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

from .vectors import Vector, cross, maximum, subtract


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
