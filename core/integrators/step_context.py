# SPDX-License-Identifier: GPL-3.0-or-later
"""Inputs of a step besides the model and the state: settings, colliders, contact, a stopwatch and the effort."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..contact.contact_trial import ContactTrial
from ..contact.effort import Effort
from ..contact.surfaces import StepSurfaces, SurfaceSet
from ..model.particle_system import ParticleSystem
from ..state import Before, State
from ..stopwatch import Stopwatch
from .linearisation import SolveMemory

if TYPE_CHECKING:
    from ..description.settings import Solver


@dataclass(frozen=True)
class StepContext:
    """Surroundings of the tries of one step.

    Attributes:
        settings: of the simulation.
        watch: measures its stages.
        effort: counts the work of the frame.
        solves: history of the linear solves.
        contact: pair contact from the state on, None where there is no surface.
        colliders: all of them, None if there are none.
        surfaces: these during the step, None if there are none.
        final: whether the result of the step is accepted whatever it is.
        retried: whether a bad result is taken again in shorter steps, while effort is left, so that it need not be
            corrected.
        shortened: whether the step is shorter than the settings ask for.
        before: start of the last step, for sliding paths of second order; None for paths of implicit Euler.
    """

    settings: Solver
    watch: Stopwatch
    effort: Effort
    solves: SolveMemory
    contact: ContactTrial | None = None
    colliders: SurfaceSet | None = None
    surfaces: StepSurfaces | None = None
    final: bool = False
    retried: bool = False
    shortened: bool = False
    before: Before | None = None

    @staticmethod
    def at(system: ParticleSystem, state: State, settings: Solver, watch: Stopwatch | None = None,
           colliders: SurfaceSet | None = None, effort: Effort | None = None) -> StepContext:
        """Return the context of all steps from `state`, still without a time span."""
        own = system.self_contact
        effort = Effort() if effort is None else effort
        trial = None if own is None else ContactTrial(own, state.contact, effort)
        return StepContext(settings, watch or Stopwatch(), effort, SolveMemory(state.solves), trial, colliders)

    def between(self, start: float, end: float) -> StepContext:
        """Return the context of a step between two times [s]."""
        return self if self.colliders is None else replace(self, surfaces=self.colliders.between(start, end))

    def with_linearisations(self, count: int) -> StepContext:
        """Return the context with this number of linearisations per step."""
        return replace(self, settings=replace(self.settings, newton_iterations=count))

    def try_again(self) -> None:
        """Forget a rejected try."""
        if self.contact is not None:
            self.contact.history.try_again()

    def accepted(self, state: State) -> State:
        """Return the end of an accepted try with what was learned on the way."""
        contact = None if self.contact is None else self.contact.history.accepted()
        return replace(state, contact=contact, solves=self.solves.history)
