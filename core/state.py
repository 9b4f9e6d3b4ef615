# SPDX-License-Identifier: GPL-3.0-or-later
"""The moving half of a simulation: everything that changes from step to step.

`State` is complete: a step takes a state and returns a new one, a rejected step is forgotten by keeping the old state,
and a simulation that continues from a stored state gives the same bytes as one that was never stopped. All records here
hold arrays and numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Touch:
    """Friction state of every particle on solids.

    Attributes:
        mode: (V,), 0 free, 1 stick, 2 slip.
        pressing: (V,) normal force [N].
    """

    mode: IntArray
    pressing: FloatArray

    @staticmethod
    def none(vertex_count: int) -> Touch:
        """Return the state without any contact."""
        return Touch(np.zeros(vertex_count, dtype=np.int64), np.zeros(vertex_count))


@dataclass(frozen=True)
class Before:
    """Start of the step that led here, for multistep integrators.

    Attributes:
        x: (V, 3) positions [m].
        v: (V, 3) velocities [m/s].
        step: size of that step [s].
        x_earlier, v_earlier: (V, 3) the same at the start of the step before it, None if that had another size.
        mode: (V,) friction modes there, as in `Touch`; None if no particle was in contact.
        step_earlier: size of the step before it [s], None if that is not known.
        frame_length: length of the frame in which that step was taken [s], 0 if it is not known.
    """

    x: FloatArray
    v: FloatArray
    step: float
    x_earlier: FloatArray | None = None
    v_earlier: FloatArray | None = None
    mode: IntArray | None = None
    step_earlier: float | None = None
    frame_length: float = 0.0


@dataclass(frozen=True)
class ContactWarmStart:
    """First guess for the contacts of the next step, from the end of the last one.

    Attributes:
        keys: (N,) sorted keys of the pairs in contact.
        pressing: (N,) normal forces [N].
        holding: (N, 3) friction forces [N].
        stiffness: (N,) penalty stiffness over the effective mass [-].
        gain: (V, 3) mean acceleration of the step [m/s^2], None before the first step.
    """

    keys: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    pressing: FloatArray = field(default_factory=lambda: np.zeros(0))
    holding: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    stiffness: FloatArray = field(default_factory=lambda: np.zeros(0))
    gain: FloatArray | None = None


@dataclass(frozen=True)
class Homes:
    """Where each vertex of cloth was last in front of a collider, and which vertices colliders have crossed since.

    Attributes:
        number: (V,) 1 + the number of a triangle of all colliders, negative if the cloth was behind one that has two
            sides; 0 for none.
        weights: (V, 3) barycentric, of the place on the triangle.
        astray: (V,) vertices that colliders have crossed, until they are back.
        foreign: (V,) vertices that started inside of colliders, or at another side of them than most of their piece.
        speed: largest one at which what is astray goes home in the next step [m/s], unless colliders or pins are
            faster; None before anything was.
    """

    number: IntArray
    weights: FloatArray
    astray: BoolArray
    foreign: BoolArray
    speed: float | None = None


@dataclass(frozen=True)
class ContactState:
    """Data of pair contact that are carried from step to step.

    Attributes:
        warm_start: first guess of the contact forces.
        tangled: whether cloth may intersect cloth, so that the next step has to look for intersections.
        stuck: whether cloth may intersect colliders.
        missed: (V,) distance between predicted and reached ends of the last steps [m], for pairs of cloth and cloth.
        missed_solid: (V,) this distance for pairs of cloth and colliders [m].
        homes: of the vertices; None where there are no colliders.
        through: (V,) vertices that colliders pass through, as of `let_through`; None if there are none.
    """

    warm_start: ContactWarmStart
    tangled: bool
    stuck: bool
    missed: FloatArray
    missed_solid: FloatArray
    homes: Homes | None = None
    through: BoolArray | None = None


@dataclass(frozen=True)
class SolveHistory:
    """Running statistics of the linear solves, by which the preconditioner of the next one is selected.

    Attributes:
        direct_left: solves that are still direct, before multigrid is tried again.
        wait: direct solves before the next trial of multigrid.
        mean: running mean of multigrid's iteration counts, over the count that is worth a direct solve [-].
        trial: whether the next solve is the trial that follows direct solves.
    """

    direct_left: int
    wait: int
    mean: float
    trial: bool


@dataclass(frozen=True)
class StepControl:
    """State of the adaptive step size.

    Attributes:
        size: length of the next step, in ticks.
        longest: longest stable step, in ticks.
        overlong: whether the last step left an edge longer than *Limit Stretch* allows.
        unpiled: accepted long steps that are left before cloth resting on cloth causes short ones again.
        creating: accepted steps that create energy that are left before one is halved for that again.
        refused: length of the step that was rejected last, in ticks; 0 once one of that length was accepted.
        waits: accepted steps before such a length is tried again.
        pause: how many of these are left.
    """

    size: int
    longest: int
    overlong: bool = False
    unpiled: int = 0
    creating: int = 0
    refused: int = 0
    waits: int = 1
    pause: int = 0


@dataclass(frozen=True)
class State:
    """All that moves, at one time.

    Attributes:
        x: (V, 3) positions [m].
        v: (V, 3) velocities [m/s].
        time: [s].
        touch: friction state on solids.
        before: start of the last step, None for integrators that do not look back.
        contact: memory of pair contact, None where there is no surface.
        control: step size, None before the first step.
        solves: history of the linear solves, None before the first one.
        emitted: start of the present or the last step [s]; particles with an earlier time of birth are born.
        emitted_before: start of the step before that [s].
        plastic: (n,) plastic part of all rest shapes, None if none flows.
        torn: (W,) which edges of split meshes have torn, None if no mesh is split.
        coarse: state on the coarser meshes by which this one was found, None if there are none.
        frame_length: simulated time of the present frame [s], 0 before the first.
        overspent: effort of the last frames, and of the start, beyond the usual one, as of `contact.effort` [-].
    """

    x: FloatArray
    v: FloatArray
    time: float
    touch: Touch
    before: Before | None = None
    contact: ContactState | None = None
    control: StepControl | None = None
    solves: SolveHistory | None = None
    emitted: float = 0.0
    emitted_before: float = 0.0
    plastic: FloatArray | None = None
    torn: BoolArray | None = None
    coarse: State | None = None
    frame_length: float = 0.0
    overspent: float = 0.0
