# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction impulses of pair contacts (see `contact.repulsion`), by `formulas.pair_friction`.

Arguments of both functions, one row per pair: vertices and weights (P, 4), unit normals (P, 3), velocities `carried`
(P, 3) [m/s] that colliders add, drag (P,) [kg], push (P, 3) [N s], unit vectors `across` (P, 3), 0 for pairs that
stick; and velocity (V, 3) [m/s] of the vertices.
"""

from __future__ import annotations

from ...arrays import FloatArray, IntArray
from ..formulas.pair_friction import after_solve, impulse, sliding_velocity
from .vectors import Vector, columns, corners, join, split


def impulses(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
             push: FloatArray, across: FloatArray, velocity: FloatArray) -> FloatArray:
    """Return the friction impulse of each pair (P, 3) [N s]."""
    slide = _slide(vertices, weights, normals, carried, velocity)
    return join(impulse(drag, split(push), split(across), slide))


def corrected(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
              push: FloatArray, across: FloatArray, velocity: FloatArray, hold: FloatArray, limit: FloatArray,
              most: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    """Return the friction of the next solve, from the solution `velocity` of this one.

    hold (P, 3) [N s]: impulse of each pair at the start of the step. limit (P,) [N s]: its Coulomb limit. most (P,)
    [kg]: drag of pairs that stick.

    Returns:
        drag (P,), push (P, 3) and across (P, 3); the size of each impulse's change (P,) [N s]; and the sum over all
        pairs by which the sizes of the impulses grew [N s].
    """
    slide = _slide(vertices, weights, normals, carried, velocity)
    c, g, q, change, growth = after_solve(drag, split(push), split(across), slide, split(normals), split(hold), limit,
                                          most)
    return c, join(g), join(q), change, float(growth.sum())


def _slide(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, velocity: FloatArray
           ) -> Vector:
    """Return the sliding velocity of the first primitive over the second one [m/s], as components (P,)."""
    return sliding_velocity(columns(weights), corners(velocity, vertices), split(carried), split(normals))
