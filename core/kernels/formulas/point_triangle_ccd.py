# SPDX-License-Identifier: GPL-3.0-or-later
"""The time at which a moving point meets the plane of a moving triangle.

All four points move straight from their start to their end, t = 0..1. The point x lies in the plane of (a, b, c) when

    f(t) = (x - a) . ((b - a) x (c - a)) = 0,

a cubic in t. In Bernstein form, f(t) = sum_k B_k(t) f_k with k = 0..3, it lies between its smallest and its largest
coefficient. Vectors are tuples of components, arrays (P,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .vectors import Vector, add, clip, cross, divide, dot, maximum, minimum, scale, select

OVERLAP = 1e-6
"""Largest distance beyond the border of a triangle at which a path still enters it, in barycentric weights [-]."""
HALVINGS = 40
"""Bisections of a root in time, down to 1e-12 of the step."""


def coplanarity(u0: Vector, u1: Vector, ab0: Vector, ab1: Vector, ac0: Vector, ac1: Vector) -> Any:
    """Return the Bernstein coefficients (f0, f1, f2, f3) of f [m^3].

    u = x - a, ab = b - a and ac = c - a [m] at the start (0) and at the end (1).
    """
    n0, n1 = cross(ab0, ac0), cross(ab1, ac1)
    twice_nm = add(cross(ab0, ac1), cross(ab1, ac0))
    return (dot(u0, n0), (dot(u1, n0) + dot(u0, twice_nm)) / 3.0, (dot(u0, n1) + dot(u1, twice_nm)) / 3.0,
            dot(u1, n1))


def bernstein(f0: Any, f1: Any, f2: Any, f3: Any, t: Any) -> Any:
    """Return the value at t of the cubic with Bernstein coefficients f0..f3."""
    s = 1.0 - t
    return s * s * (s * f0 + 3.0 * t * f1) + t * t * (3.0 * s * f2 + t * f3)


def extrema(f0: Any, f1: Any, f2: Any, f3: Any) -> Any:
    """Return two times in 0..1, in order, that divide the interval into pieces on which the cubic is monotonic.

    They are the roots of the derivative, clipped to 0..1. Without real roots the cubic is monotonic, and any times do.
    """
    d0, d1, d2 = f1 - f0, f2 - f1, f3 - f2                          # Bernstein coefficients of the derivative, over 3
    a, half_b = d0 - 2.0 * d1 + d2, d1 - d0
    discriminant = half_b * half_b - a * d0
    root = np.sqrt(select(discriminant > 0.0, discriminant, 0.0))
    q = -(half_b + np.copysign(root, half_b))
    one, other = clip(unit_ratio(q, a), 0.0, 1.0), clip(unit_ratio(d0, q), 0.0, 1.0)
    return minimum(one, other), maximum(one, other)


def unit_ratio(a: Any, b: Any) -> Any:
    """Return a / b if its absolute value is below 1, else 1."""
    return select(np.abs(a) >= np.abs(b), 1.0, divide(a, select(np.abs(a) < np.abs(b), b, 0.0)))


def between(a: Vector, b: Vector, t: Any) -> Vector:
    """Return (1 - t) a + t b."""
    return add(scale(1.0 - t, a), scale(t, b))


def entry_weights(u: Vector, ab: Vector, ac: Vector) -> Any:
    """Return the barycentric weights of a point in the plane of a triangle, and the square of twice its area [m^4].

    u, ab, ac: from corner a to the point and to corners b and c [m].
    """
    n = cross(ab, ac)
    nn = dot(n, n)
    w_b, w_c = divide(dot(cross(u, ac), n), nn), divide(dot(cross(ab, u), n), nn)
    return 1.0 - w_b - w_c, w_b, w_c, nn
