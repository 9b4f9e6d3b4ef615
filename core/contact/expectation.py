# SPDX-License-Identifier: GPL-3.0-or-later
"""Where vertices are expected to end a step, how far from there they may without another search, and who does not."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..kernels import current
from ..rows import mean, pick

SLACK = 0.15
"""How far from where it is expected the end of a vertex is at first taken to be, over the search radius [-]."""
LEAST, UNSURE = 0.15, 3.0
"""How far it may be without another search: at least, over the search radius, and over how far it was lately [-]."""
FORGET = 0.9
"""Part of that which is left after a step [-]."""


class Expectation:
    """How far ends of vertices were from where they were expected, lately.

    Args:
        count: vertices. skin: how many of them have a surface; the others, inside of a body, may be anywhere.
        radius [m]: within which pairs are looked for.
        most: how far ends may be without another search, over the radius [-]: below one for both of a pair together.
        drifting: whether the motion that all have in common makes no difference.
    """

    def __init__(self, count: int, radius: float, *, most: float, drifting: bool, skin: int) -> None:
        self.radius, self.drifting, self.skin = radius, drifting, skin
        self._most = most * radius
        self.missed: FloatArray = np.full(count, SLACK * radius)                        # (V,) [m]

    def slack(self, loose: float) -> FloatArray:
        """How far ends may be from those searched for (V,) [m]."""
        return np.minimum(loose * (LEAST * self.radius + UNSURE * self.missed), self._most)


class Search:
    """Ends x1 (V, 3) [m] that were searched for, and how far from them is covered, `slack` (V,) [m].

    Of a motion that all have in common nobody need know how large it is: any one will do for which all are covered.
    """

    def __init__(self, expectation: Expectation, x1: FloatArray, loose: float, share: float) -> None:
        self.expectation, self.loose, self.share = expectation, loose, share
        self.end, self.slack = x1.copy(), share * expectation.slack(loose)
        # those that say which motion that is
        self._steady: BoolArray = np.full(min(expectation.skin, len(x1)), expectation.drifting)

    def away(self, x1: FloatArray) -> FloatArray:
        """How far x1 (V, 3) [m] is from the end searched for (V,) [m]."""
        distance: FloatArray = current().expectation.away(x1, self.end, self._steady)
        return distance

    def covers(self, x1: FloatArray) -> bool:
        """Whether no pair can meet on the way to x1 (V, 3) [m] but those found."""
        return bool((self.away(x1) <= self.slack).all())

    def learn(self, x1: FloatArray, left: float) -> None:
        """Take in where a motion ended, x1 (V, 3) [m]; `left` of what is known otherwise [-]."""
        self.expectation.missed = np.maximum(left * self.expectation.missed, self.away(x1))

    def follow(self, x1: FloatArray) -> BoolArray:
        """Search for x1 (V, 3) [m] of those that are not covered, and further around; who they are (V,)."""
        self.learn(x1, 1.0)
        stray, count = self.away(x1) > self.slack, len(self._steady)
        while (stray[:count] & self._steady).any():
            self._steady &= ~stray[:count]
            stray = self.away(x1) > self.slack
        self.loose *= 2.0
        self.end[stray] = x1[stray] - self._common(x1)
        self.slack[stray] = self.share * self.expectation.slack(self.loose)[stray]
        return stray

    def _common(self, x1: FloatArray) -> FloatArray:
        """What all have in common of the way from where they were expected to x1 (V, 3) [m]."""
        rows = np.flatnonzero(self._steady)
        return mean(pick(x1, rows) - pick(self.end, rows)) if len(rows) else np.zeros(3)
