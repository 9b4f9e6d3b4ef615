# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of vertices on solids where it is no constraint, as `contact.friction` describes it.

    f - c (I - n n^T - t t^T) s,   s = u - s*        [N]

with t the direction in which what slips is held, 0 where nothing slips: across it, or all around, there is a drag c.

Of C contacts, of which `at` (n,) are asked, all of different vertices: vertex (C,), unit normals n (C, 3), velocities
of the surface s* (C, 3) [m/s], forces f (C, 3) [N] across n, drags c (C,) [kg/s], directions t (C, 3) across n.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...row_ops import pick


def forces(at: IntArray, vertex: IntArray, normal: FloatArray, carried: FloatArray, push: FloatArray, drag: FloatArray,
           along: FloatArray, velocity: FloatArray) -> FloatArray:
    """Forces (V, 3) [N] at velocities u (V, 3) [m/s]; 0 on all other vertices."""
    total = np.zeros_like(velocity)
    on = vertex[at]
    slide = pick(velocity, on) - pick(carried, at)
    across = slide
    for direction in (pick(normal, at), pick(along, at)):
        across = across - np.einsum("nj,nj->n", direction, slide)[:, None] * direction
    total[on] = pick(push, at) - drag[at][:, None] * across
    return total


def resistance(at: IntArray, vertex: IntArray, normal: FloatArray, drag: FloatArray, along: FloatArray, vertices: int
               ) -> FloatArray:
    """What velocities take from the forces, c (I - n n^T - t t^T) (V, 3, 3) [kg/s], of so many `vertices`."""
    blocks = np.zeros((vertices, 3, 3))
    n, t = pick(normal, at), pick(along, at)
    across = np.eye(3) - n[:, :, None] * n[:, None, :] - t[:, :, None] * t[:, None, :]
    blocks[vertex[at]] = drag[at][:, None, None] * across
    return blocks

