# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of vertices on solids, as an explicit force (see `contact.friction`), by `formulas.vertex_friction`.

Arguments of both functions, for C contacts of which those in `at` (n,) act, each on another vertex: vertex (C,), unit
normals (C, 3), surface velocities `carried` (C, 3) [m/s], forces at rest `push` (C, 3) [N], drag coefficients (C,)
[kg/s] and slip directions `along` (C, 3), 0 for vertices that stick.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...row_ops import pick
from ..formulas.vertex_friction import friction_force, friction_resistance
from .vectors import join, join_block, split


def forces(at: IntArray, vertex: IntArray, normal: FloatArray, carried: FloatArray, push: FloatArray, drag: FloatArray,
           along: FloatArray, velocity: FloatArray) -> FloatArray:
    """Return the friction forces (V, 3) [N] at velocities (V, 3) [m/s]; 0 for vertices without a contact that acts."""
    total = np.zeros_like(velocity)
    on = vertex[at]
    n, t, s, f = (split(pick(rows, at)) for rows in (normal, along, carried, push))
    total[on] = join(friction_force(n, t, split(pick(velocity, on)), s, f, drag[at]))
    return total


def resistance(at: IntArray, vertex: IntArray, normal: FloatArray, drag: FloatArray, along: FloatArray, vertices: int
               ) -> FloatArray:
    """Return minus the derivative of the forces by velocities, one block per vertex (V, 3, 3) [kg/s].

    vertices: their number V.
    """
    blocks = np.zeros((vertices, 3, 3))
    n, t = split(pick(normal, at)), split(pick(along, at))
    blocks[vertex[at]] = join_block(friction_resistance(n, t, drag[at]))
    return blocks
