# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear solve of a step, again and again while the contacts that it found change.

A pass solves for the velocities with the contacts as they are taken to be, looks at the constraint forces and at where
the cloth went, and corrects what it took for granted. Where hundreds touch there are always some that change, by which
the motion hardly does: these are left to the next step, which starts from what was found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..contact.bounds import Bounds
from ..contact.contact_step import SelfContactStep
from ..contact.response import ContactResponse
from ..contact.surfaces import SurfaceSet, Touching
from ..elastic import ElasticForces
from ..linear.block_matrix import BlockMatrix
from ..linear.constraint_filter import ConstraintFilter
from ..linear.modified_pcg import LinearResult, Operator, modified_pcg
from ..rate import RateForce
from ..state import State, Touch
from ..stopwatch import Stopwatch
from ..strain_limit import CLOSE
from ..system import System
from .linearisation import Linearisation
from .translations import Translations

if TYPE_CHECKING:
    from ..solver import Solver

PASSES = 6
"""Solves per linearisation while contacts come, go, stick or slip."""
TOUCHING = 1e-3
"""Tolerance of the solves with contacts or seams, where a looser one is asked for [-]: contact forces are read from
them, and a seam is so stiff that what a looser one leaves tears it open."""
NEARER = 0.1
"""How many times smaller the error of the forces as they are must be to take them, not the linearised ones [-]."""
MANY = 128
"""Contacts above which two passes have to do."""
SLIDING = 512
"""Pairs of cloth on cloth above which errors of their friction are taken to make up for each other."""
RUBS = 3
"""Solves after which friction of cloth on cloth may be wrong on the whole; the next step starts from what was found."""
DEEP = 0.5
"""Part of the thickness up to which many contacts in a quick motion may be missed in a step [-]: put back by as much,
an edge of five thicknesses is stretched by half a hundredth."""
GOOD = 0.1
"""Part of the residual that a first guess may leave where the preconditioner is direct [-]: a worse one saves nothing,
and costs as much as an iteration."""
REST = 0.02
"""Change of the velocities in a step, over that which weight gives, above which the motion is a quick one [-]."""
TEARS = 0.2
"""Growth of an edge in a quick step, over its rest length, above which the contacts are looked at again [-]."""
LIMITED = 8
"""Times that cloth is brought back to its length where solids are in the way of that."""
LONGER = 4e-3
"""Elongation above the largest one for which a step is done again in two [-]."""
GETS_SHORTER = 0.9
"""Part of what was too long before that may be left when it is brought back once more, or it is given up [-]."""
CALM = 0.1
"""Change of the velocities from pass to pass below which contacts that still change are left to the next step, over the
velocity that weight gives in a step [-]."""


@dataclass(frozen=True)
class Solve:
    """Velocities u (V, 3) at the end of the step, and what they are the solution of."""

    u: FloatArray
    linear: LinearResult
    friction: FloatArray
    project: Operator
    contacts_changed: bool


class ContactLoop:
    """The contacts of one step and the solves with them.

    Args:
        system, state, h, settings, surfaces, watch: as of the step.
        elastic, pins: its forces and its filter without contacts.
        tolerance: of the linear solves [-].
        linearisation: what preconditions them.
        unhindered: no pairs are looked for, somebody else sees to it.
    """

    def __init__(self, system: System, state: State, h: float, settings: Solver, surfaces: SurfaceSet | None,
                 watch: Stopwatch, elastic: ElasticForces, pins: ConstraintFilter,
                 tolerance: float, linearisation: Linearisation, unhindered: bool = False) -> None:
        self._linearisation = linearisation
        self._system, self._state, self._h, self._settings = system, state, h, settings
        self._surfaces, self._watch, self._elastic = surfaces, watch, elastic
        self._pins, self._tolerance = pins, tolerance
        self._mass = system.mass[:, None]
        with watch.stage("contact"):
            self._squeezed: BoolArray | None = None
            self.contacts = None if self._by_springs(unhindered) else self._predict(unhindered)
            self.own = None if unhindered else self._predict_own()
        self.iterations = 0
        self._rough = False
        self._found: tuple[FloatArray, Touching] | None = None     # contacts of the way to where a solution ends

    # ------------------------------------------------------------------ before and after the solves

    def _by_springs(self, unhindered: bool) -> bool:
        """Whether pairs alone keep cloth off solids: not while it is in one, and vertices have to be put out."""
        own = self._system.self_contact
        if own is None or self._settings.solid_contact != "springs" or not own.whole:
            return False
        if not unhindered:
            x0, v0 = self._state.x, self._state.v
            own.look(x0, own.ahead(x0, v0, self._h), own.motion(self._surfaces), itself=self._settings.self_collision)
        return not own.stuck

    def _predict(self, unhindered: bool) -> ContactResponse | None:
        if self._surfaces is None:
            return None
        x0, v0 = self._state.x, self._state.v
        contacts = ContactResponse(x0, v0, self._state.touch, self._h, self._system.thickness, self._system.carried,
                                   self._pins, self._system.scene.gravity, 2.0 * min(self._tolerance, TOUCHING))
        found, own = self._surfaces.find(x0, x0 + self._h * v0), self._system.self_contact
        if not unhindered and own is not None and own.whole and not own.stuck:
            # in a gap that is too narrow constraints lock, and into one they let nothing be pulled; springs give way
            between = found.between(len(x0))
            if between.any():
                self._squeezed = between
                contacts.leave(between)
        contacts.predict(found)
        return contacts

    def _predict_own(self) -> SelfContactStep | None:
        own = self._system.self_contact
        if own is None or not (self._settings.self_collision or self._surfaces is not None):
            return None
        fall = np.tile(self._h * self._system.scene.gravity, (len(self._mass), 1))
        u = self._state.v + self._pins.z + self._pins.project(fall - self._pins.z)
        return own.begin(self._state.x, self._state.v, u, self.base, self._h, self._pins,
                         own.motion(self._surfaces), itself=self._settings.self_collision,
                         constrained=self.contacts is not None, but=self._squeezed)

    @property
    def base(self) -> FloatArray:
        """Where a step without velocity ends (V, 3) [m]: x0 and the position alteration y."""
        return self._state.x if self.contacts is None else self._state.x + self.contacts.alteration

    def allowed(self, u: FloatArray) -> FloatArray:
        """Velocities u (V, 3) [m/s] with what pins and contacts prescribe, as known before the first solve."""
        filter_ = self._pins_from(u)
        if self.contacts is not None:
            filter_ = self.contacts.constrain(filter_, u)
        return u + filter_.z

    def reached(self, u: FloatArray) -> FloatArray:
        """Where a step of velocities u (V, 3) [m/s] ends (V, 3) [m], what is held exactly there."""
        x = self.base + self._h * u
        held, at = self._system.held_positions(self._state.time + self._h)
        x[held] = at                                                 # not to rounding
        return x

    def limited(self, x: FloatArray) -> FloatArray:
        """x (V, 3) [m] with what is longer than it may be brought back, and out of solids; what is held stays."""
        limit = self._system.strain_limit
        if limit is None or limit.excess(x) <= CLOSE:
            return x
        apart, before = Bounds.none(), np.inf
        for _ in range(LIMITED):
            with self._watch.stage("contact"):
                near = apart if self.contacts is None else apart.joined(self.contacts.bounds(self._find(x), x))
            with self._watch.stage("strain limit"):
                shorter = limit.relaxed(x, self._pins.rows, near)
            if shorter is x:
                break
            x = self.move_out(shorter)
            excess = limit.excess(shorter)
            if excess > LONGER and excess > GETS_SHORTER * before:        # pins and solids ask for more than there is
                break
            before = excess
            if self.own is not None:
                with self._watch.stage("contact"):
                    apart = apart.joined(self.own.bounds(x))
        return x

    def move_out(self, x: FloatArray) -> FloatArray:
        """x (V, 3) [m] with what the solves left beyond a surface put back onto it."""
        if self.contacts is None:
            return x
        with self._watch.stage("contact"):
            return self.contacts.move_out(self._find(x), x)

    def _find(self, x: FloatArray) -> Touching:
        """Contacts of the way to x (V, 3) [m]."""
        assert self._surfaces is not None
        if self._found is None or not np.array_equal(self._found[0], x):
            self._found = x.copy(), self._surfaces.find(self._state.x, x)
        return self._found[1]

    def truncate(self, x: FloatArray, u: FloatArray) -> FloatArray:
        """x (V, 3) [m] reached with velocities u (V, 3), cut where cloth would pass through cloth."""
        if self.own is None:
            return x
        with self._watch.stage("contact"):
            self.own.remember(u, calm=not self._rough)
            held = self._pins if self.contacts is None else self.contacts.constrain(self._pins, u)
            cut = self.own.truncate(x, held)
        for _ in range(LIMITED):                               # what the cut made too long again
            limited = cut if cut is x else self.limited(cut)
            if limited is cut:
                break
            with self._watch.stage("contact"):
                x, cut = limited, self.own.truncate(limited, held)
        return cut

    def is_overlong(self, x: FloatArray) -> bool:
        """Whether an edge at x (V, 3) [m] is longer than it may be, which `limited` could not prevent."""
        limit = self._system.strain_limit
        return limit is not None and limit.excess(x) > LONGER

    @property
    def crosses(self) -> bool:
        """Whether cloth has begun to pass through cloth, which `truncate` could not prevent."""
        return self.own is not None and self.own.crosses

    @property
    def presses(self) -> bool:
        """Whether cloth presses on cloth, and may come to rest."""
        return self.own is not None and self.own.presses and self._settings.self_collision

    @property
    def touches_nothing(self) -> bool:
        """Whether the solves found the cloth free of all contact."""
        return (self.contacts is None or len(self.contacts) == 0) and (self.own is None or self.own.touching == 0)

    def springs(self, u: FloatArray) -> FloatArray:
        """Impulses (V, 3) [N s] of cloth pressing on cloth at velocities u (V, 3)."""
        return np.zeros_like(u) if self.own is None else self.own.springs(u)

    def energy(self, u: FloatArray) -> float:
        """Energy [J] of cloth pressing on cloth at velocities u (V, 3)."""
        return 0.0 if self.own is None else self.own.energy(u)

    def touch(self) -> Touch:
        """How each particle touches at the end of the step."""
        return self._state.touch if self.contacts is None else self.contacts.touch()

    # ------------------------------------------------------------------ the solves

    def solve(self, A: BlockMatrix, b: FloatArray, reference: FloatArray, start: FloatArray | None,
              rate: RateForce | None) -> Solve:
        """Solve A w = b + h friction for u = reference + w; A takes in friction's drag, and keeps it."""
        pins, contacts, changed = self._pins_from(reference), self.contacts, False
        own, heavy = self.own, Translations(self._system.body, A.multiply)
        added = np.zeros((0, 3, 3))
        drag = np.zeros((0, 3, 3))
        scale, last = None, reference
        for attempt in range(PASSES):
            filter_, rhs = pins, b
            if contacts is not None:
                with self._watch.stage("contact"):
                    filter_ = contacts.constrain(pins, reference)
                    rhs = b + self._h * contacts.friction_force(reference)
                    drag = self._exchange_drag(A, drag)
            touching = own is not None and own.touching > 0 or contacts is not None and len(contacts) > 0
            tolerance = min(self._tolerance, TOUCHING) if touching or self._system.sewn else self._tolerance
            multiply: Operator = A.multiply
            if own is not None and (own.touching or len(added)):
                with self._watch.stage("contact"):
                    rhs = rhs + own.impulse(reference)
                    before, added = added, own.diagonal()
                    A.add_diagonal(added - before if len(before) else added)
                    multiply = own.beside(A.multiply)
                    heavy = Translations(own.bodies(), multiply)
            with self._watch.stage("preconditioner"):
                precondition = self._linearisation.preconditioner(self._h, A, filter_, tolerance)
            with self._watch.stage("solve"):
                if start is not None and attempt == 0:
                    start = heavy.balanced(rhs, start, filter_)
                linear = modified_pcg(multiply, rhs, precondition=precondition, project=filter_.project, z=filter_.z,
                                      start=start, tolerance=tolerance, scale=scale,
                                      good=GOOD if self._linearisation.direct else 1.0,
                                      max_iterations=self._settings.max_linear_iterations)
                linear = replace(linear, solution=heavy.balanced(rhs, linear.solution, filter_))
            self.iterations += linear.iterations
            self._linearisation.learn(linear.iterations)
            u = reference + linear.solution
            friction, again = np.zeros_like(b), False
            if not np.isfinite(u).all():
                break
            self._rough = self._is_rough(u)
            with self._watch.stage("contact"):
                if contacts is not None:
                    friction = contacts.friction_force(u)
                    impulse = multiply(linear.solution) - rhs
                    again = self._change(self._holding(impulse / self._h, u, friction, filter_, rate), u)
                enough = attempt > 0 and self._is_enough(u - last)
                if own is not None:
                    if self._rough and (enough or not again):           # what it takes in nobody would solve for
                        own.release(u, filter_)
                    else:
                        again |= own.judge(u, filter_) and not self._rough
                        if attempt < RUBS and own.touching <= SLIDING and not own.rubs_right:
                            again, enough = True, False
                    friction = friction + own.drags(u) / self._h
            if enough or not again:
                with self._watch.stage("contact"):
                    if own is None or self._rough or not own.judge_solids(u):
                        break
            last = u
            start, changed = linear.solution, attempt < PASSES - 1
            scale = linear.scale or None
        return Solve(u, linear, friction, filter_.project, changed)

    def _exchange_drag(self, A: BlockMatrix, before: FloatArray) -> FloatArray:
        """Friction's drag blocks (V, 3, 3) [kg/s] of this pass in the place of those `before`."""
        assert self.contacts is not None
        drag = self.contacts.drag_blocks()
        if not len(before):
            A.add_diagonal(self._h * drag)
        elif (drag != before).any():
            A.add_diagonal(self._h * (drag - before))
        return drag

    def _holding(self, force: FloatArray, u: FloatArray, friction: FloatArray, filter_: ConstraintFilter,
                 rate: RateForce | None) -> FloatArray:
        """What contacts do to the cloth: the linearised constraint `force` (V, 3) [N], or by the forces as they are.

        The linearised one takes a sheet that a turning solid carries along for one that is strained by
        (omega h)^2 / 2, and friction would refuse to hold it. The forces as they are have an error too, what they leave
        to do on vertices that are free. For a sheet that stiff folds run through it is much the larger one.
        Damping is taken half way, where the velocity of a turning motion is rigid.
        """
        assert self.contacts is not None
        if not self.contacts.carried.any():
            return force
        x0, x = self._state.x, self.base + self._h * u
        actual = self._mass * (u - self._state.v) / self._h - self._elastic.force(x) - friction
        if self.own is not None:
            actual -= self.own.impulse(u) / self._h
        if rate:
            actual += rate.product(u) - rate.push
            actual += self._system.damping_force(rate.x, u) - self._system.damping_force(0.5 * (x0 + x), u)
        left = filter_.project(actual)
        better = np.sum(left * left) < NEARER ** 2 * np.sum((actual - left - force) ** 2)
        return actual if better else force

    def _change(self, force: FloatArray, u: FloatArray) -> bool:
        """Correct contacts by the constraint force (V, 3) [N] and by where the cloth went; True to solve again."""
        assert self.contacts is not None
        # of many in a quick motion half may pull or rub in a wrong direction, and another pass hardly betters that,
        # unless one of them tears at its neighbours
        changed = self.contacts.judge(u, force) and not (self._rough and self._stretch(u) <= TEARS)
        return self.contacts.add(self._find(self.reached(u)), changed, DEEP if self._rough else 0.0) or changed

    def _is_enough(self, change: FloatArray) -> bool:
        """Whether contacts that still change may be left to the next step, when the last pass made this `change` of the
        velocities (V, 3) [m/s].

        In a quick motion some always change, and the next step starts from what was found. But a slide that spreads
        from vertex to vertex over a sheet at rest is followed, however slowly it begins.
        """
        small = self._is_small(change, CALM)
        if self.contacts is None or len(self.contacts) == 0:
            return small
        return len(self.contacts) > MANY and not (small and self.contacts.friction.spreads)

    def _is_rough(self, u: FloatArray) -> bool:
        """Whether the motion to velocities u (V, 3) [m/s] is a quick one in which many touch solids, and fewer cloth: a
        pile would never come to rest."""
        touching = 0 if self.contacts is None else len(self.contacts)
        pressed = 0 if self.own is None else self.own.touching
        return touching > max(MANY, pressed) and not self._is_small(u - self._state.v, REST)

    def _stretch(self, u: FloatArray) -> float:
        """Largest growth of an edge in the step at velocities u (V, 3) [m/s], over its rest length [-]."""
        grown = self._system.edge_lengths(self.base + self._h * u) - self._system.edge_lengths(self._state.x)
        return float(np.max(grown / self._system.rest_lengths, initial=0.0))

    def _is_small(self, change: FloatArray, part: float) -> bool:
        """Whether a change of the velocities (V, 3) [m/s] is below this part of what weight makes of them in a step."""
        weight = self._h * self._system.scene.gravity
        return bool(np.sum(self._mass * change ** 2) < part ** 2 * np.sum(self._mass * weight ** 2))

    def _pins_from(self, reference: FloatArray) -> ConstraintFilter:
        """The pins' filter with z counted from velocity `reference` instead of v0."""
        if reference is self._state.v:
            return self._pins
        pins = self._pins.copy()
        away = self._state.v - reference
        pins.z += away - pins.project(away)
        return pins
