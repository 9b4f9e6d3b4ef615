# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tries of a step from one state have learned so far about contact.

Made from `State.contact` when a step begins and turned into the next `State.contact` when it is accepted. Between two
tries of the same step the search margins and the findings about the start stay, because they hold for every step size;
the warm start goes back to the accepted one.
"""

from __future__ import annotations

from ..arrays import FloatArray
from ..state import ContactState, ContactWarmStart, Homes
from .expectation import FIRST_MISS, Expectation, SearchBounds


class ContactHistory:
    """Contact memory while a step is tried.

    Args:
        before: memory at the start of the step.
        own, solid: search bounds for pairs of cloth with cloth, and of cloth with colliders.

    Attributes:
        tangled, stuck, warm_start, homes: as in `ContactState`.
        through: (V,) vertices that colliders pass through in the step; None if there are none.
        own, solid: distances by which predicted ends were missed, for the two searches.
    """

    def __init__(self, before: ContactState, own: SearchBounds, solid: SearchBounds) -> None:
        self._accepted = before
        self.warm_start: ContactWarmStart = before.warm_start
        self.tangled, self.stuck, self.homes = before.tangled, before.stuck, before.homes
        self.through = before.through
        self.own, self.solid = Expectation(own, before.missed), Expectation(solid, before.missed_solid)

    @staticmethod
    def at_start(own: SearchBounds, solid: SearchBounds) -> ContactState:
        """Return the memory of a simulation that begins: intersections have to be looked for."""
        return ContactState(ContactWarmStart(), True, True, FIRST_MISS * own.radius, FIRST_MISS * solid.radius)

    def try_again(self) -> None:
        """Forget the contact forces and the homes of a rejected try."""
        self.warm_start, self.homes = self._accepted.warm_start, self._accepted.homes

    def see_tangled(self, found: bool = True) -> None:
        """Note that cloth may intersect cloth, if `found`."""
        self.tangled |= found

    def see_stuck(self, found: bool = True) -> None:
        """Note that cloth may intersect colliders, if `found`."""
        self.stuck |= found

    def settle(self, *, tangled: bool | None = None, stuck: bool | None = None) -> None:
        """Note what a search for intersections has found."""
        self.tangled = self.tangled if tangled is None else tangled
        self.stuck = self.stuck if stuck is None else stuck

    def see_homes(self, homes: Homes) -> None:
        """Note the homes in a try, and that cloth may intersect colliders where some is astray, or was until now."""
        before, self.homes = self.homes_before, homes
        self.stuck |= bool(homes.astray.any()) or before is not None and bool(before.astray.any())

    @property
    def homes_before(self) -> Homes | None:
        """Return the homes of the accepted state."""
        return self._accepted.homes

    def keep(self, warm_start: ContactWarmStart) -> None:
        """Take the contact forces at the end of a try as the next first guess."""
        self.warm_start = warm_start

    def accepted(self) -> ContactState:
        """Return the memory for the next step."""
        return ContactState(self.warm_start, self.tangled, self.stuck, self.own.missed, self.solid.missed,
                            self.homes, self.through)

    def learn(self, gain: FloatArray) -> None:
        """Take the mean acceleration (V, 3) [m/s^2] of a try without contact."""
        self.warm_start = ContactWarmStart(gain=gain)
