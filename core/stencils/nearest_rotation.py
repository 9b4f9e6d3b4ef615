# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest rotation of two or three columns, from their singular value decomposition.

    F = sum_i s_i u_i v_i^T,      R = sum_i u_i v_i^T

R is the rotation nearest to F, the projection in the local step of projective dynamics (004).

The method is one-sided Jacobi (Hestenes 1958). Pairs of columns of F are rotated into each other until all are
orthogonal; they are then s_i u_i, and the product of the rotations is V. Small singular values are as accurate as large
ones, which a decomposition of F^T F would not give. Two columns need one rotation. Three take a fixed number of sweeps,
so that the same source runs on arrays and on numbers.

R is always a rotation and never a reflection: for an inverted element the smallest s_i is negative. If F is flat, a
line or a point, R is not unique, and the missing u_i are arbitrary directions orthogonal to the others.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from .component_algebra import SMALLEST_DIVISOR, Columns, Vector, add, cross, direction, dot, length, scale
from .tolerances import ROUNDING_SHARE

JACOBI_SWEEPS = 5
"""Number of sweeps over the three pairs of columns. After four sweeps the rotations are below rounding [-]."""
Decomposition = tuple[Columns, Vector, Columns]
"""u_i, the values s_i in descending order, and v_i, one component of which belongs to each column of F.

Two columns have s_3 = 0."""


def svd_two_columns(F: Columns) -> Decomposition:
    """Return u_1, u_2, the values s_1 >= s_2 >= 0 and v_1, v_2 of F = (F_1, F_2)."""
    zero = 0.0 * F[0][0]
    one = zero + 1.0
    a, b, va, vb = jacobi_turn(F[0], F[1], (one, zero, zero), (zero, one, zero))
    a, b, va, vb = longer_first(a, b, va, vb)
    ua, ub = orthonormal_pair(a, b)
    return (ua, ub), (dot(ua, a), dot(ub, b), zero), (va, vb)


def svd_three_columns(F: Columns) -> Decomposition:
    """Return u_i, the values s_1 >= s_2 >= |s_3| and v_i of F = (F_1, F_2, F_3).

    Both u and v are right-handed.
    """
    zero = 0.0 * F[0][0]
    one = zero + 1.0
    a, b, c = F[0], F[1], F[2]
    va, vb, vc = (one, zero, zero), (zero, one, zero), (zero, zero, one)
    for _ in range(JACOBI_SWEEPS):
        a, b, va, vb = jacobi_turn(a, b, va, vb)
        a, c, va, vc = jacobi_turn(a, c, va, vc)
        b, c, vb, vc = jacobi_turn(b, c, vb, vc)
    a, b, va, vb = longer_first(a, b, va, vb)
    a, c, va, vc = longer_first(a, c, va, vc)
    b, c, vb, vc = longer_first(b, c, vb, vc)
    ua, ub = orthonormal_pair(a, b)
    uc = cross(ua, ub)
    return (ua, ub, uc), (dot(ua, a), dot(ub, b), dot(uc, c)), (va, vb, vc)


def jacobi_turn(a: Vector, b: Vector, va: Vector, vb: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Rotate a and b into each other until they are orthogonal; apply the same rotation to va and vb."""
    twice, difference = 2.0 * dot(a, b), dot(b, b) - dot(a, a)
    size = np.abs(difference) + np.sqrt(difference * difference + twice * twice)
    t = np.copysign(1.0, difference) * twice / np.maximum(size, SMALLEST_DIVISOR)
    cos = 1.0 / np.sqrt(1.0 + t * t)
    sin = t * cos
    return (add(scale(cos, a), scale(-sin, b)), add(scale(sin, a), scale(cos, b)),
            add(scale(cos, va), scale(-sin, vb)), add(scale(sin, va), scale(cos, vb)))


def longer_first(a: Vector, b: Vector, va: Vector, vb: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Return the arguments unchanged if |a| >= |b|, else rotated by 90 degrees, so that a is the longer one."""
    stay = at_least(dot(a, a), dot(b, b))
    go = 1.0 - stay
    return (add(scale(stay, a), scale(go, b)), add(scale(stay, b), scale(-go, a)),
            add(scale(stay, va), scale(go, vb)), add(scale(stay, vb), scale(-go, va)))


def orthonormal_pair(a: Vector, b: Vector) -> tuple[Vector, Vector]:
    """Return a unit vector along a, and one along the part of b orthogonal to a, where |a| >= |b|.

    Arbitrary orthonormal vectors replace those that are not determined.
    """
    zero = 0.0 * a[0]
    long = at_least(length(a), zero + SMALLEST_DIVISOR)
    u = add(scale(long, direction(a)), scale(1.0 - long, (zero + 1.0, zero, zero)))
    left = add(b, scale(-dot(u, b), u))
    known = at_least(length(left), ROUNDING_SHARE * length(a) + SMALLEST_DIVISOR)
    w = add(scale(known, direction(left)), scale(1.0 - known, perpendicular(u)))
    return u, direction(add(w, scale(-dot(u, w), u)))


def perpendicular(u: Vector) -> Vector:
    """Return a unit vector orthogonal to the unit vector u (Duff et al. 2017)."""
    sign = np.copysign(1.0, u[2])
    f = -1.0 / (sign + u[2])
    return (1.0 + sign * u[0] * u[0] * f, sign * u[0] * u[1] * f, -sign * u[0])


def at_least(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return 1.0 where a >= b, else 0.0; it works on arrays and on numbers."""
    return 0.5 + 0.5 * np.copysign(1.0, a - b)
