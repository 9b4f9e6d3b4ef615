# SPDX-License-Identifier: GPL-3.0-or-later
"""How long edges may be after a step: as *Limit Stretch* lets them be, and as the step's own solve takes them to be."""

from __future__ import annotations

from typing import Protocol

from ..arrays import FloatArray, IntArray
from ..contact.half_spaces import HalfSpaces
from ..model.particle_system import System
from .strain_limit import NOTHING
from .turned_edges import TurnedEdges


class Limit(Protocol):
    """What `StrainLimit` and `TurnedEdges` have in common."""

    def excess(self, x: FloatArray) -> float:
        """Largest length of an edge at x (V, 3) [m] over the one it may have, less 1 [-]."""

    def holds(self, x: FloatArray) -> bool:
        """Whether no edge at x (V, 3) [m] is longer than it may be, but for what is left as it is."""

    def relaxed(self, x: FloatArray, held: IntArray, bounds: HalfSpaces = NOTHING) -> FloatArray:
        """x (V, 3) [m] within `bounds` and with no edge too long, the very array where that is so; vertices `held` (n,)
        stay."""


class LengthLimits:
    """Several limits as one, brought about one after the other."""

    def __init__(self, *limits: Limit) -> None:
        self._limits = limits

    @classmethod
    def of_step(cls, system: System, start: FloatArray, linearised: FloatArray | None,
                reached: FloatArray) -> LengthLimits:
        """Those of a step from `start` to `reached` (V, 3) [m]. `linearised` (V, 3) [m]: where its forces were
        linearised last; None if a step of that kind knows what turns. Edges that only the cut at the end makes longer
        are left to the next step: what slides around a corner would be held there."""
        limits: list[Limit] = [] if system.strain_limit is None else [system.strain_limit]
        if linearised is not None:
            turned = TurnedEdges(system, start, linearised, reached)
            limits += [] if turned.holds(reached) else [turned]
        return cls(*limits)

    def excess(self, x: FloatArray) -> float:
        """Largest length of an edge at x (V, 3) [m] over the one it may have, less 1 [-]."""
        return max((limit.excess(x) for limit in self._limits), default=-1.0)

    def holds(self, x: FloatArray) -> bool:
        """Whether no edge at x (V, 3) [m] is longer than it may be, but for what is left as it is."""
        return all(limit.holds(x) for limit in self._limits)

    def relaxed(self, x: FloatArray, held: IntArray, bounds: HalfSpaces = NOTHING) -> FloatArray:
        """x (V, 3) [m] within `bounds` and with no edge too long, the very array where that is so; vertices `held` (n,)
        stay."""
        for limit in self._limits:
            x = limit.relaxed(x, held, bounds)
        return x
