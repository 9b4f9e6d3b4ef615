# SPDX-License-Identifier: GPL-3.0-or-later
"""Directions that constraints take of particles, one after the other, and what they leave (see `constraint_filter`).

The n particles that have any taken have three places for them each, orthonormal rows of taken (n, 3, 3), of which
count (n,) are filled; the others are zero.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...row_ops import length, pick


def take(at: IntArray, vertices: IntArray, directions: FloatArray, change: FloatArray, parallel: float,
         taken: FloatArray, count: IntArray, z: FloatArray) -> None:
    """Take one more direction (m, 3), of unit length, of each of the particles `at` (m,), all different, and prescribe
    a `change` (m,) along it in z (V, 3), whose rows are `vertices` (m,); nothing where no more than `parallel` of the
    direction is left. In place."""
    left, some = directions.copy(), np.flatnonzero(count[at])           # of most particles the first is taken here
    before = taken[at[some]]
    along = np.einsum("mki,mi->mk", before, pick(directions, some))
    left[some] -= np.einsum("mki,mk->mi", before, along)
    size = length(left)
    new = (size > parallel) & (count[at] < 3)
    at, vertices, left = at[new], vertices[new], left[new] / size[new, None]
    # along the new direction: what is asked minus what the taken directions move along `directions`
    already = np.einsum("nj,nj->n", directions[new], z[vertices])
    z[vertices] += left * ((change[new] - already) / size[new])[:, None]
    taken[at, count[at]] = left
    count[at] += 1


def free(taken: FloatArray, count: IntArray) -> FloatArray:
    """S = I - sum of p p^T over the directions p taken (n, 3, 3), exactly zero where nothing is left."""
    blocks: FloatArray = np.eye(3) - np.matmul(taken.transpose(0, 2, 1), taken)
    blocks[count == 3] = 0.0
    return blocks
