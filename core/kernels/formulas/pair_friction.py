# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction impulse of one pair of primitives, and its state (stick or slip) after a solve.

Weights w_i and velocities u_i of the pair's four vertices, unit normal n, velocity s* [m/s] that colliders add:

    sliding velocity  s = (I - n n^T) (sum_i w_i u_i + s*)     [m/s]
    impulse           g - c s,  or g - c (q . s) q if q != 0   [N s]

with push g [N s], drag c [kg], and for a pair that slips the unit direction q across its slip, in the plane of contact.
Vectors are tuples of components, arrays (P,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

from ...arrays import BoolArray, FloatArray
from .vectors import (
    Vector,
    add,
    cross,
    divide,
    dot,
    is_nonzero,
    length,
    scale,
    select_vector,
    subtract,
    weighted_sum,
)


def sliding_velocity(weights: Any, u: Any, carried: Vector, n: Vector) -> Vector:
    """Return s [m/s] for four weights and four velocities u [m/s]; carried: s* [m/s]."""
    total = weighted_sum(carried, weights, u)
    return subtract(total, scale(dot(total, n), n))


def impulse(c: FloatArray, g: Vector, q: Vector, s: Vector) -> Vector:
    """Return the friction impulse [N s] at sliding velocity s [m/s]."""
    return subtract(g, scale(c, select_vector(is_nonzero(q), scale(dot(s, q), q), s)))


def stopping_impulse(s: Vector, hold: Vector, most: FloatArray) -> tuple[Vector, FloatArray]:
    """Return the impulse hold - most s that would stop the pair, and its size [N s].

    hold: impulse at the start of the step [N s]. most: drag of a pair that sticks [kg].
    """
    tried = subtract(hold, scale(most, s))
    return tried, length(tried)


def is_reversed(tried: Vector, size: FloatArray, before: Vector, q: Vector, limit: FloatArray) -> BoolArray:
    """Return whether friction at the limit would reverse a pair that slips (q != 0): then it stops within the step.

    tried, size: stopping impulse [N s], above the limit [N s]. before: impulse of the last solve [N s].
    """
    return is_nonzero(q) & (dot(scale(divide(limit, size), tried), before) < 0.0)


def slip(tried: Vector, size: FloatArray, s: Vector, n: Vector, limit: FloatArray, most: FloatArray) -> Any:
    """Return drag c [kg], push g [N s] and direction q of a pair that slips; 0 where the size is 0."""
    share = divide(limit, size)
    c, q = share * most, scale(divide(1.0, size), cross(n, tried))
    return c, add(scale(share, tried), scale(c * dot(s, q), q)), q
