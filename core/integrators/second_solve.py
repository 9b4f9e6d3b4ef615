# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether contacts that a solution found wrong are worth a second solve of the step.

Mostly they are: with the friction that the first solution asks for, the second one is right. But where slow slides
change their directions from step to step, as on a sheet that comes to rest, each solution turns them anew, and the
second one is no more right than the first; and cloth that hardly moves moves hardly otherwise with it. That is
noticed, and for some steps there is one solve alone; then a second one is tried again, and after twice as many steps if
it was in vain. A slide that spreads, or friction that is further off than when a second solve was in vain, is always
worth one.
"""

from __future__ import annotations

from dataclasses import replace

from ..contact.response import SETTLED_FRICTION
from ..state import InVain

IN_VAIN_REST = 0.5
"""Part of what was wrong that a second solve leaves where it was in vain [-]."""
FURTHER = 3.0
"""How many times as wrong as then friction may be [-]."""
LITTLE = 0.02
"""Change of velocities, over what weight gives in a step, up to which a second solve was in vain for cloth on cloth
[-]."""
RESTING_CHANGE = 1e-3
"""The same for all contacts of a sheet whose velocities change by no more in the whole step, either [-]: what slides
gains more, from one per cent above the slope that holds it."""
SAME_MOTION = 0.02
"""Change of velocities, over that of the whole step, up to which the cloth moves no differently with it [-]."""
LONGEST_PAUSE = 64
"""Steps without a second solve at most."""
PAUSING_CONTACTS = 128
"""Contacts from which on it may be in vain: of few, each is followed."""
MOSTLY = 0.05
"""Part of the friction of so many that may be wrong [-]: what changes from sticking to sliding counts in full, the next
step starts from what was found, and a slide that spreads is followed all the same."""


class SecondSolve:
    """The solves of one step, as far as contacts ask for them.

    Args:
        before: what the steps before tell.
    """

    def __init__(self, before: InVain) -> None:
        self._before = before
        self._first = self._second = 0.0                             # parts of friction that were wrong
        self._settled = SETTLED_FRICTION                                      # and the part that may be
        self._spread = self._pairs = self._done = self._rests = False

    def for_solids(self, attempt: int, wrong: float, spreads: bool, contacts: int) -> bool:
        """Whether to solve again after solution number `attempt`, in which this part of the friction on solids was
        `wrong`, at so many contacts; and whether a slide `spreads` there."""
        self._spread |= spreads
        if attempt == 0:
            self._first = wrong
            usual = not spreads and wrong <= FURTHER * self._before.wrong
            if self._before.left and contacts > PAUSING_CONTACTS and usual:
                return False
        elif attempt == 1:
            self._second = wrong
        self._settled = SETTLED_FRICTION if contacts <= PAUSING_CONTACTS or spreads else MOSTLY
        return wrong > self._settled

    def for_pairs(self, attempt: int, changed: bool, right: bool, touching: int) -> bool:
        """The same of cloth on cloth, where so many pairs are `touching`, too much of that `changed`, and friction is
        on the whole `right`."""
        if attempt == 0:
            self._pairs = changed
            if self._before.left and touching > PAUSING_CONTACTS and right:
                return False
        return changed

    def changed(self, velocities: float, motion: float) -> None:
        """Tell that a second solve changed the velocities by this, and the step by that `motion`, both over what weight
        gives in a step [-]."""
        self._done, self._pairs = True, self._pairs and velocities > LITTLE
        self._rests = max(velocities, motion) < RESTING_CHANGE or velocities < SAME_MOTION * motion

    def learned(self) -> InVain:
        """What the steps to come are told."""
        if not self._done:
            return replace(self._before, left=max(self._before.left - 1, 0))
        bettered = self._first > self._settled and self._second < IN_VAIN_REST * self._first and not self._rests
        if bettered or self._spread or self._pairs:
            return InVain()
        waits = self._before.waits
        return InVain(waits, min(2 * waits, LONGEST_PAUSE), max(self._first, self._second))
