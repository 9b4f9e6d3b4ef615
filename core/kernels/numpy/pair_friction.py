# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction impulses of pair contacts (see `contact.repulsion`), by `formulas.pair_friction`.

Arguments of both functions, one row per pair: vertices and weights (P, 4), unit normals (P, 3), velocities `carried`
(P, 3) [m/s] that colliders add, drag (P,) [kg], push (P, 3) [N s], unit vectors `across` (P, 3), 0 for pairs that
stick; and velocity (V, 3) [m/s] of the vertices.
"""

from __future__ import annotations

from ...arrays import FloatArray, IntArray
from ..formulas.pair_friction import impulse, is_reversed, sliding_velocity, slip, stopping_impulse
from ..formulas.vectors import length, select
from .vectors import Vector, columns, corners, join, select_vector, split, subtract


def impulses(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
             push: FloatArray, across: FloatArray, velocity: FloatArray) -> FloatArray:
    """Return the friction impulse of each pair (P, 3) [N s]."""
    slide = _slide(vertices, weights, normals, carried, velocity)
    return join(impulse(drag, split(push), split(across), slide))


def corrected(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
              push: FloatArray, across: FloatArray, velocity: FloatArray, hold: FloatArray, limit: FloatArray,
              most: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the friction of the next solve, from the solution `velocity` of this one.

    hold (P, 3) [N s]: impulse of each pair at the start of the step. limit (P,) [N s]: its Coulomb limit. most (P,)
    [kg]: drag of pairs that stick.

    Returns:
        drag (P,), push (P, 3) and across (P, 3); the size of each impulse's change (P,) [N s]; and by how much the
        size of each grew (P,) [N s].
    """
    slide = _slide(vertices, weights, normals, carried, velocity)
    q, held, none = split(across), split(hold), (0.0, 0.0, 0.0)
    before = impulse(drag, split(push), q, slide)
    tried, size = stopping_impulse(slide, held, most)
    slips, pressed = (size > limit) & ~is_reversed(tried, size, before, q, limit), limit > 0.0
    slip_drag, slip_push, slip_across = slip(tried, size, slide, split(normals), limit, most)
    c, q = select(pressed, select(slips, slip_drag, most), 0.0), select_vector(slips, slip_across, none)
    g = select_vector(pressed, select_vector(slips, slip_push, held), none)
    after = impulse(c, g, q, slide)
    return c, join(g), join(q), length(subtract(after, before)), length(after) - length(before)


def _slide(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, velocity: FloatArray
           ) -> Vector:
    """Return the sliding velocity of the first primitive over the second one [m/s], as components (P,)."""
    return sliding_velocity(columns(weights), corners(velocity, vertices), split(carried), split(normals))
