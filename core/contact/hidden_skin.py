# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the skin of colliders that is hidden when the simulation starts: inside of another collider, or of another part.

A limb of two parts hides their ends in each other. Bent far, it shows a piece of them, and cloth may lie on it. When it
is straight again, that piece is inside, and cloth that went there would stay inside for good.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import all_of, pick
from .bvh import BVH
from .colliders import SurfaceShape
from .containment import inside
from .covered import covered


def hidden_skin(shapes: Sequence[SurfaceShape], positions: Sequence[FloatArray]) -> IntArray:
    """Return which colliders hide which triangles (K, 2), numbered through all colliders: all corners of these are
    inside of a closed part of that collider, which is not their own part.

    Args:
        shapes: of the colliders. positions: of their vertices, (W, 3) [m] each.
    """
    trees = [shape.tree.around(shape.triangles, x) for shape, x in zip(shapes, positions, strict=True)]
    everywhere = np.full(3, np.inf)
    found = covered(list(zip(positions, shapes, trees, strict=True)), -everywhere, everywhere)
    first, result = 0, [np.zeros((0, 2), dtype=np.int64)]
    for own, (shape, x, tree) in enumerate(zip(shapes, positions, trees, strict=True)):
        for number in np.unique(found[own][:, 0]):
            under = np.zeros(len(x), dtype=np.bool_)
            under[found[own][found[own][:, 0] == number, 1]] = True
            if number == own:
                under = _in_another_part(under, shape, x, tree)
            rows = first + np.flatnonzero(all_of(pick(under, shape.triangles)))
            result.append(np.stack([np.full(len(rows), number), rows], axis=1))
        first += len(shape.triangles)
    return np.concatenate(result)


def _in_another_part(some: BoolArray, shape: SurfaceShape, x: FloatArray, tree: BVH) -> BoolArray:
    """Return which of `some` vertices (W,) of a collider at x (W, 3) [m] are inside of a part that is not their own."""
    part, result = np.zeros(len(x), dtype=np.int64), np.zeros_like(some)
    part[shape.triangles.ravel()] = np.repeat(shape.part, 3)
    for one in np.unique(part[some]):
        rows = np.flatnonzero(some & (part == one))
        result[rows] = inside(x[rows], x, shape.triangles, shape.closed & (shape.part != one), tree)
    return result
