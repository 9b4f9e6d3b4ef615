# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether the friction of a solution is settled, or the step has to be solved again.

Each solution has the normal forces of the one before (`repulsion`). Two laws decide, for each piece:

1. The sum of its friction forces hardly changes. An error of that sum becomes speed: a sheet that slides down a slope
   goes too far.
2. The sum changes by more, but the last change of friction has hardly changed the momentum of the piece, and no
   collider moves. Where cloth is held by what it lies on and by its own folds, friction is not determined: it may be
   wrong by a tenth, and the forces in the cloth change instead of its motion. The next step corrects it. This takes the
   last solution for a measure of the next one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray, IntArray
from ..row_ops import total

NET_FRICTION_TOLERANCE = 0.02
"""Law 1: largest change of the sum of a piece's friction impulses, over their limit mu lambda h [-]. Law 2: largest
change of the momentum of a piece, over that limit or over the momentum that weight gives in the step, if that is less
[-]. The limit alone says nothing where what lands presses by many times its weight."""
LEAST_JUDGED_LIMIT = 1e-3
"""Least friction limit of a piece that is judged, over the largest of all pieces [-]."""
SETTLED_FRICTION = 0.2
"""Largest change of a friction impulse that is settled, over its limit [-]: of one pair, and of the sum of a piece by
law 2, where the momentum by weight takes the place of the limit if it is less."""


class MomentumChange(NamedTuple):
    """Change of momentum from one solution of a step to the next, for each piece of cloth.

    Attributes:
        most: (P,) upper bound of the change of momentum [N s].
        by_weight: (P,) momentum that weight gives in the step [N s].
    """

    most: FloatArray
    by_weight: FloatArray

    @classmethod
    def of(cls, change: FloatArray, fall: FloatArray, mass: FloatArray, body: IntArray) -> MomentumChange:
        """Return the bounds for a `change` (V, 3) [m/s] of the velocities.

        |sum m c|^2 <= sum m  sum m |c|^2 (Cauchy-Schwarz).

        Args:
            change: as above.
            fall: (V, 3) velocities that weight gives in the step [m/s].
            mass: (V,) [kg]. body: (V,) piece of each vertex.
        """
        squares, falls = (mass * total(a * a) for a in (change, fall))
        whole = np.bincount(body, mass)
        return cls(*(np.sqrt(whole * np.bincount(body, a)) for a in (squares, falls)))


def is_settled(body: IntArray, vertices: IntArray, change: FloatArray, limit: FloatArray,
               momentum: MomentumChange | None) -> bool:
    """Return whether the friction of every piece is settled, by one of both laws.

    Args:
        body: (V,) piece of each vertex.
        vertices: (C, 4) of each pair; the first and the last one are of its two sides.
        change: (C,) by how much the friction impulse of each pair changes [N s].
        limit: (C,) largest friction impulse of each pair [N s].
        momentum: how much the solution differs from the one before, None for the first one.
    """
    piece, other = (body.take(vertices[:, k]) for k in (0, 3))
    apart, count = piece != other, int(body.max(initial=-1)) + 1
    if apart.any():                                              # between two pieces a pair counts for both
        row, side = np.nonzero(np.column_stack([np.ones(len(apart), dtype=np.bool_), apart]))
        piece, change, limit = np.column_stack([piece, other])[row, side], change[row], limit[row]
    changed, most = (np.bincount(piece, a, count) for a in (change, limit))
    changed = np.abs(changed)
    settled = changed <= NET_FRICTION_TOLERANCE * most
    if momentum is not None:
        scale = np.minimum(most, momentum.by_weight)
        settled |= (momentum.most <= NET_FRICTION_TOLERANCE * scale) & (changed <= SETTLED_FRICTION * scale)
    hardly_rubs = most <= LEAST_JUDGED_LIMIT * most.max(initial=0.0)
    return bool((settled | hardly_rubs).all())                   # nan is not settled
