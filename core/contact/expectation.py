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

FIRST_MISS = 0.15
"""How far from where it is expected the end of a vertex is at first taken to be, over the search radius [-]."""
LEAST_STRAY, STRAY_PER_MISS = 0.15, 3.0
"""How far it may be without another search: at least, over the search radius, and over how far it was lately [-]."""
MISS_DECAY = 0.9
"""Part of that which is left after a step [-]."""
MOST_STRAY = 0.4
"""How far it may be at most, over the radius that it is searched within [-]: below one for both of a pair together."""


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


class Expectation:
    """How far ends of vertices were from where they were expected, lately: `missed` (V,) [m]."""

    def __init__(self, bounds: SearchBounds, missed: FloatArray) -> None:
        self.bounds, self.missed = bounds, missed
        self.radius, self.resting, self.drifting = bounds.radius, bounds.resting, bounds.drifting
        self.skin, self.scale = bounds.skin, bounds.scale

    def learn(self, away: FloatArray, left: float) -> None:
        """Take in how far ends were from where they were expected, `away` (V,) [m]; `left` of what is known
        otherwise [-]."""
        self.missed = np.maximum(left * self.missed, away)

    def fade(self, left: float) -> None:
        """Forget all but a part `left` [-]."""
        self.missed = left * self.missed

    def slack(self, loose: float, rows: IntArray | EllipsisType = ...) -> FloatArray:
        """How far ends of `rows` (n,) of the vertices may be from those searched for (n,) [m]."""
        radius, missed = self.radius[rows], self.missed[rows]
        return np.minimum(loose * (LEAST_STRAY * radius + STRAY_PER_MISS * missed), MOST_STRAY * radius)


class Search:
    """Ends x1 (V, 3) [m] of ways from x0 (V, 3) [m] that were searched for, how far from them is covered, `slack` (V,)
    [m], and within which `radius` (V,) [m]. `kept`: what was found on the way, for the next search from x0.

    Of a motion that all have in common nobody need know how large it is: any one will do for which all are covered.
    """

    def __init__(self, expectation: Expectation, x0: FloatArray, x1: FloatArray, loose: float) -> None:
        self.expectation, self.loose, self._x0 = expectation, loose, x0
        self.end, self.slack = x1.copy(), expectation.slack(loose)
        # those that say which motion that is
        self._steady: BoolArray = np.full(min(expectation.skin, len(x1)), expectation.drifting)
        self.radius = self._radius()
        self.kept = KeptSearches()

    def away(self, x1: FloatArray) -> FloatArray:
        """How far x1 (V, 3) [m] is from the end searched for (V,) [m]."""
        distance: FloatArray = current().motion_bounds.away(x1, self.end, self._steady)
        return distance

    def covers(self, x1: FloatArray) -> bool:
        """Whether no pair can meet on the way to x1 (V, 3) [m] but those found."""
        return bool((self.away(x1) <= self.slack).all())

    def learn(self, x1: FloatArray, left: float) -> None:
        """Take in where a motion ended, x1 (V, 3) [m]; `left` of what is known otherwise [-]."""
        self.expectation.learn(self.away(x1), left)

    def follow(self, x1: FloatArray) -> BoolArray:
        """Search for x1 (V, 3) [m] of those that are not covered, and further around; who they are (V,)."""
        away, count = self.away(x1), len(self._steady)
        self.expectation.learn(away, 1.0)
        stray = away > self.slack
        while (stray[:count] & self._steady).any():
            self._steady &= ~stray[:count]
            stray = self.away(x1) > self.slack
        self.loose *= 2.0
        rows = np.flatnonzero(stray)
        self.end[rows] = pick(x1, rows) - self._common(x1)
        self.slack[rows] = self.expectation.slack(self.loose, rows)
        self.radius[rows] = self._radius(rows)
        return stray

    def _radius(self, rows: IntArray | EllipsisType = ...) -> FloatArray:
        """Within which others of `rows` (n,) of the vertices are looked for (n,) [m]: whatever both of a pair do, they
        end as far apart as if they rested, unless they move so much that not even the largest radius says that."""
        moves = current().motion_bounds.away(self.end, self._x0, self._steady)
        wanted = self.expectation.resting[rows] + 2.0 * moves[rows]
        return np.minimum(self.expectation.radius[rows], np.maximum(wanted, self.slack[rows] / MOST_STRAY))

    def _common(self, x1: FloatArray) -> FloatArray:
        """What all have in common of the way from where they were expected to x1 (V, 3) [m]."""
        rows = np.flatnonzero(self._steady)
        return mean(pick(x1, rows) - pick(self.end, rows)) if len(rows) else np.zeros(3)
