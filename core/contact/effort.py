# SPDX-License-Identifier: GPL-3.0-or-later
"""Effort of a frame: the work of its steps, counted and not timed, so that it is the same on every machine.

A unit is the work of a linear solve of few iterations. Other work counts in proportion to the time that it takes with
NumPy in a scene of some hundred vertices (docs/decisions/0036, 0066).
"""

from __future__ import annotations

from dataclasses import dataclass

MOST_EFFORT = 1000.0
"""Largest effort of a frame with which steps are still halved for a better one [-] (docs/decisions/0036, 0066)."""
USUAL_EFFORT = 400.0
"""Effort that frames may take on average where a row of them is hard [-] (docs/decisions/0066)."""
MOST_OVERSPENT = MOST_EFFORT
"""Largest effort of a row of frames beyond `USUAL_EFFORT` for each of them [-]: that of one frame."""
LAST_EFFORT = 4.0
"""Effort of a frame above which it is refused, over the allowed one, or that of each of its longest stable steps where
they are more [-]. Only explicit integrators come there: they have no longer steps, which take three units each in free
motion."""
LAST_STEP_EFFORT = 40.0
"""Effort for each step that the settings ask for, above which a frame of more steps is refused [-]: a step out of
effort takes less."""
GRACE = 200.0
"""Effort for the rest of a frame after what is allowed, shared by its steps in proportion to their lengths [-]."""
ITERATIONS = 20.0
"""Iterations of conjugate gradients that count as one unit [-]."""
USUAL_PAIRS = 20.0
"""Pairs of a search that count as one unit, over the vertices [-]."""
ADVANCES = 8.0
"""Advances of a search for meeting times that count as one unit [-]."""
FEW_VERTICES = 300.0
"""Largest number of vertices at which a unit is mostly calls: above it a unit grows with the vertices [-]."""
SWEEPS = 500.0
"""Sets of edges or planes in a sweep that shortens edges, that count as one unit [-]."""
MOST_SWEEPS = 40.0
"""Largest effort of one shortening of edges [-]."""
LEAST_SWEEPS = 4.0
"""Largest effort of one shortening of edges in a step out of effort [-]."""


@dataclass
class Effort:
    """The effort that was spent in a frame.

    Attributes:
        allowed: in the frame; no step is taken again for a better one above it.
        most: above which the running step is out of effort.
        spent: by all that was counted so far in the frame.
        on_contact: the part of it that searches for contacts and the step filter took.
    """

    allowed: float = MOST_EFFORT
    most: float = MOST_EFFORT
    spent: float = 0.0
    on_contact: float = 0.0

    @staticmethod
    def of_frame(overspent: float) -> Effort:
        """Return the effort of a frame, of which less is allowed the more the frames before have `overspent` [-]."""
        allowed = min(MOST_EFFORT, USUAL_EFFORT + MOST_OVERSPENT - overspent)
        return Effort(allowed, allowed)

    def overspent(self, before: float) -> float:
        """Return the effort that a row of frames took beyond the usual one, at most `MOST_OVERSPENT` [-].

        before: the same of the frames before this one.
        """
        return min(max(before + self.spent - USUAL_EFFORT, 0.0), MOST_OVERSPENT)

    @property
    def out(self) -> bool:
        """Return whether more was spent than the running step may take: each of its loops does its least from now on.
        """
        return self.spent > self.most

    @property
    def exhausted(self) -> bool:
        """Return whether no step of the frame is taken again for a better one."""
        return self.spent > self.allowed

    def last(self, asked: int, stable: float) -> float:
        """Return the effort above which the frame is refused, where the settings ask for so many steps a frame, and the
        longest stable ones are so many."""
        return max(LAST_EFFORT * max(self.allowed, stable), LAST_STEP_EFFORT * asked)

    def begin(self, part: float) -> None:
        """Begin a step of this part of the frame [-]: what it may take depends on whether the frame is exhausted."""
        self.most = self.spent + GRACE * part if self.exhausted else self.allowed

    def step(self) -> None:
        """Count what a step takes apart from the rest."""
        self.spent += 1.0

    def solve(self, iterations: int) -> None:
        """Count a linear solve."""
        self.spent += 1.0 + iterations / ITERATIONS

    def search(self, pairs: int, vertices: int) -> None:
        """Count a search for candidates that found so many pairs."""
        self._contact(1.0 + pairs / (USUAL_PAIRS * vertices))

    def round(self) -> None:
        """Count a round of the step filter."""
        self._contact(1.0)

    def advances(self, count: int, vertices: int) -> None:
        """Count the advances of a search for meeting times, those of the pair that has most, among so many vertices.
        The last ones are of few pairs, and take as long in any scene; a unit takes longer the more vertices there are.
        """
        self._contact(count / ADVANCES * min(1.0, FEW_VERTICES / vertices))

    def sweeps(self, count: int, sets: int) -> None:
        """Count sweeps over sets of edges and planes that shorten edges."""
        self.spent += count * sets / SWEEPS

    def most_iterations(self, asked: int) -> int:
        """Return how many iterations a solve may take that was asked to take so many at most."""
        return min(asked, int(ITERATIONS)) if self.out else asked

    def most_sweeps(self, sets: int) -> int:
        """Return how many sweeps over so many sets may be taken at once, at least one."""
        units = LEAST_SWEEPS if self.out else MOST_SWEEPS
        return max(1, int(units * SWEEPS / max(sets, 1)))

    def _contact(self, amount: float) -> None:
        self.spent += amount
        self.on_contact += amount
