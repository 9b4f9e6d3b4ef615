# SPDX-License-Identifier: GPL-3.0-or-later
"""Advance a state from frame to frame in adaptive steps: try, reject and halve, double again (001, section 7).

Time inside a frame is counted in ticks of the smallest step, so that frames are hit exactly and a step's size is always
frame / (steps_per_frame 2^n). A rejected step leaves nothing behind: the next try starts from the same state.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import BoolArray
from ..contact.effort import MOST_EFFORT, Effort
from ..contact.let_through import MOST_HELD_STRETCH, let_through, taut_lengths
from ..contact.surfaces import SurfaceSet
from ..description.frame_clock import FrameClock, FrameSpan
from ..description.settings import Solver
from ..integrators import registry, stability_limit
from ..integrators.post_step import StepResult
from ..integrators.step_context import StepContext
from ..model.particle_system import ParticleSystem
from ..state import State, StepControl
from ..stopwatch import Stopwatch
from .step_halving import SHORTEST_PART, Reasons, StepHalving
from .step_refusals import StepRefusals
from .tears import carried_over, torn_after


@dataclass
class StepRecord:
    """Statistics of the steps since the last frame; fields as in `Certificate`."""

    steps: int = 0
    step_min: float = 0.0
    step_max: float = 0.0
    iterations: int = 0
    residual: float = 0.0
    converged: bool = True
    rejected: int = 0
    effort: Effort = field(default_factory=Effort)

    def accept(self, result: StepResult, h: float, *, bad: bool = False) -> None:
        """Count an accepted step of size h [s]; `bad`: it violates a limit, and no shorter one is tried."""
        self.step_min = min(self.step_min, h) if self.steps else h
        self.step_max = max(self.step_max, h)
        self.steps += 1
        self.iterations += result.iterations
        self.residual = max(self.residual, result.residual)
        self.converged &= result.converged and not self.exhausted and not bad

    @property
    def exhausted(self) -> bool:
        """Return whether no step is halved any more in this frame, unless it is not finite: after as many rejected
        steps as make eighths of one, or too much effort."""
        return self.effort.exhausted or 2 * self.rejected >= SHORTEST_PART

    def reject(self) -> None:
        """Count a rejected step."""
        self.rejected += 1


class Stepper:
    """Advances states of one scene. The only data that change are the statistics of the running frame, and the system
    where the state has torn.

    Args:
        system: the particle system that is simulated.
        solver: settings of the solver.
        watch: measures the stages of a step.
        clock: times of the frames; if it is not given, all are as long as the solver says, from frame 0 on.

    Attributes:
        system: the particle system of the last state.
    """

    def __init__(self, system: ParticleSystem, solver: Solver, watch: Stopwatch, clock: FrameClock | None = None
                 ) -> None:
        self._watch, self._given = watch, solver
        self._clock = clock or FrameClock(0, solver.frame_rate)
        self._integrate = registry.find(solver.integrator)
        self._record = StepRecord()
        self._whole = 2 ** (solver.max_halvings if solver.adaptive else 0)        # ticks of the longest step
        self._use(system)

    def _use(self, system: ParticleSystem) -> None:
        self.system = self._system = system
        solver, excluded = self._given, system.exclusions
        self._solver = solver if excluded is None or excluded.cloth_meets_cloth else replace(
            solver, self_collision=False)
        count = system.nodes.surface_count
        self._colliders = (SurfaceSet(system.scene.colliders, system.thickness[:count], system.friction.at,
                                      system.shapes, None if excluded is None else excluded.with_solids())
                           if system.scene.colliders else None)
        self._halving = StepHalving(system, self._solver, self._whole)
        self._refusals = StepRefusals(system, self._solver, self._halving, self._whole)
        self._held_lengths = MOST_HELD_STRETCH * system.given_lengths

    def prepare(self) -> None:
        """Set up before the first step what steps need and no state changes."""
        registry.prepare(self._system, self._solver)

    def take_record(self) -> StepRecord:
        """Return the statistics since the last call and begin new ones."""
        record, self._record = self._record, StepRecord()
        return record

    def advance(self, state: State, frame: int) -> State:
        """Return the state at `frame`, from the one at the frame before.

        Raises:
            SolverError: not even the smallest step has a solution, or the frame takes more work than any should.
        """
        self._record.effort = Effort.of_frame(state.overspent)
        span = self._clock.span(frame, self._solver.steps_per_frame * self._whole)
        other = span.length != state.frame_length
        state = replace(state, frame_length=span.length)
        if state.control is None:
            longest = self._stable(state, span.tick)
            state = replace(state, control=StepControl(min(self._whole, longest), longest))
        elif (self._system.keyed or other) and self._solver.integrator in registry.LONGEST_STEP:
            end = replace(state, time=self._clock.time(frame))
            longest = min(self._stable(state, span.tick), self._stable(end, span.tick))
            control = state.control
            state = replace(state, control=replace(control, size=min(control.size, longest), longest=longest))
        done = 0
        while done < span.count:
            state, size = self._step(replace(state, time=span.at(done)), span, done, frame)
            done += size
            if state.torn is not None:
                with self._watch.stage("tears"):
                    state = self._torn(state, state.torn, span.tick)
        return replace(state, overspent=self._record.effort.overspent(state.overspent))

    def _torn(self, state: State, before: BoolArray, tick: float) -> State:
        """Return the state with the edges torn that are overloaded, and use the system of these tears.

        before: (W,) edges that have torn before. tick: [s].
        """
        torn = torn_after(self._system, state)
        if np.array_equal(torn, before):
            return state
        whole = self._system
        self._use(ParticleSystem(whole.tears.given, assembled=self._given.matrix == "assembled", torn=torn))
        state = carried_over(state, whole, self._system)
        control = state.control
        assert control is not None
        longest = min(control.longest, self._stable(state, tick))           # parts of vertices have less mass
        return replace(state, control=replace(control, size=min(control.size, longest), longest=longest))

    def _step(self, state: State, span: FrameSpan, done: int, frame: int) -> tuple[State, int]:
        """Return the state after one accepted step, and the step's length in ticks. `done` ticks of the frame are over.
        """
        control, halved = state.control, Reasons()
        assert control is not None
        size = control.size
        last = self._record.effort.last(self._solver.steps_per_frame, span.count / control.longest)
        if self._record.effort.spent > last:
            raise self._refusals.too_much_work(state, frame, self._record.steps, self._record.effort.spent, last)
        state = self._system.emission.begin(state)
        context = StepContext.at(self._system, state, self._solver, self._watch, self._colliders,
                                 self._record.effort)
        shortest = self._halving.shortest(control, self._halving.pulled(state, size * span.tick) / size)
        while True:
            h, end = size * span.tick, span.at(done + size)
            out = self._record.exhausted
            with self._watch.stage("contact"):
                context = replace(context.between(state.time, end), final=out or size == 1,
                                  retried=not out and self._halving.is_halved(size, shortest),
                                  shortened=size < self._whole)
            self._record.effort.begin(size / span.count)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):     # such a step is rejected below
                result = self._integrate(self._system, state, h, context)
            tried = self._halving.judged(state, result, size, h, shortest)
            attempt = self._halving.attempt(control, tried, halved)
            spent = out or self._record.effort.exhausted
            # a search after the step may have ended the effort: what was left uncorrected is not taken for that
            if not attempt.rejected or tried.usable and spent and result.corrected:
                break
            self._record.reject()
            context.try_again()
            size, halved = attempt.size, attempt.reasons
        self._refusals.check(state, result, tried.grown, h, size, frame)
        self._record.accept(result, h, bad=attempt.bad)
        after = self._halving.next(control, tried, for_rest=halved.rest, done=done + size, in_vain=attempt.in_vain)
        if self._record.exhausted:                # through the rest of the frame in eighths, or in the longest steps
            rest, longest = done + size, control.longest
            if not self._record.effort.exhausted:
                longest = min(longest, max(1, 2 * self._whole // SHORTEST_PART))
            while after.size < longest and rest % (2 * after.size) == 0:
                after = replace(after, size=2 * after.size)
        accepted = self._let_through(
            state, context.accepted(replace(result.state, time=end, control=after)), result, context, h)
        return replace(accepted, plastic=self._system.flowed(accepted, h), torn=state.torn,
                       overspent=state.overspent), size

    def _let_through(self, start: State, state: State, result: StepResult, context: StepContext, h: float) -> State:
        """Return the accepted `state` of a step of h [s] from `start` with the vertices that colliders pass through
        from there on."""
        contact, surfaces, system = state.contact, context.surfaces, self._system
        if contact is None or surfaces is None or result.lengths is None:
            return state
        overlong = result.lengths > self._held_lengths
        if contact.through is None and not overlong.any() or context.contact is None:
            return state
        with self._watch.stage("contact"):
            pins = system.pins(start, h).rows
            held = np.isin(system.body, system.body[pins])[system.edges[:, 0]]
            free = held & ~np.isin(system.edges, pins).all(axis=1)           # between two pins, they decide the length
            touches = (state.touch.mode > 0) | context.contact.beside_solids()
            taut = free & (result.lengths > taut_lengths(self._held_lengths))
            found = let_through(contact.through, state.x, free & overlong, taut, system.edges, touches, surfaces)
        if found is None and contact.through is None:
            return state
        return replace(state, contact=replace(contact, through=found, stuck=True))

    def steps_in_frame(self, state: State) -> int:
        """Return the number of steps in the frame after `state`, if no step is rejected."""
        ticks = self._solver.steps_per_frame * self._whole
        return -(-ticks // self._stable(state, 1.0 / (self._solver.frame_rate * ticks)))

    def _stable(self, state: State, tick: float) -> int:
        """Return the length of the longest stable step from `state` [ticks].

        Raises:
            UnstableStepError: not even the smallest step is stable, or a frame has more of them than its largest
                effort allows and the settings ask for.
        """
        name = self._solver.integrator
        if name not in registry.LONGEST_STEP:
            return self._whole
        longest = registry.LONGEST_STEP[name](self._system, state, self._solver)
        most, frame = max(MOST_EFFORT, self._solver.steps_per_frame), self._solver.steps_per_frame * self._whole * tick
        if not tick <= longest or frame > most * longest:                 # nan fails too
            raise stability_limit.refusal(name, longest, tick, self._system, state, self._solver, most)
        size = self._whole
        while size * tick > longest:
            size //= 2
        return size
