# SPDX-License-Identifier: GPL-3.0-or-later
"""Allowed edge lengths after a step: by *Limit Stretch*, and by the linearised solve of the step itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ..arrays import FloatArray, IntArray
from ..contact.effort import Effort
from ..contact.half_spaces import HalfSpaces
from ..model.particle_system import ParticleSystem
from ..model.strain_limit import NO_BOUNDS, StrainLimit
from .turned_edges import TurnedEdges


class Limit(Protocol):
    """The interface of `StrainLimit` and `TurnedEdges`."""

    def excess(self, x: FloatArray) -> float:
        """Return the largest edge length at x (V, 3) [m] over the allowed one, minus 1 [-]."""

    def holds(self, x: FloatArray) -> bool:
        """Return whether no edge at x (V, 3) [m] is longer than allowed, within the tolerance."""

    def relaxed(self, x: FloatArray, held: IntArray, bounds: HalfSpaces = NO_BOUNDS, effort: Effort | None = None
                ) -> FloatArray:
        """Return x (V, 3) [m] within `bounds` and with no edge too long; the same array if it is so already.

        held: (n,) vertices that do not move. effort: counts the sweeps.
        """


class LengthLimits:
    """Several limits, applied one after the other."""

    def __init__(self, *limits: Limit) -> None:
        self._limits = limits

    @classmethod
    def of_step(cls, system: ParticleSystem, limit: StrainLimit | None, start: FloatArray,
                linearised: Callable[[], FloatArray] | None, reached: FloatArray, lengths: FloatArray) -> LengthLimits:
        """Return the limits of a step.

        Args:
            system: what is simulated.
            limit: *Limit Stretch* in this step, None if there is none.
            start: (E,) lengths of the edges at the start [m].
            linearised: as of `TurnedEdges`; None for a step whose forces follow rotations, or are taken as they turn.
            reached: (V, 3) end of the solve [m]. Edges that only the step filter makes longer are left to the next
                step: shortened here, they would hold cloth that slides around a corner.
            lengths: (E,) lengths of the edges at `reached` [m].
        """
        limits: list[Limit] = [] if limit is None else [limit]
        if linearised is not None:
            turned = TurnedEdges(system, start, linearised, reached)
            limits += [turned] if turned.any_longer(lengths) else []
        return cls(*limits)

    def excess(self, x: FloatArray) -> float:
        """Return the largest edge length at x (V, 3) [m] over the allowed one, minus 1 [-]."""
        return max((limit.excess(x) for limit in self._limits), default=-1.0)

    def holds(self, x: FloatArray) -> bool:
        """Return whether no edge at x (V, 3) [m] is longer than allowed, within the tolerance."""
        return all(limit.holds(x) for limit in self._limits)

    def relaxed(self, x: FloatArray, held: IntArray, bounds: HalfSpaces = NO_BOUNDS, effort: Effort | None = None
                ) -> FloatArray:
        """Return x (V, 3) [m] within `bounds` and with no edge too long; the same array if it is so already.

        held: (n,) vertices that do not move. effort: counts the sweeps.
        """
        for limit in self._limits:
            x = limit.relaxed(x, held, bounds, effort)
        return x
