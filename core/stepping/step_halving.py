# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide when a step is taken again in two halves, and when the next one may be twice as long (001, section 7)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..arrays import FloatArray
from ..description.settings import Solver
from ..integrators import step_strain
from ..integrators.newton import MAX_ENERGY_GAIN, MOST_MISSED_ROTATION
from ..integrators.post_step import StepResult
from ..model.particle_system import ParticleSystem
from ..row_ops import any_of, length
from ..state import State, StepControl

MAX_EDGE_GROWTH = 1e3
"""Largest growth of an edge, in a step and in all, over its rest length, with which even the smallest step is accepted
[-]: no pin that jumps asks for more, and beyond it everything grows until it is no number."""
DOUBLING_STRAIN = 0.5
"""Part of `max_strain_change` up to which the next step may be twice as long [-]: twice the step adds two to four times
the stretch."""
MAX_STACKED_STEP = 1.001 / 48.0
"""Longest step in which cloth rests on cloth [s]: in longer ones a stack does not come to rest."""
STEPS_KEPT = 8
"""Accepted steps for which a verdict on the step size is kept at most: longer ones are accepted although cloth rests on
cloth, after a step whose halves made no difference; none is doubled after its double was rejected."""
MAX_STACKED_FALL = 1.0
"""Longest way that weight moves cloth on cloth in a step, over the mean edge length [-]: contact that is met further
on the way pushes cloth away."""
MAX_FALL_ON_SOLIDS = 2.5
"""The same bound for cloth that is in contact with solids alone [-]."""
SHORTEST_PART = 16
"""Smallest part of the longest step, as its inverse, to which it is halved for a better end, where there is a usable
one: corrections of positions become velocities, the higher the shorter the step. After half as many rejected steps, the
rest of a frame is taken in steps of twice that length. Where pins move further than half an edge, steps may be
shorter."""


class StepHalving:
    """The rules of one simulation.

    Args:
        system: the particle system that is simulated.
        settings: of the simulation.
        whole: length of the longest step [ticks].
    """

    def __init__(self, system: ParticleSystem, settings: Solver, whole: int) -> None:
        self._system, self._settings, self._whole = system, settings, whole
        self._most_lengths = MAX_EDGE_GROWTH * system.given_lengths
        self._mean_edges = np.full(len(system.mass), np.inf)                     # of the cloth of each vertex [m]
        for vertices, edges in zip(system.slices, system.edge_slices, strict=True):
            if edges.stop > edges.start:
                self._mean_edges[vertices] = system.rest_lengths[edges].mean()

    def judged(self, before: State, result: StepResult, size: int, h: float, shortest: int = 0) -> Try:
        """Return a step of `size` ticks, h [s], from the state `before`, with the measures that decide about it;
        `shortest` as of `Try`."""
        grown = self.growth(before, result)
        return Try(size, h, result, grown, self.way(before, result), self.is_usable(before, result, grown), shortest)

    def growth(self, before: State, result: StepResult) -> float:
        """Return the stretch that the step adds to most edges, over their rest lengths [-]."""
        if not result.finite:
            return np.inf
        enough = DOUBLING_STRAIN * self._settings.max_strain_change
        return step_strain.largest_of_most(self.added_strain(before, result), self._system.edge_slices, enough,
                                           settled=not result.unsettled, driven=result.driven)

    def runs_away(self, before: State, result: StepResult, grown: float) -> bool:
        """Return whether edges of a finite result that adds `grown` [-] to most edges grow without bound."""
        return self.leaps(before, result, grown) or self.is_overgrown(result)

    def leaps(self, before: State, result: StepResult, grown: float) -> bool:
        """Return whether a finite result adds more to its edges than any step may; arguments as of `runs_away`."""
        return not grown <= MAX_EDGE_GROWTH and not (                                                     # nan too
            self.growth(before, replace(result, unsettled=False)) <= MAX_EDGE_GROWTH)

    def elongation(self, result: StepResult) -> FloatArray:
        """Return by how much each edge (E,) is longer at the end of a finite result than at rest and at the start,
        over the larger of these lengths [-]; 0 where pins or colliders decide about it."""
        assert result.lengths is not None
        longer: FloatArray = result.lengths / self._system.given_lengths - 1.0
        held = self._system.held_edges
        if result.pinched is not None:
            held = held | any_of(result.pinched[self._system.edges])
        return np.where(held, 0.0, longer)

    def is_overgrown(self, result: StepResult) -> bool:
        """Return whether most edges of a finite result are longer than any cloth can be."""
        assert result.lengths is not None
        if not (result.lengths > self._most_lengths).any():                       # at hardly any cost
            return False
        return step_strain.largest_of_most(self.elongation(result), self._system.edge_slices) > MAX_EDGE_GROWTH

    def is_usable(self, before: State, result: StepResult, grown: float) -> bool:
        """Return whether a result can be accepted if there is no better one."""
        return result.finite and not result.hopeless and not self.runs_away(before, result, grown)

    @staticmethod
    def way(before: State, result: StepResult) -> float:
        """Return the longest way of a vertex in the step [m]."""
        return float(length(result.state.x - before.x).max(initial=0.0)) if result.finite else np.inf

    def added_strain(self, before: State, result: StepResult) -> FloatArray:
        """Return the stretch (E,) [-] that a step with a finite result adds to each edge, 0 where it is pinched."""
        assert result.lengths is not None
        lengths, rest = self._system.edge_lengths(before.x), self._system.rest_lengths
        added = step_strain.added_strain(lengths, result.lengths, rest)
        return added if result.pinched is None else np.where(any_of(result.pinched[self._system.edges]), 0.0, added)

    def is_halved(self, size: int, shortest: int) -> bool:
        """Return whether a step of `size` ticks with a usable but bad end is taken again in shorter ones, down to the
        `shortest` [ticks]."""
        return self._settings.adaptive and size > shortest

    def pulled(self, state: State, h: float) -> float:
        """Return how far pins move in a step of h [s] at most, over the mean edge length of their cloth [-]."""
        held, at = self._system.end_positions(state, h)
        return float((length(at - state.x[held]) / self._mean_edges[held]).max(initial=0.0))

    @staticmethod
    def shortest(control: StepControl, pulled: float = 0.0) -> int:
        """Return the length [ticks] to which steps are halved for a better end, where pins move `pulled` edges in a
        tick: contact is linear in a step, and holds back what goes round the rim of a solid by more than half an edge.
        """
        size = max(control.longest // SHORTEST_PART, 1)
        while size > 1 and 2.0 * size * pulled > 1.0:
            size //= 2
        return size

    def attempt(self, control: StepControl, tried: Try, halved: Reasons | None = None) -> Attempt:
        """Judge a step; `halved`: why the step of twice its length was rejected, None if none was."""
        size, result, made = tried.size, tried.result, (halved or Reasons()).energy
        shortest = tried.shortest or self.shortest(control)
        calm = replace(result, made=0.0)
        turned = self._settings.adaptive and size == self._whole and result.missed > MOST_MISSED_ROTATION
        long, bad = turned or self._is_long(control, tried.h, result, tried.way), self._is_bad(result, tried.grown)
        worse = self._is_bad(calm, tried.grown) if control.creating else bad        # than its halves would be
        usable = tried.usable and result.finite and not result.hopeless
        if size == 1 or not (long or worse and (not usable or self.is_halved(size, shortest))):
            return Attempt(rejected=False, bad=bad, in_vain=made < np.inf and result.made > MAX_ENERGY_GAIN)
        alone = result.piled and not bad and not self._is_long(
            control, tried.h, replace(result, piled=False), tried.way)
        for_energy = not long and not self._is_bad(calm, tried.grown)
        if for_energy and usable and 2.0 * result.made > made:              # both halves create as much as the whole
            return Attempt(rejected=False, bad=bad, in_vain=True)
        shorter = self._shorter(size, 0.0 if usable and not result.corrected else tried.grown)
        return Attempt(rejected=True, bad=bad, reasons=Reasons(alone, result.made if for_energy else np.inf),
                       size=max(shorter, min(size // 2, shortest)) if usable else shorter)

    def _shorter(self, size: int, grown: float) -> int:
        """Return the length of the step [ticks] to try after one of `size` that adds `grown` [-] to most edges.

        What a linear step adds too much grows with the square of its length at most: edges turn by an angle that grows
        with the step, and are longer by half its square. So after a step that adds more than four times what is
        allowed, one of half the length is rejected, too. That holds for corrected ends: see docs/decisions/0083.
        """
        size //= 2
        while size > 1 and np.isfinite(grown) and grown > 4.0 * self._settings.max_strain_change:
            size, grown = size // 2, grown / 4.0
        return size

    def next(self, control: StepControl, tried: Try, *, for_rest: bool, done: int, in_vain: bool = False
             ) -> StepControl:
        """Return the step control after an accepted step.

        Args:
            control: before it. tried: the step.
            for_rest: whether it was halved only so that cloth on cloth comes to rest. in_vain: whether its halves
                create as much energy as it did.
            done: ticks of the frame behind its end.

        Of a step that was rejected the halves are taken. To try the same size at the next opportunity would reject it
        again as long as the motion stays as it is: three steps are solved then where two do. So there is a pause, which
        is twice as long each time that it was in vain. A step of cloth at rest, in which contact began that bounds the
        length of steps, is good, and the next ones are shorter.
        """
        size, h, result = tried.size, tried.h, tried.result
        unpiled = control.unpiled
        if for_rest and not result.piled:
            unpiled = STEPS_KEPT
        elif result.piled:
            unpiled = max(unpiled - 1, 0)
        creates, creating = result.made > MAX_ENERGY_GAIN, control.creating
        if in_vain:
            creating = STEPS_KEPT
        elif creates:
            creating = max(creating - 1, 0)
        refused, waits, pause = control.refused, control.waits, max(control.pause - 1, 0)
        if size < control.size and not (for_rest or in_vain):
            waits = pause = min(2 * waits, STEPS_KEPT) if control.size == refused else 2
            refused = control.size
        elif size >= refused:
            refused, waits = 0, 1
        after = StepControl(size, control.longest, result.overlong, unpiled, creating, refused, waits, pause)
        longer = (pause == 0 and max(tried.grown, result.torn) <= DOUBLING_STRAIN * self._settings.max_strain_change
                  and 4.0 * result.missed <= MOST_MISSED_ROTATION and 2.0 * h <= self._longest(after, result))
        if longer and size < control.longest and done % (2 * size) == 0:
            after = replace(after, size=2 * size)
        elif self._settings.adaptive and self._fall_time(result, tried.way) >= h > self._fall_time(result) and size > 1:
            after = replace(after, size=size // 2)
        return after

    def _is_bad(self, result: StepResult, grown: float) -> bool:
        """Return whether a shorter step may have a better end."""
        return not result.finite or self._settings.adaptive and (
            result.failed or result.crosses or result.overlong or result.spiky or result.made > MAX_ENERGY_GAIN
            or max(grown, result.torn) > self._settings.max_strain_change)

    def _is_long(self, control: StepControl, h: float, result: StepResult, way: float) -> bool:
        """Return whether a step of h [s] is too long for its contacts."""
        return self._settings.adaptive and result.finite and h > self._longest(control, result, way)

    def _longest(self, control: StepControl, result: StepResult, way: float = np.inf) -> float:
        """Return the longest step [s] for the contacts of `result`, as of `_fall_time`."""
        stacked = result.presses and result.piled and not control.unpiled
        return min(MAX_STACKED_STEP if stacked else np.inf, self._fall_time(result, way))

    def _fall_time(self, result: StepResult, way: float = np.inf) -> float:
        """Return the time [s] in which weight moves cloth by a part of the finest edge: the longest step for the
        contacts of `result`, if the step moves some vertex by as much, `way` [m]."""
        if not (result.presses or result.state.touch.mode.any()):
            return np.inf
        part = MAX_STACKED_FALL if result.presses else MAX_FALL_ON_SOLIDS
        system, time = self._system, result.state.time
        own, factor = system.self_contact, np.abs(system.gravity.factor(time)).max()
        weight = float(np.linalg.norm(system.scene.gravity_at(time)) * factor)
        if own is None or not weight or way <= part * own.finest:
            return np.inf
        return float(np.sqrt(part * (own.finest / weight)))


class Try(NamedTuple):
    """A step that was tried, and what decides about it.

    Attributes:
        size, h: its length [ticks], [s].
        result: its end.
        grown: stretch that it adds to most edges, over their rest lengths [-].
        way: the longest way of a vertex in it [m].
        usable: whether it can be accepted if there is no better one.
        shortest: length to which steps are halved for a better end [ticks]; 0 for that of cloth that pins do not move.
    """

    size: int
    h: float
    result: StepResult
    grown: float = 0.0
    way: float = np.inf
    usable: bool = True
    shortest: int = 0


class Reasons(NamedTuple):
    """Why a step is taken again in shorter ones, where a single reason is all there is.

    Attributes:
        rest: only to let cloth on cloth rest.
        energy: energy that it creates, over that of its motion [-], if that is all that speaks against it; inf if not.
    """

    rest: bool = False
    energy: float = np.inf


@dataclass(frozen=True)
class Attempt:
    """Verdict on a step.

    Attributes:
        rejected: whether it is taken again in shorter ones.
        reasons: why it is.
        in_vain: whether it was taken in halves for the energy that it creates, which create as much.
        size: length of the shorter ones [ticks].
        bad: whether a shorter one may have a better end.
    """

    rejected: bool
    reasons: Reasons = field(default_factory=Reasons)
    in_vain: bool = False
    size: int = 0
    bad: bool = False
