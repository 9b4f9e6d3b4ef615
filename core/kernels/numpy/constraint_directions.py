# SPDX-License-Identifier: GPL-3.0-or-later
"""Directions in which constraints prescribe velocities of particles, and the directions left free.

Each of the n constrained particles has room for three orthonormal directions: rows of taken (n, 3, 3), the first
count (n,) of which are used; the others are zero. By `formulas.constraint_directions`; see `linear.constraint_filter`.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...row_ops import pick
from ..formulas.constraint_directions import prescribe_along, subtract_projection
from ..formulas.vectors import identity, length, subtract_outer
from .vectors import join, join_block, split


def take(at: IntArray, vertices: IntArray, directions: FloatArray, change: FloatArray, parallel: float,
         taken: FloatArray, count: IntArray, z: FloatArray) -> None:
    """Take one more unit direction (m, 3) of each of the particles `at` (m,), all different, in place.

    The velocity z (V, 3) [m/s] of their `vertices` (m,) gets the component `change` (m,) [m/s] along the direction. A
    direction is left out if a part no longer than `parallel` is independent of the directions taken before.
    """
    left, some = directions.copy(), np.flatnonzero(count[at])           # most particles have no direction before
    direction, rest = split(pick(directions, some)), split(pick(directions, some))
    for k in range(3):
        rest = subtract_projection(rest, direction, split(taken[at[some], k]))
    left[some] = join(rest)
    size = length(split(left))
    new = (size > parallel) & (count[at] < 3)
    at, vertices, size = at[new], vertices[new], size[new]
    unit = split(left[new] / size[:, None])
    z[vertices] = join(prescribe_along(split(z[vertices]), split(directions[new]), change[new], unit, size))
    taken[at, count[at]] = join(unit)
    count[at] += 1


def free(taken: FloatArray, count: IntArray) -> FloatArray:
    """Return S = I - sum of p p^T over the taken directions p (n, 3, 3); exactly zero where all three are taken."""
    rest = identity()
    for k in range(3):
        rest = subtract_outer(rest, split(taken[:, k]))
    blocks = join_block(rest)
    blocks[count == 3] = 0.0
    return blocks
