# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of vertices on solids where it is no constraint, as `contact.friction` describes it.

    f - c (I - n n^T - t t^T) s,   s = u - s*,   t = f / |f|, or 0 where there is no f        [N]

with the force f along the sliding of what slips, and the drag c across it; what creeps has a drag alone.

Of C contacts, of which `at` (n,) are asked, all of different vertices: vertex (C,), unit normals n (C, 3), velocities
of the surface s* (C, 3) [m/s], forces f (C, 3) [N], drags c (C,) [kg/s].
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...rows import length, pick


def forces(at: IntArray, vertex: IntArray, normal: FloatArray, carried: FloatArray, force: FloatArray, drag: FloatArray,
           velocity: FloatArray) -> FloatArray:
    """Forces (V, 3) [N] at velocities u (V, 3) [m/s]; 0 on all other vertices."""
    total = np.zeros_like(velocity)
    on, f = vertex[at], pick(force, at)
    slide = pick(velocity, on) - pick(carried, at)
    across = slide
    for direction in (pick(normal, at), _along(f)):
        across = across - np.einsum("nj,nj->n", direction, slide)[:, None] * direction
    total[on] = f - drag[at][:, None] * across
    return total


def resistance(at: IntArray, vertex: IntArray, normal: FloatArray, force: FloatArray, drag: FloatArray, vertices: int
               ) -> FloatArray:
    """What velocities take from the forces, c (I - n n^T - t t^T) (V, 3, 3) [kg/s], of so many `vertices`."""
    blocks = np.zeros((vertices, 3, 3))
    n, t = pick(normal, at), _along(pick(force, at))
    across = np.eye(3) - n[:, :, None] * n[:, None, :] - t[:, :, None] * t[:, None, :]
    blocks[vertex[at]] = drag[at][:, None, None] * across
    return blocks


def _along(force: FloatArray) -> FloatArray:
    """Unit vectors (n, 3) along forces (n, 3), 0 where there is none."""
    size = length(force)
    return force * (1.0 / np.where(size > 0.0, size, np.inf))[:, None]
