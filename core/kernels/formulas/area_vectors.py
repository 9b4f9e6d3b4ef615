# SPDX-License-Identifier: GPL-3.0-or-later
"""Area vectors of triangles and their changes.

N = 1/2 (b - a) x (c - a) [m^2] is the area of the triangle (a, b, c) times its normal. Vectors are tuples of
components, arrays (T,) or plain numbers.
"""

from __future__ import annotations

from .vectors import Vector, add, cross, subtract


def area_vector(a: Vector, b: Vector, c: Vector) -> Vector:
    """Return N [m^2] of the triangle (a, b, c) [m]."""
    double = cross(subtract(b, a), subtract(c, a))
    return 0.5 * double[0], 0.5 * double[1], 0.5 * double[2]


def area_change(first: Vector, second: Vector, a: Vector, b: Vector, c: Vector) -> Vector:
    """Return dN of displacements a, b, c of the corners; first = (b - a) / 2 and second = (c - a) / 2 of the triangle,
    or multiples of both."""
    return add(cross(first, subtract(c, a)), cross(subtract(b, a), second))
