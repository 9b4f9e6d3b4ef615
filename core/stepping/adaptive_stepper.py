# SPDX-License-Identifier: GPL-3.0-or-later
"""From frame to frame in steps: try, discard, halve; double again after success (001, section 7).

Time inside a frame is counted in ticks of the smallest step, so that frames are hit exactly and a step's size is
always frame / (steps_per_frame 2^n).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..contact.surfaces import SurfaceSet
from ..description.settings import Solver
from ..errors import SolverError
from ..integrators import registry, stability_limit
from ..integrators.post_step import StepResult
from ..model.particle_system import System
from ..state import State
from ..stopwatch import Stopwatch

RUNAWAY = 1e3
"""Growth of an edge in a step, over its rest length, above which not even the smallest step is kept [-]: not even a pin
that jumps asks for it, and from there on everything only grows until it is no number any more."""
SHRUNK = 1e-3
"""Part of its rest length below which an edge may be why a step has no solution [-]: it has no direction left."""
MADE = 4.0
"""Energy that a step may make out of nothing, over that of its motion, before it is halved [-]. Most of what it makes
the next step takes away again; but cloth that is stretched by a tenth for a frame shows, and hundreds of times the
motion fling it off."""
TWICE = 0.5
"""Part of `max_strain_change` up to which the next step may be twice as long [-]: it stretches edges twice to four
times as much, and one in vain costs as much as one that is kept; but where cloth wrinkles, whose edges add as much in
short steps, waiting for less would be to wait for its rest."""
LONGEST = 1.001 / 48.0
"""Largest step in which cloth lies on cloth [s]: in longer ones a pile does not come to rest."""
KEPT = 8
"""Steps longer than that which are kept, whatever is piled up, after one whose halves had no use of it: they were quick
motions, and what is near the border between the two would be done three times over, frame by frame."""
FALLS = 1.0
"""How far weight takes cloth in such a step at most, over its edges' length [-]: what goes further would be held by
what it only meets on its way, and in a heap be flung about."""
FALLS_ON = 2.5
"""The same where cloth touches solids alone [-]: what weight takes further in a step folds or stretches on its way by
more than a linear step can follow, and small cloth is flung off by that."""
PARTED = 8
"""Part of a step down to which it is halved where cloth would begin to pass through cloth or a solid, or edges would be
longer than they may be: pins may pull it whatever the step, and the shorter that is, the quicker is what they pull. The
step that first makes it longer than *Limit Stretch* lets it be is halved further."""


@dataclass
class StepRecord:
    """What the steps since the frame before were like; fields as in `Certificate`."""

    steps: int = 0
    step_min: float = 0.0
    step_max: float = 0.0
    iterations: int = 0
    residual: float = 0.0
    converged: bool = True
    rejected: int = 0

    def accept(self, result: StepResult, h: float) -> None:
        """Count a step of size h [s] that was kept."""
        self.step_min = min(self.step_min, h) if self.steps else h
        self.step_max = max(self.step_max, h)
        self.steps += 1
        self.iterations += result.iterations
        self.residual = max(self.residual, result.residual)
        self.converged &= result.converged


class Stepper:
    """Advances a state from frame to frame."""

    def __init__(self, system: System, solver: Solver, watch: Stopwatch) -> None:
        self._system, self._solver, self._watch = system, solver, watch
        self._step = registry.find(solver.integrator)
        count = system.nodes.surface_count
        self._surfaces = (SurfaceSet(system.scene.colliders, system.thickness[:count], system.friction[:count],
                                     system.shapes) if system.scene.colliders else None)
        self._record = StepRecord()
        own, weight = system.self_contact, float(np.linalg.norm(system.scene.gravity))
        edge = np.inf if own is None or not weight else own.finest / weight                # [s^2]
        self._longest_pressed, self._longest_touching = np.sqrt(FALLS * edge), np.sqrt(FALLS_ON * edge)
        halvings = solver.max_halvings if solver.adaptive else 0
        self._whole = 2 ** halvings                                       # ticks of the largest step
        self._size = self._whole                                          # ticks of the next step
        self._most: int | None = None                                     # ticks of the longest stable one
        self._overlong = False                                            # how the last step ended
        self._halved_to_rest, self._kept = False, 0                       # because of LONGEST; and how often no more

    def take_record(self) -> StepRecord:
        """The record since the last call; starts a new one."""
        record, self._record = self._record, StepRecord()
        return record

    def advance(self, state: State, frame: int) -> State:
        """The state `frame` frames after the start, from the one a frame before."""
        ticks = self._solver.steps_per_frame * self._whole
        tick = 1.0 / (self._solver.frame_rate * ticks)                   # [s]
        start = (frame - 1) / self._solver.frame_rate
        if self._most is None:
            self._most = self._stable(state, tick)
            self._size = min(self._size, self._most)
        done = 0
        while done < ticks:
            h, own = self._size * tick, self._system.self_contact
            last = None if own is None else own.last
            # times from counts, so that no error adds up over a long bake
            now, then = start + done * tick, start + (done + self._size) * tick
            state = self._system.births.begin(replace(state, time=now))
            result = self._try(state, then - now if h == 0 else h, then)
            grown = self._growth(state, result)
            if self._size > 1 and self._must_halve(result, grown, h):
                if own is not None and last is not None:
                    own.last = last
                self._record.rejected += 1
                self._halved_to_rest = result.piled and not self._must_halve(replace(result, piled=False), grown, h)
                self._size //= 2
                continue
            if not result.finite:
                raise SolverError(
                    f"the step at {now:.4f} s (frame {frame}) has no finite solution even at {h:.2e} s"
                    f"{self._halved()}; check for extreme stiffness, mass or collider speed{self._shortest(state)}")
            if not grown <= RUNAWAY and not self._growth(state, replace(result, unsettled=False)) <= RUNAWAY:  # nan too
                added = self._system.growth(state.x, result.state.x)
                edge = int(np.argmax(added))
                name, ends = self._system.edge_named(edge)
                raise SolverError(
                    f"the step at {now:.4f} s (frame {frame}) runs away even at {h:.2e} s{self._halved()}: edge {ends} "
                    f"grows by {added[edge]:.1f} times its length; check for cloth that is clamped between "
                    f"colliders while pins pull on it, and for extreme stiffness or speed{self._shortest(state)}",
                    object_name=name)
            self._record.accept(result, h)
            self._overlong = result.overlong
            if self._halved_to_rest and not result.piled:
                self._kept = KEPT
            elif result.piled:
                self._kept = max(self._kept - 1, 0)
            self._halved_to_rest = False
            state = replace(result.state, time=then)
            done += self._size
            longer = grown <= TWICE * self._solver.max_strain_change and 2.0 * h <= self._longest(result)
            if longer and self._size < self._most and done % (2 * self._size) == 0:
                self._size *= 2
        return state

    def _shortest(self, state: State) -> str:
        """Which edge of the cloth has shrunk to next to nothing, in words; nothing where none has."""
        lengths = self._system.edge_lengths(state.x)
        part = lengths / self._system.rest_lengths
        if not part.min(initial=1.0) < SHRUNK:
            return ""
        edge = int(np.argmin(part))
        name, ends = self._system.edge_named(edge)
        held, _ = self._system.held_positions(state.time)
        pinned = np.isin(self._system.edges[edge], held).all()
        return (f"; edge {ends} of {name} has shrunk to {lengths[edge]:.2g} m" + (
            ", and pins hold both its ends: move their targets apart" if pinned else ""))

    def _halved(self) -> str:
        """How often the step that is tried was halved, in words."""
        times = (self._whole // self._size).bit_length() - 1
        return f", {times} times halved" if times else ""

    def steps_in_frame(self, state: State) -> int:
        """How many steps a frame from `state` on takes, unless more are halved."""
        ticks = self._solver.steps_per_frame * self._whole
        return -(-ticks // self._stable(state, 1.0 / (self._solver.frame_rate * ticks)))

    def _stable(self, state: State, tick: float) -> int:
        """Ticks of the longest stable step from `state` on.

        Raises:
            UnstableStepError: not even the smallest is.
        """
        name = self._solver.integrator
        if name not in registry.LONGEST:
            return self._whole
        longest = registry.LONGEST[name](self._system, state, self._solver)
        if not tick <= longest:                                           # nan fails too
            raise stability_limit.refusal(name, longest, tick, self._system, state, self._solver)
        size = self._whole
        while size * tick > longest:
            size //= 2
        return size

    def _try(self, state: State, h: float, end: float) -> StepResult:
        if self._surfaces is not None:
            with self._watch.stage("contact"):
                self._surfaces.set_step(state.time, end)
        return self._step(self._system, state, h, self._solver, self._surfaces, self._watch)

    def _must_halve(self, result: StepResult, grown: float, h: float) -> bool:
        """Whether a step of h [s] is to be done again in two."""
        if not result.finite:
            return True
        return self._solver.adaptive and (
            result.failed or result.made > MADE or max(grown, result.torn) > self._solver.max_strain_change
            or h > self._longest(result)
            or (result.crosses or result.overlong or result.spiky) and self._size > self._whole // PARTED
            or result.overlong and not self._overlong)

    def _longest(self, result: StepResult) -> float:
        """The longest step [s] for what touches like that."""
        if result.presses:
            return min(LONGEST, self._longest_pressed) if result.piled and not self._kept else self._longest_pressed
        return self._longest_touching if result.state.touch.mode.any() else np.inf

    def _growth(self, before: State, result: StepResult) -> float:
        """Stretch that the step adds to most edges, over their rest lengths [-]."""
        if not result.finite:
            return np.inf
        enough = TWICE * self._solver.max_strain_change
        return self._system.growth_of_most(before.x, result.state.x, enough, settled=not result.unsettled)
