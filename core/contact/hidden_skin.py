# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the skin of colliders that is hidden when the simulation starts: inside of another collider, or of another part.

A limb of two parts hides their ends in each other. Bent far, it shows a piece of them, and cloth may lie on it. When it
is straight again, that piece is inside, and cloth that went there would stay inside for good.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..row_ops import all_of, pick
from .colliders import SurfaceShape
from .containment import inside
from .covered import covered


def hidden_skin(shapes: Sequence[SurfaceShape], positions: Sequence[FloatArray]) -> BoolArray:
    """Return which colliders hide which triangles (S, T): all their corners are inside of a closed part of that
    collider, which is not their own part.

    Args:
        shapes: of the S colliders, with T triangles in all. positions: of their vertices, (W, 3) [m] each.
    """
    trees = [shape.tree.around(shape.triangles, x) for shape, x in zip(shapes, positions, strict=True)]
    everywhere = np.full(3, np.inf)
    found = covered(list(zip(positions, shapes, trees, strict=True)), -everywhere, everywhere)
    result = []
    for own, (shape, x) in enumerate(zip(shapes, positions, strict=True)):
        under = np.zeros((len(shapes), len(x)), dtype=np.bool_)
        number, vertex = found[own].T
        under[number, vertex] = True
        marked, under[own] = under[own].copy(), False
        corner = shape.triangles.ravel()
        part = np.zeros(len(x), dtype=np.int64)
        part[corner] = np.repeat(shape.part, 3)
        for one in np.unique(part[marked]):
            rows = np.flatnonzero(marked & (part == one))
            under[own, rows] = inside(x[rows], x, shape.triangles, shape.closed & (shape.part != one), trees[own])
        result.append(np.stack([all_of(pick(row, shape.triangles)) for row in under]))
    return np.concatenate(result, axis=1) if result else np.zeros((0, 0), dtype=np.bool_)
