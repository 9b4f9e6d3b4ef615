# SPDX-License-Identifier: GPL-3.0-or-later
"""Singular values of two or three columns, and the rotation nearest to them, in plain arithmetic.

    F = sum_i s_i u_i v_i^T,      R = sum_i u_i v_i^T

One-sided Jacobi (Hestenes 1958): columns of F are turned in pairs until all are at right angles; they are then s_i u_i,
and the turns made are V. It keeps small singular values as exact as large ones, which squaring F would not. Two
columns take one turn; three take a fixed number of rounds, so that the same source runs on arrays and on numbers.

R is a rotation: of an element turned inside out the smallest s_i is negative, and not R a reflection. Where F does not
say how to turn, because it is flat or a line or a point, u_i is some direction at right angles to the others.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from .component_algebra import SMALLEST_DIVISOR, Columns, Vector, add, cross, direction, dot, length, scale
from .tolerances import ROUNDING_SHARE

JACOBI_SWEEPS = 5
"""Rounds over the three pairs of columns: turns are below rounding after four, from any start."""
Decomposition = tuple[Columns, Vector, Columns]
"""u_i, the values s_i in descending order (0 for a third where there are two columns) and v_i, whose components belong
to the columns of F."""


def svd_two_columns(F: Columns) -> Decomposition:
    """Of F = (F_1, F_2): u_1, u_2, values s_1 >= s_2 >= 0 and v_1, v_2."""
    zero = 0.0 * F[0][0]
    one = zero + 1.0
    a, b, va, vb = turned(F[0], F[1], (one, zero, zero), (zero, one, zero))
    a, b, va, vb = ordered(a, b, va, vb)
    ua, ub = first_two(a, b)
    return (ua, ub), (dot(ua, a), dot(ub, b), zero), (va, vb)


def svd_three_columns(F: Columns) -> Decomposition:
    """Of F = (F_1, F_2, F_3): u_i, values s_1 >= s_2 >= |s_3| and v_i; u and v are right-handed."""
    zero = 0.0 * F[0][0]
    one = zero + 1.0
    a, b, c = F[0], F[1], F[2]
    va, vb, vc = (one, zero, zero), (zero, one, zero), (zero, zero, one)
    for _ in range(JACOBI_SWEEPS):
        a, b, va, vb = turned(a, b, va, vb)
        a, c, va, vc = turned(a, c, va, vc)
        b, c, vb, vc = turned(b, c, vb, vc)
    a, b, va, vb = ordered(a, b, va, vb)
    a, c, va, vc = ordered(a, c, va, vc)
    b, c, vb, vc = ordered(b, c, vb, vc)
    ua, ub = first_two(a, b)
    uc = cross(ua, ub)
    return (ua, ub, uc), (dot(ua, a), dot(ub, b), dot(uc, c)), (va, vb, vc)


def turned(a: Vector, b: Vector, va: Vector, vb: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """a and b turned into each other until they are at right angles, va and vb likewise."""
    twice, difference = 2.0 * dot(a, b), dot(b, b) - dot(a, a)
    size = np.abs(difference) + np.sqrt(difference * difference + twice * twice)
    t = np.copysign(1.0, difference) * twice / np.maximum(size, SMALLEST_DIVISOR)
    cos = 1.0 / np.sqrt(1.0 + t * t)
    sin = t * cos
    return (add(scale(cos, a), scale(-sin, b)), add(scale(sin, a), scale(cos, b)),
            add(scale(cos, va), scale(-sin, vb)), add(scale(sin, va), scale(cos, vb)))


def ordered(a: Vector, b: Vector, va: Vector, vb: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """The same, or a quarter turn further, so that a is the longer one."""
    stay = above(dot(a, a), dot(b, b))
    go = 1.0 - stay
    return (add(scale(stay, a), scale(go, b)), add(scale(stay, b), scale(-go, a)),
            add(scale(stay, va), scale(go, vb)), add(scale(stay, vb), scale(-go, va)))


def first_two(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Unit vectors along a and, at right angles to it, along b, the shorter one; something where these vanish."""
    zero = 0.0 * a[0]
    long = above(length(a), zero + SMALLEST_DIVISOR)
    u = add(scale(long, direction(a)), scale(1.0 - long, (zero + 1.0, zero, zero)))
    left = add(b, scale(-dot(u, b), u))
    known = above(length(left), ROUNDING_SHARE * length(a) + SMALLEST_DIVISOR)
    w = add(scale(known, direction(left)), scale(1.0 - known, perpendicular(u)))
    return u, direction(add(w, scale(-dot(u, w), u)))


def perpendicular(u: Vector) -> Vector:
    """A unit vector at right angles to the unit vector u (Duff et al. 2017)."""
    sign = np.copysign(1.0, u[2])
    f = -1.0 / (sign + u[2])
    return (1.0 + sign * u[0] * u[0] * f, sign * u[0] * u[1] * f, -sign * u[0])


def above(a: FloatArray, b: FloatArray) -> FloatArray:
    """1.0 where a >= b, else 0.0: a choice that arrays and numbers make alike."""
    return 0.5 + 0.5 * np.copysign(1.0, a - b)
