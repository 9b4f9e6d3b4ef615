# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether contacts that a solution found wrong are worth a second solve of the step.

Mostly they are: with the friction that the first solution asks for, the second one is right. But where slow slides
change their directions from step to step, as in a pile that comes to rest, each solution turns them anew, and the
second one is no more right than the first. That is noticed, and for some steps there is one solve alone; then a second
one is tried again, and after twice as many steps if it was in vain.
"""

from __future__ import annotations

from dataclasses import replace

from ..state import InVain

LITTLE = 0.02
"""Change of velocities, over what weight gives in a step, up to which a second solve was in vain [-]."""
LONGEST_PAUSE = 64
"""Steps without a second solve at most."""
PAUSING_CONTACTS = 128
"""Pairs from which on it may be in vain: of few, each is followed."""


class SecondSolve:
    """The solves of one step, as far as contacts ask for them.

    Args:
        before: what the steps before tell.
    """

    def __init__(self, before: InVain) -> None:
        self._before = before
        self._pairs = self._done = False

    def for_pairs(self, attempt: int, changed: bool, right: bool, touching: int) -> bool:
        """Return whether to solve again after solution number `attempt`, where so many pairs are `touching`, too much
        of that `changed`, and friction is on the whole `right`."""
        if attempt == 0:
            self._pairs = changed
            if self._before.left and touching > PAUSING_CONTACTS and right:
                return False
        return changed

    def changed(self, velocities: float) -> None:
        """Tell that a second solve changed the velocities by this, over what weight gives in a step [-]."""
        self._done, self._pairs = True, self._pairs and velocities > LITTLE

    def learned(self) -> InVain:
        """Return what the steps to come are told."""
        if not self._done:
            return replace(self._before, left=max(self._before.left - 1, 0))
        if self._pairs:
            return InVain()
        waits = self._before.waits
        return InVain(waits, min(2 * waits, LONGEST_PAUSE))
