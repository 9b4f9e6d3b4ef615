# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the friction of a solution is right on the whole of each piece of cloth, so that the step need not be solved
again.

Each solution has the normal forces of the one before (`repulsion`). What friction has too much on the whole of a piece,
the piece gains as speed: a sheet that slides down a slope goes too far. Where cloth is held, by what it lies on and by
its folds, friction may still be wrong by more, and nothing moves: the forces in the cloth change instead. Then the next
step corrects it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray
from ..row_ops import total

SLIDES = 0.02
"""Change of the sum of a piece's friction forces, over the largest it can be, below which it is right [-]. The same of
the momentum that a piece gains, over that or over what its weight gives, if less: small scraps press on solids by many
times their weight when they land."""
COUNTS = 1e-3
"""Least friction limit of a piece of cloth that is judged, over the largest of all pieces [-]."""
SETTLED_PAIR_FRICTION = 0.2
"""Change of one friction force, over the largest it can be, below which it is right [-]; of all of a piece, over
the scale of its momentum, if that does not move it."""


class Moved(NamedTuple):
    """How far a solution is from the one before, on each piece of cloth.

    Attributes:
        momentum: (P,) the most by which the momentum of the piece differs [N s].
        by_weight: (P,) what its weight gives it in the step [N s].
    """

    momentum: FloatArray
    by_weight: FloatArray

    @classmethod
    def by(cls, change: FloatArray, fall: FloatArray, mass: FloatArray, body: IntArray) -> Moved:
        """Return this for a `change` (V, 3) of the velocities and those that weight gives, `fall` (V, 3) [m/s]; mass
        (V,) [kg] and piece (V,) of each vertex.

        |sum m c|^2 <= sum m  sum m |c|^2.
        """
        squares, falls = (mass * total(a * a) for a in (change, fall))
        whole = np.bincount(body, mass)
        return cls(*(np.sqrt(whole * np.bincount(body, a)) for a in (squares, falls)))


def is_right(body: IntArray, vertices: IntArray, grown: FloatArray, limit: FloatArray, moved: Moved | None) -> bool:
    """Return whether friction changes by little on the whole of each piece, or by what does not move it.

    Args:
        body: (V,) piece of each vertex.
        vertices: (C, 4) of each pair; the first and the last one are of its two sides.
        grown: (C,) by how much the impulse of each pair has grown [N s].
        limit: (C,) how large it can be [N s].
        moved: how far the solution is from the one before, None for the first one.
    """
    piece, other = (body.take(vertices[:, k]) for k in (0, 3))
    apart, count = piece != other, int(body.max(initial=-1)) + 1
    if apart.any():                                              # between two pieces a pair counts for both
        row, side = np.nonzero(np.column_stack([np.ones(len(apart), dtype=np.bool_), apart]))
        piece, grown, limit = np.column_stack([piece, other])[row, side], grown[row], limit[row]
    change, most = (np.bincount(piece, a, count) for a in (grown, limit))
    change, counts = np.abs(change), most > COUNTS * most.max(initial=0.0)
    right = change <= SLIDES * most
    if moved is not None:
        scale = np.minimum(most, moved.by_weight)
        right |= (moved.momentum <= SLIDES * scale) & (change <= SETTLED_PAIR_FRICTION * scale)
    return bool(right[counts].all())
