# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a moving point enters a moving triangle, compiled: one pair at a time, as `numpy.point_triangle_ccd` has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ..numpy import point_triangle_ccd as reference
from .options import INLINED, INNER
from .vectors import add, cross, divide, dot, scale, subtract

OVERLAP, HALVINGS = reference.OVERLAP, reference.HALVINGS


@njit(**INNER)
def first_entry(p: Any, q: Any, a0: Any, b0: Any, c0: Any, a1: Any, b1: Any, c1: Any, closed: Any) -> Any:
    """Time of the first entry of the path p -> q, inf for none; the side it comes from; the weights of the place."""
    nothing = (np.inf, 0.0, (0.0, 0.0, 0.0))
    u0, ab0, ac0 = subtract(p, a0), subtract(b0, a0), subtract(c0, a0)
    u1, ab1, ac1 = subtract(q, a1), subtract(b1, a1), subtract(c1, a1)
    n0, n1 = cross(ab0, ac0), cross(ab1, ac1)
    twice_nm = add(cross(ab0, ac1), cross(ab1, ac0))
    f0, f3 = dot(u0, n0), dot(u1, n1)
    f1 = (dot(u1, n0) + dot(u0, twice_nm)) / 3.0
    f2 = (dot(u0, n1) + dot(u1, twice_nm)) / 3.0
    if not (min(min(f0, f1), min(f2, f3)) < 0.0 and max(max(f0, f1), max(f2, f3)) >= 0.0):
        return nothing

    d0, d1, d2 = f1 - f0, f2 - f1, f3 - f2                          # the derivative's coefficients, over 3
    a, half_b = d0 - 2.0 * d1 + d2, d1 - d0
    root = half_b + np.copysign(np.sqrt(max(half_b * half_b - a * d0, 0.0)), half_b)
    one, other = min(max(_ratio(-root, a), 0.0), 1.0), min(max(_ratio(d0, -root), 0.0), 1.0)
    cuts = (0.0, min(one, other), max(one, other), 1.0)
    values = (f0, _bernstein(f0, f1, f2, f3, cuts[1]), _bernstein(f0, f1, f2, f3, cuts[2]), f3)
    for piece in range(3):
        front = values[piece] >= 0.0
        if front == (values[piece + 1] >= 0.0) or (closed and not front):
            continue
        low, high = cuts[piece], cuts[piece + 1]
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if (_bernstein(f0, f1, f2, f3, middle) >= 0.0) == front:
                low = middle
            else:
                high = middle
        u, ab, ac = _between(u0, u1, low), _between(ab0, ab1, low), _between(ac0, ac1, low)
        n = cross(ab, ac)
        nn = dot(n, n)
        w_b, w_c = divide(dot(cross(u, ac), n), nn), divide(dot(cross(ab, u), n), nn)
        w_a = 1.0 - w_b - w_c
        if nn > 0.0 and min(min(w_a, w_b), w_c) >= -OVERLAP:
            w = max(w_a, 0.0), max(w_b, 0.0), max(w_c, 0.0)
            total = w[0] + w[1] + w[2]
            return low, 1.0 if front else -1.0, (w[0] / total, w[1] / total, w[2] / total)
    return nothing


@njit(**INLINED)
def _bernstein(f0: Any, f1: Any, f2: Any, f3: Any, t: Any) -> Any:
    s = 1.0 - t
    return s * s * (s * f0 + 3.0 * t * f1) + t * t * (3.0 * s * f2 + t * f3)


@njit(**INLINED)
def _ratio(a: Any, b: Any) -> Any:
    """a / b where it is within 0..1, else an end of that range."""
    return 1.0 if abs(a) >= abs(b) else divide(a, b)


@njit(**INLINED)
def _between(a: Any, b: Any, t: Any) -> Any:
    """(1 - t) a + t b"""
    return add(scale(1.0 - t, a), scale(t, b))
