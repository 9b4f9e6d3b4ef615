# SPDX-License-Identifier: GPL-3.0-or-later
"""What touches in one step, by pairs or, vertices on solids, by constraints, and where the step then leads.

Found for the motion that is expected; the solves change it (`contact_loop`), and where they end it says what is to be
corrected (`post_step`). A step of velocities u ends at x = x0 + y + h u, with y the position alteration of 001.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..contact.colliders import MovingSurface
from ..contact.constraints import Constraints
from ..contact.contact_step import SelfContactStep
from ..contact.contact_trial import ContactTrial
from ..contact.face_contacts import FaceContacts
from ..contact.piles import Piles
from ..contact.pinch import Pinch, Resistance
from ..contact.sliding_path import changes, expected
from ..contact.surfaces import Touching
from ..contact.surroundings import Surroundings
from ..kernels import current
from ..linear.constraint_filter import ConstraintFilter
from ..model.particle_system import ParticleSystem
from ..row_ops import any_of, length
from ..state import State, Touch
from .step_context import StepContext

CONTACT_TOLERANCE = 1e-3
"""Tolerance of the solves with contacts or seams, where a looser one is asked for [-]: contact forces are read from
them, and a seam is so stiff that what a looser one leaves tears it open."""


class StepContacts:
    """The contacts of one step.

    Args:
        system, state, h, context: as of the step.
        pins: its filter without contacts.
        unhindered: no pairs are looked for; the caller tests whether anything meets.

    Attributes:
        pinch: vertices that colliders keep no room for; None if there are none.
        effort: counts the work of the frame.
        faces: where vertices are on faces of solids; None where nothing may touch.
        by_springs: whether springs hold cloth on solids. constraints: vertices on solids; None where there are
            none or springs do it. pairs: all else; None where nothing may touch by pairs.
    """

    def __init__(self, system: ParticleSystem, state: State, h: float, context: StepContext, pins: ConstraintFilter,
                 unhindered: bool = False) -> None:
        self._before = context.before
        self.system, self.state, self.h, self.settings, self.watch = system, state, h, context.settings, context.watch
        self.pins, self._surfaces, self._trial = pins, context.surfaces, context.contact
        self.effort, self.retried = context.effort, context.retried
        self._gravity = system.gravity.at(state.time + h)
        with context.watch.stage("contact"):
            self._expected: Touching | None = None
            self.unhindered = unhindered
            self.by_springs = self._surfaces is not None and self.settings.solid_contact == "springs"
            self.pinch = None if unhindered else self._pinched()
            self.faces = None if unhindered else self._on_faces()
            self.base = self._without_velocity()
            self.constraints = None if self.by_springs else self._held_exactly()
            self.pairs = None if unhindered else self._of_pairs()

    # ------------------------------------------------------------------ what is expected

    def _around(self, own: ContactTrial) -> Surroundings:
        """What is near before anything is known of the step."""
        x0, v0 = self.state.x, self.state.v
        return own.look(x0, own.ahead(x0, v0, self.h), own.motion(self._surfaces), itself=self.settings.self_collision)

    def _pinched(self) -> Pinch | None:
        """Return the cloth between colliders that keep no room for it."""
        if self._surfaces is None or self._trial is None:
            return None
        x0 = self.state.x
        self._expected = self._surfaces.find(x0, x0 + self.h * self.state.v)
        free = self.pins.degrees_of_freedom(np.arange(len(x0))) > 0
        resistance = Resistance(self.system.mass, lambda: self._inertia, self._force, self._pulled)
        return self._trial.pinch(x0, self.h, self._expected, self._surfaces, resistance, free, self.system.edges,
                                 self.system.given_lengths)

    def _force(self) -> FloatArray:
        """Return elastic forces and weight at the start (V, 3) [N]."""
        return self.system.elastic(self.state.time + self.h, self.state.plastic).force(self.state.x)

    def _pulled(self) -> float:
        """Return how far pins move in the step at most [m]."""
        held, at = self.system.end_positions(self.state, self.h)
        return float(length(at - self.state.x[held]).max(initial=0.0))

    def _held_exactly(self) -> Constraints | None:
        """Return the constraints that hold vertices on faces of solids."""
        if self.faces is None:
            return None
        return Constraints(self.faces.found, self.base, (self.state.x, self.state.v), self.state.touch, self.h,
                           self.system.carried, self.pins, self._gravity)

    def _on_faces(self) -> FaceContacts | None:
        """Return where vertices are on faces of solids."""
        own, found, count = self._trial, self._expected, len(self.state.x)
        if own is None or found is None:
            return None
        some = np.ones(count, dtype=np.bool_) if own.pinched is None else ~own.pinched
        if own.history.stuck:
            around = self._around(own)
            if around.passing is not None:
                found = self._without(found, around.passing)
            some &= ~around.left
            if len(around.within):                                   # somebody is in one, now that it was looked at
                kept = own.kept_inside(around, found)
                around.let_in(kept)
                some &= ~kept.any(axis=0)
        return FaceContacts.of(found, some, self.system.thickness, self.pins, self.h)

    def _without_velocity(self) -> FloatArray:
        """Return where a step without velocity ends (V, 3) [m]: x0, what is too close moved out, and the change d of
        the paths of what slides."""
        x, faces, before = self.state.x, self.faces, self._before
        if faces is None:
            return x
        if faces.alteration is not None:
            x = x + faces.alteration
        if before is not None:
            rows, start = expected(faces.found, self.state.touch), (self.state.x, self.state.v, self._gravity)
            d = changes(faces.found, rows, self.state.touch.mode, before, start, self.h)
            x = x + self.pins.project(d)
        return x

    def _of_pairs(self) -> SelfContactStep | None:
        own = self._trial
        if own is None or not (self.settings.self_collision or self._surfaces is not None):
            return None
        fall = self.h * self._gravity
        u = self.state.v + self.pins.z + self.pins.project(fall - self.pins.z)
        return own.begin(self.state.x, self.state.v, u, self.base, self.h, self.pins,
                         own.motion(self._surfaces), itself=self.settings.self_collision,
                         constrained=self.constraints is not None, end=self.state.time + self.h,
                         inertia=lambda: self._inertia, faces=self.faces if self.by_springs else None)

    @cached_property
    def _inertia(self) -> FloatArray:
        """Return how vertices resist to be moved in the step (V,) [kg], by their mass and the stiffness of edges."""
        stiffness, edges = self.system.edge_stiffness(self.state.time + self.h), self.system.edges
        at_ends = np.bincount(edges.ravel(), np.repeat(stiffness, 2), len(self.state.x))
        return self.system.mass + self.h**2 / 3.0 * at_ends

    # ------------------------------------------------------------------ where velocities lead

    def pins_from(self, reference: FloatArray) -> ConstraintFilter:
        """The pins' filter with z counted from velocity `reference` (V, 3) [m/s] instead of v0."""
        if reference is self.state.v:
            return self.pins
        away = self.state.v - reference
        return self.pins.shifted(away - self.pins.project(away))

    def allowed(self, u: FloatArray) -> FloatArray:
        """Velocities u (V, 3) [m/s] with what pins and contacts prescribe, as known before the first solve."""
        filter_ = self.pins_from(u)
        if self.constraints is not None:
            filter_ = self.constraints.constrain(filter_, u)
        u = u + filter_.z
        return u if self.pairs is None else self.pairs.carried(u)

    def reached(self, u: FloatArray) -> FloatArray:
        """Where a step of velocities u (V, 3) [m/s] ends (V, 3) [m], what is held exactly there."""
        x = self.base + self.h * u
        held, at = self.system.end_positions(self.state, self.h)
        x[held] = at                                                 # not to rounding
        return x

    @cached_property
    def start_lengths(self) -> FloatArray:
        """Lengths of the edges at the start of the step (E,) [m]."""
        return self.system.edge_lengths(self.state.x)

    def growth(self, u: FloatArray) -> FloatArray:
        """Return the stretch (E,) [-] that the step adds to each edge at velocities u (V, 3) [m/s]."""
        grown: FloatArray = current().strain.growth(
            self.base + self.h * u, self.system.edges, self.start_lengths, self.system.rest_lengths)
        return grown

    def apart_from_pinched(self, values: FloatArray) -> FloatArray:
        """Return values (E,) of edges with 0 at edges of pinched vertices, which no shorter step would better."""
        if self.pinch is None:
            return values
        return np.where(any_of(self.pinch.pinched[self.system.edges]), 0.0, values)

    @property
    def moving(self) -> Sequence[MovingSurface]:
        """Return the colliders in this step."""
        return [] if self._surfaces is None else self._surfaces.moving

    @property
    def driven(self) -> bool:
        """Return whether pins, or colliders in contact, move the cloth in this step."""
        held, at = self.system.end_positions(self.state, self.h)
        if (at != self.state.x[held]).any():
            return True
        return any(surface.x_t0 is not surface.x_t1 for surface in self.moving) and not self.touch_nothing

    def _without(self, found: Touching, passing: BoolArray) -> Touching:
        """Return contacts without those of colliders that go back through cloth with the cloth at their contours:
        vertices that are `passing` (V + W,)."""
        count = len(self.state.x)
        apart, first = ~passing[found.contacts.vertex], count
        for number, surface in enumerate(self.moving):
            some = np.flatnonzero(found.contacts.collider == number)
            corners = surface.shape.triangles[found.contacts.triangle[some]]
            apart[some] |= ~any_of(passing[first + corners])
            first += len(surface.x_t1)
        return found if apart.all() else found[np.flatnonzero(apart)]

    # ------------------------------------------------------------------ what they do

    @property
    def touch_nothing(self) -> bool:
        """Whether the solves found the cloth free of all contact."""
        return (self.constraints is None or len(self.constraints) == 0) and (
            self.pairs is None or self.pairs.touching == 0)

    @property
    def beside_solids(self) -> bool:
        """Whether there are solids in the scene, with which contact is looked for."""
        return self._surfaces is not None

    @property
    def on_solids(self) -> bool:
        """Whether solids are expected to hold cloth."""
        if self.constraints is not None:
            return len(self.constraints) > 0
        return self.by_springs and self.pairs is not None and self.pairs.on_solids

    @property
    def cross(self) -> bool:
        """Whether cloth has begun to pass through cloth or a solid, which the cut at the end could not prevent."""
        return self.pairs is not None and self.pairs.crosses

    @property
    def press(self) -> bool:
        """Whether cloth presses on cloth, and may come to rest."""
        return self.pairs is not None and self.pairs.presses and self.settings.self_collision

    @property
    def piled(self) -> bool:
        """Whether some of that will come to rest in short steps alone."""
        if not self.press or self.pairs is None:
            return False
        on, held = self.pairs.on_surfaces
        if self.constraints is not None:
            at = np.flatnonzero(self.constraints.held)
            on, held = self.constraints.vertex[at], self.constraints.pressing[at]
        end = self.state.time + self.h
        piles = Piles(self.system.body, self.system.mass * self.system.gravity.factor(end),
                      self.system.scene.gravity_at(end))
        return piles.has(self.pairs.pressing, on, held)

    def springs(self, u: FloatArray) -> FloatArray:
        """Impulses (V, 3) [N s] of cloth pressing on cloth, and of pinched cloth, at velocities u (V, 3)."""
        pressing = np.zeros_like(u) if self.pairs is None else self.pairs.springs(u)
        return pressing if self.pinch is None else pressing + self.pinch.impulse(u)

    def energy(self, u: FloatArray) -> float:
        """Energy [J] of cloth pressing on cloth, and of pinched cloth, at velocities u (V, 3)."""
        pressing = 0.0 if self.pairs is None else self.pairs.energy(u)
        return pressing if self.pinch is None else pressing + self.pinch.energy(u)

    def touch(self, u: FloatArray) -> Touch:
        """How each particle touches at the end of the step, with velocities u (V, 3) [m/s]."""
        if self.constraints is not None:
            return self.constraints.touch()
        return self.pairs.touch(u) if self.by_springs and self.pairs is not None else Touch.none(len(u))
