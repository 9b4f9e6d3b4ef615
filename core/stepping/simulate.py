# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulation as a generator of frames.

Frame n is at time (n - first) / frame_rate, or at that of a clock, and the first frame is the initial state, as in
Blender. The caller decides about progress and cancelling: it takes the next frame or stops.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import BoolArray, FloatArray, is_series, is_whole
from ..description.frame_clock import FrameClock
from ..description.scene import Scene
from ..description.settings import Solver
from ..did_you_mean import names_arguments
from ..errors import CheckpointError, SceneError, SolverError
from ..kernels.backend import choose, current, using
from ..model.particle_system import ParticleSystem
from ..number_text import number_text
from ..state import State
from ..stopwatch import Stopwatch
from .adaptive_stepper import Stepper
from .certificate import Certificate, EdgeOf, crossing_pairs, stretch_of
from .checkpoint import Checkpoint
from .coarse_frames import CoarseFrames
from .continuation import CheckpointMaker, check_continues, continued
from .energy import energy_of
from .pinched_crossings import without_pinched
from .resolve_start import crosses, look, make_auditor, resolution_of, resolved


@dataclass(frozen=True)
class Frame:
    """One frame of all cloths.

    Attributes:
        index: frame number.
        time: time since the first frame [s].
        positions: (V, 3) of each cloth [m].
        velocities: (V, 3) of each cloth [m/s].
        certificate: quality of the frame.
    """

    index: int
    time: float
    positions: list[FloatArray]
    velocities: list[FloatArray]
    certificate: Certificate
    _checkpoint: Checkpoint | None = field(default=None, repr=False, compare=False)

    def checkpoint(self) -> Checkpoint:
        """Return the full state at this frame, for `simulate(..., start=...)`, here or in another process.

        Raises:
            CheckpointError: the frame was not made by `simulate`.
        """
        if self._checkpoint is None:
            raise CheckpointError(f"frame {self.index} was not made by simulate and has no state to continue from; "
                                  "take a frame that it yields")
        return self._checkpoint


@names_arguments(SceneError)
def simulate(scene: Scene, solver: Solver | None = None, frames: Sequence[int] = range(1, 251),
             start: Checkpoint | None = None, clock: FrameClock | None = None) -> Iterator[Frame]:
    """Yield the scene at each of `frames`, consecutive frame numbers; the first is the initial state.

    With `start`, the simulation continues from that checkpoint: the first of `frames` must be the one after it. With
    the same scene, settings and backend all frames are the same, to the byte, as without the interruption. Other
    settings are allowed, and count from there on.

    With `clock`, frames are as long as it says, instead of 1 / frame_rate each. A scene with trajectories of a
    `MotionWindow` needs the clock of that window if it has a speed.

    Raises:
        SceneError: no frames, or not consecutive, or `clock` has another first frame. Nothing is computed then. Or the
            clock has no length for a frame.
        CheckpointError: `start` does not fit the scene, the frame rate or the frames. Nothing is computed then.
        SolverError: the solver's backend cannot run here; nothing is computed then. Or a step has no solution even at
            the smallest size; the frames yielded before are good.
        ColliderError, PinError: a trajectory gives positions that cannot be used.
    """
    if not is_series(frames):
        raise SceneError(f"frames is {reprlib.repr(frames)}, it must be consecutive frame numbers, such as "
                         "range(1, 251), and comes third or by name")
    given = list(frames)
    if solver is not None and not isinstance(solver, Solver):
        raise SolverError(f"the second argument is {solver!r}, it must be a Solver; frames come third or by name")
    if not isinstance(scene, Scene):
        raise SceneError(f"the first argument is {scene!r}, it must be a Scene")
    wrong = [n for n in given if not is_whole(n, -2 ** 31)]
    if wrong:
        raise SceneError(f"frames holds {wrong[0]!r}, they must be whole numbers, such as range(1, 251)")
    numbers = [int(n) for n in given]
    if not numbers:
        raise SceneError("the frame range is empty; the last frame must not be before the first")
    if any(b - a != 1 for a, b in zip(numbers[:-1], numbers[1:], strict=True)):
        raise SceneError("frames must be consecutive and ascending, such as range(1, 251)")
    solver = solver or Solver()
    if start is not None:
        check_continues(start, scene, solver, numbers[0])
    clock = _begun(clock, solver, numbers[0], start)
    return _frames(scene, solver, numbers, choose(solver.backend), start, clock)


def _begun(clock: FrameClock | None, solver: Solver, frame: int, start: Checkpoint | None) -> FrameClock:
    """Return the clock of a simulation that begins with `frame`, or continues with it from `start`."""
    first, time = (frame, 0.0) if start is None else (start.first, start.state.time)
    if clock is None:
        clock = FrameClock(first, solver.frame_rate)
    elif not isinstance(clock, FrameClock):
        raise SceneError(f"clock is {clock!r}, it must be a FrameClock, such as the clock of a MotionWindow")
    elif (clock.first, clock.frame_rate) != (first, float(solver.frame_rate)):
        raise SceneError(f"the clock has frame {clock.first} at time 0 and {number_text(clock.frame_rate)} frames per "
                         f"second, the simulation frame {first} and {number_text(solver.frame_rate)}; give the clock "
                         "those of the simulation")
    clock.begin(frame if start is None else start.frame, time)
    return clock


def _frames(scene: Scene, solver: Solver, numbers: list[int], backend: str, start: Checkpoint | None,
            clock: FrameClock) -> Iterator[Frame]:
    """Yield the frames.

    The backend is selected only while the next frame is computed, not while the caller uses a frame.
    """
    with using(backend):
        system = ParticleSystem(scene, assembled=solver.matrix == "assembled",
                                torn=None if start is None else start.state.torn)
        watch = Stopwatch()
        stepper = Stepper(system, solver, watch, clock)
        auditor = make_auditor(system)
        first = clock.first
        last_coarse = first + solver.coarse_frames
        coarse = CoarseFrames.of(system, solver, watch, clock) if numbers[0] <= last_coarse else None
        for each in (stepper,) if coarse is None else (stepper, coarse.stepper):
            each.prepare()
        state = system.initial_state() if start is None else continued(start, scene, solver, system)
        checkpoints = CheckpointMaker(scene, solver, first)
        names = [*(c.name for c in scene.cloths), *(c.name for c in scene.colliders)]
    for number in numbers:
        with using(backend):
            current().thread_count.settle()
            on_coarse = coarse is not None and first < number <= last_coarse
            if coarse is not None and on_coarse:
                state = coarse.advance(state, number)
            elif number > first:
                state = stepper.advance(state if state.coarse is None else replace(state, coarse=None), number)
                if stepper.system is not system:
                    system = stepper.system
                    auditor = make_auditor(system)
            with watch.stage("certificate"):
                found, resolution = look(auditor, system, state), None
            begins = start is None and number == first or on_coarse and number == last_coarse
            if begins and solver.resolve_start and crosses(found):
                with watch.stage("start"):
                    given, before = state, found
                    state = resolved(system, solver, given)
                with watch.stage("certificate"):
                    found = look(auditor, system, state)
                    resolution = resolution_of(system, given, before, state, found)
            with watch.stage("certificate"):
                found, pinched = without_pinched(found, auditor, system, state)
                seen, held = system.displayed_edges, system.held_edges
                ratios = system.edge_lengths(state.x) / system.rest_lengths_at(
                    state.time, state.plastic)
                stretch_max, stretch_p99 = stretch_of(ratios[seen])
                longest = _longest(system, ratios, seen & ~held)
        record = (coarse.stepper if coarse is not None and on_coarse else stepper).take_record()
        certificate = Certificate(
            stretch_max=stretch_max, stretch_p99=stretch_p99, crossings=found.crossings,
            stretch_pinned=stretch_of(ratios[held])[0], crossing_pairs=crossing_pairs(found.by_objects(), names),
            smallest_gap=found.smallest_gap, deepest_penetration=found.deepest_penetration,
            seam_gap=system.seam_gap(state.x), stretch_at=longest,
            steps=record.steps, step_min=record.step_min, step_max=record.step_max, iterations=record.iterations,
            residual=record.residual, converged=record.converged, rejected=record.rejected, backend=backend,
            seconds=watch.take(), energy=energy_of(system, state) if solver.measure_energy else None,
            start=resolution, crossings_pinched=pinched, torn_edges=_torn_edges(scene, state))
        yield Frame(number, state.time, [x.copy() for x in system.of_cloths(state.x)],
                    [v.copy() for v in system.of_cloths(state.v)], certificate,
                    checkpoints.at(number, state))


def _torn_edges(scene: Scene, state: State) -> int | None:
    """Return the number of edges that have torn, None if no cloth can tear."""
    can_tear = any(cloth.tearing is not None for cloth in scene.cloths)
    return int(np.count_nonzero(state.torn)) if can_tear and state.torn is not None else None


def _longest(system: ParticleSystem, ratios: FloatArray, some: BoolArray) -> EdgeOf | None:
    """Return the edge of the largest of the ratios (E,) of `some` edges (E,), None without any."""
    if not some.any():
        return None
    return EdgeOf(*system.edge_named(int(np.argmax(np.where(some, ratios, -np.inf)))))


@names_arguments(SceneError)
def steps_in_frame(scene: Scene, solver: Solver) -> int:
    """Return the number of steps in the first frame. Explicit integrators may need very many to be stable.

    Raises:
        UnstableStepError: not even the smallest step is stable.
    """
    with using(choose(solver.backend)):
        system = ParticleSystem(scene, assembled=solver.matrix == "assembled")
        return Stepper(system, solver, Stopwatch()).steps_in_frame(system.initial_state())
