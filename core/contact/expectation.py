# SPDX-License-Identifier: GPL-3.0-or-later
"""Where vertices are expected to end a step, how far from there they may without another search, and who does not.

Within which radius others are looked for goes by how far a vertex is expected to move: what rests comes no nearer to
anything, and only what is as near as it will be need be known.
"""

from __future__ import annotations

from types import EllipsisType

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..row_ops import mean, pick
from .kept_searches import KeptSearches

STRAY = 0.15
"""How far from where it is expected the end of a vertex may be without another search, over the radius that it is
searched within [-]; twice as far after each further search."""
MOST_STRAY = 0.4
"""The same at most [-]: below one for both of a pair together."""


class SearchBounds:
    """Bounds of a search for pairs, fixed for a simulation.

    Args:
        radius (V,) [m]: within which pairs are looked for at most, as in `self_pairs`; resting (V,) [m]: of what rests.
        skin: how many of the vertices have a surface; the others, inside of a body, may be anywhere.
        drifting: whether the motion that all have in common makes no difference, because all are cloth. If not, the
            other one of a pair is of a collider.
    """

    def __init__(self, radius: FloatArray, resting: FloatArray, *, drifting: bool, skin: int) -> None:
        self.radius, self.resting, self.drifting, self.skin = radius, resting, drifting, skin
        least = float(radius.min(initial=np.inf)) if len(radius) else 0.0
        self.scale = least if drifting else 0.5 * least              # the least radius of a pair of what moves [m]

    def slack(self, loose: float, rows: IntArray | EllipsisType = ...) -> FloatArray:
        """How far ends of `rows` (n,) of the vertices may be from those searched for (n,) [m]."""
        return min(loose * STRAY, MOST_STRAY) * self.radius[rows]


class Search:
    """Ends x1 (V, 3) [m] of ways from x0 (V, 3) [m] that were searched for, how far from them is covered, `slack` (V,)
    [m], and within which `radius` (V,) [m]. `kept`: what was found on the way, for the next search from x0.

    Of a motion that all have in common nobody need know how large it is: any one will do for which all are covered.
    """

    def __init__(self, bounds: SearchBounds, x0: FloatArray, x1: FloatArray, loose: float) -> None:
        self._bounds, self.loose, self._x0 = bounds, loose, x0
        self.end, self.slack = x1.copy(), bounds.slack(loose)
        # those that say which motion that is
        self._steady: BoolArray = np.full(min(bounds.skin, len(x1)), bounds.drifting)
        self.radius = self._radius()
        self.kept = KeptSearches()

    def away(self, x1: FloatArray) -> FloatArray:
        """How far x1 (V, 3) [m] is from the end searched for (V,) [m]."""
        distance: FloatArray = current().motion_bounds.away(x1, self.end, self._steady)
        return distance

    def covers(self, x1: FloatArray) -> bool:
        """Whether no pair can meet on the way to x1 (V, 3) [m] but those found."""
        return bool((self.away(x1) <= self.slack).all())

    def follow(self, x1: FloatArray) -> BoolArray:
        """Search for x1 (V, 3) [m] of those that are not covered, and further around; who they are (V,)."""
        away, count = self.away(x1), len(self._steady)
        stray = away > self.slack
        while (stray[:count] & self._steady).any():
            self._steady &= ~stray[:count]
            stray = self.away(x1) > self.slack
        self.loose *= 2.0
        rows = np.flatnonzero(stray)
        self.end[rows] = pick(x1, rows) - self._common(x1)
        self.slack[rows] = self._bounds.slack(self.loose, rows)
        self.radius[rows] = self._radius(rows)
        return stray

    def _radius(self, rows: IntArray | EllipsisType = ...) -> FloatArray:
        """Within which others of `rows` (n,) of the vertices are looked for (n,) [m]: whatever both of a pair do, they
        end as far apart as if they rested, unless they move so much that not even the largest radius says that."""
        moves = current().motion_bounds.away(self.end, self._x0, self._steady)
        wanted = self._bounds.resting[rows] + 2.0 * moves[rows]
        return np.minimum(self._bounds.radius[rows], np.maximum(wanted, self.slack[rows] / MOST_STRAY))

    def _common(self, x1: FloatArray) -> FloatArray:
        """What all have in common of the way from where they were expected to x1 (V, 3) [m]."""
        rows = np.flatnonzero(self._steady)
        return mean(pick(x1, rows) - pick(self.end, rows)) if len(rows) else np.zeros(3)
