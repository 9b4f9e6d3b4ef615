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

from ...arrays import FloatArray
from .vectors import (
    Vector,
    add,
    cross,
    divide,
    dot,
    is_nonzero,
    length,
    scale,
    select,
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


def after_solve(c: FloatArray, g: Vector, q: Vector, s: Vector, n: Vector, hold: Vector, limit: FloatArray,
                most: FloatArray) -> Any:
    """Return the friction of the next solve: c, g, q; the change of the impulse and the growth of its size [N s].

    hold: impulse of the pair at the start of the step [N s]. limit: Coulomb limit of the impulse [N s]. most: drag
    of a pair that sticks [kg].

    A pair slips if the impulse that would stop it, hold - most s, is above the limit. It sticks again if friction
    at the limit would reverse the motion of a pair that slips: then it stops within the step.
    """
    before = impulse(c, g, q, s)
    tried = subtract(hold, scale(most, s))
    size = length(tried)
    share = divide(limit, size)
    reverses = is_nonzero(q) & (dot(scale(share, tried), before) < 0.0)
    slips, pressed, none = select(reverses, False, size > limit), limit > 0.0, (0.0, 0.0, 0.0)
    slip_drag, slip_across = share * most, scale(divide(1.0, size), cross(n, tried))
    slip_push = add(scale(share, tried), scale(slip_drag * dot(s, slip_across), slip_across))
    c = select(pressed, select(slips, slip_drag, most), 0.0)
    q = select_vector(slips, slip_across, none)
    g = select_vector(pressed, select_vector(slips, slip_push, hold), none)
    after = impulse(c, g, q, s)
    return c, g, q, length(subtract(after, before)), length(after) - length(before)
