# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear solve of a step, again and again while the contacts that it found change.

A pass solves for the velocities with the contacts as they are taken to be, looks at the constraint forces and at where
the cloth went, and corrects what it took for granted. Where hundreds touch there are always some that change, by which
the motion hardly does: these are left to the next step, which starts from what was found. So are contacts that come and
go without any effect: where the solution of the pass before solves the corrected system as well, it stands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import SINGLE_PRECISION, FloatArray
from ..contact.contact_step import SelfContactStep
from ..contact.response import SETTLED_FRICTION
from ..linear.block_matrix import BlockMatrix
from ..linear.constraint_filter import ConstraintFilter
from ..linear.modified_pcg import LinearResult, Operator, modified_pcg
from ..model.elastic_forces import ElasticForces
from ..model.velocity_forces import RateForce
from ..row_ops import length
from ..state import InVain
from .linearisation import Linearisation
from .pass_equations import PassEquations
from .second_solve import SecondSolve
from .step_contacts import CONTACT_TOLERANCE, StepContacts
from .trial_bounds import TrialBounds

PASSES = 6
"""Solves per linearisation while contacts come, go, stick or slip."""
NEARER = 0.1
"""How many times smaller the error of the forces as they are must be to take them, not the linearised ones [-]."""
MANY_CONTACTS = 128
"""Contacts above which two passes have to do."""
SLIDING = 512
"""Pairs of cloth on cloth above which errors of their friction are taken to make up for each other."""
MEETING = 4
"""Pairs of cloth on cloth that a quick motion may leave to the truncation: it parts a few across planes, but takes many
as one, and that tears at what is around them."""
FEW_MEETING = 0.02
"""The same as a part of all that press [-], where that is more; and of many pairs that have nearly come to rest."""
DEEP = 0.5
"""Part of the thickness up to which many contacts in a quick motion may be missed in a step [-]: put back by as much,
an edge of five thicknesses is stretched by half a hundredth."""
GOOD = 0.1
"""Part of the residual that a first guess may leave where the preconditioner is direct [-]: a worse one saves nothing,
and costs as much as an iteration."""
QUICK_MOTION = 0.02
"""Change of the velocities in a step, over that which weight gives, above which the motion is a quick one [-]."""
FAR_DRAGGED = 0.5
"""Mean slide of contacts in a step, over the least mean edge length of a cloth, above which all are settled [-]."""
TEARS = 0.2
"""Growth of an edge in a quick step, over its rest length, above which the contacts are looked at again [-]."""
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
    """The solves of one step.

    Args:
        contacts: what touches in it.
        elastic: its forces.
        tolerance: of the linear solves [-].
        linearisation: what preconditions them.
        final: whether the step is accepted whatever its result.

    Attributes:
        hopeless: whether a solution was so far off that nothing was searched on its way.
        iterations: of conjugate gradients so far. rough: whether the last solution is a quick motion in which many
            touch solids. settled: whether the last solution asks for no other contacts than it was solved with.
    """

    def __init__(self, contacts: StepContacts, elastic: ElasticForces, tolerance: float,
                 linearisation: Linearisation, *, final: bool = False) -> None:
        self._bounds, self.hopeless = TrialBounds(contacts, final=final), False
        self.contacts, self._elastic = contacts, elastic
        self._tolerance, self._linearisation = tolerance, linearisation
        self._system, self._state, self._h, self._watch = contacts.system, contacts.state, contacts.h, contacts.watch
        self._constraints, self._pairs = contacts.constraints, contacts.pairs
        self._mass = self._system.mass[:, None]
        self.iterations, self.solves = 0, 0
        self.rough, self.settled = False, True
        self._second = SecondSolve(contacts.state.in_vain)

    def solve(self, A: BlockMatrix, b: FloatArray, reference: FloatArray, start: FloatArray | None,
              rate: RateForce | None) -> Solve:
        """Solve A w = b + h friction for u = reference + w; A takes in what contacts add, and keeps it."""
        equations = PassEquations(self.contacts, A, b, reference)
        scale, last, changed = None, reference, False
        for attempt in range(PASSES):
            with self._watch.stage("contact"):
                equations.take_in()
            linear = self._solved(equations, start, scale)
            u = reference + linear.solution
            friction = np.zeros_like(b)
            if not np.isfinite(u).all():
                break
            if self._bounds.hopeless(u):
                if not self._bounds.final:
                    self.hopeless = True
                    break
                u = self._bounds.shortened(u)
            self.rough = self._is_rough(u)
            with self._watch.stage("contact"):
                friction, stands = self._judged(equations, linear, u, last, attempt, rate)
            if attempt > 0 and linear.iterations == 0:               # a further pass would correct the same again
                self.settled = stands = True
            if stands:
                break
            start, scale, last = linear.solution, linear.scale or None, u
            changed = attempt < PASSES - 1
        return Solve(u, linear, friction, equations.filter_.project, changed)

    @property
    def in_vain(self) -> InVain:
        """What the solves of this step tell the next."""
        return self._second.learned()

    def _solved(self, equations: PassEquations, start: FloatArray | None, scale: float | None) -> LinearResult:
        """The solution of a pass, from a first guess; `scale` is of the pass whose solution that is."""
        tight = equations.touching or self._system.has_seams
        tolerance = min(self._tolerance, CONTACT_TOLERANCE) if tight else self._tolerance
        rhs, filter_, balanced = equations.rhs, equations.filter_, equations.rigid.balanced
        linear = self._tried(equations, start, scale, tolerance, tolerance)
        if linear.reason == "indefinite" and tolerance >= SINGLE_PRECISION and np.isfinite(linear.residual):
            # soft bending beside stiff stretch may be beyond a factor in single precision
            self.iterations += linear.iterations
            linear = self._tried(equations, start, scale, tolerance, 0.0)
        with self._watch.stage("solve"):
            linear = replace(linear, solution=balanced(rhs, linear.solution, filter_))
        self.iterations, self.solves = self.iterations + linear.iterations, self.solves + 1
        self._linearisation.learn(linear.iterations, touching=equations.touching)
        return linear

    def _tried(self, equations: PassEquations, start: FloatArray | None, scale: float | None, tolerance: float,
               precision: float) -> LinearResult:
        """Return the solution of a pass to `tolerance`, with a preconditioner that is made for `precision` [-]."""
        rhs, filter_, balanced = equations.rhs, equations.filter_, equations.rigid.balanced
        with self._watch.stage("preconditioner"):
            precondition = self._linearisation.preconditioner(self._h, equations.matrix, filter_, precision)
        with self._watch.stage("solve"):
            if start is not None and scale is None:
                # a free fall is no guess for what touches, and a look at it is a product: none of 173 solves took it
                start = None if self._linearisation.direct and equations.touching else balanced(rhs, start, filter_)
            multiply = equations.multiply if self._linearisation.direct else equations.packed(tolerance)
            return modified_pcg(multiply, rhs, precondition=precondition, project=filter_.projection,
                                z=filter_.z, start=start, tolerance=tolerance, scale=scale,
                                good=GOOD if self._linearisation.direct else 1.0,
                                max_iterations=self.contacts.settings.max_linear_iterations)

    def _judged(self, equations: PassEquations, linear: LinearResult, u: FloatArray, last: FloatArray, attempt: int,
                rate: RateForce | None) -> tuple[FloatArray, bool]:
        """Correct contacts by the solution of pass number `attempt`, velocities u, `last` (V, 3) [m/s] in the pass
        before; friction (V, 3) [N], and whether the solution stands."""
        own, friction, again = self._pairs, np.zeros_like(u), False
        if self._constraints is not None:
            friction = self._constraints.friction_force(u)
            impulse = equations.multiply(linear.solution) - equations.rhs
            force = self._holding(impulse / self._h, u, friction, equations.filter_, rate)
            again = self._change(force, u, attempt)
        if attempt == 1:
            self._second.changed(self._over_weight(u - last), self._over_weight(u - self._state.v))
        enough = attempt > 0 and self._is_enough(u - last)
        self.settled = not again
        if own is None:
            return friction, enough or not again
        if self.rough and (enough or not again):
            own.judge(u, equations.filter_)
            stands = self._meet_few(own, u)
        else:
            changed = own.judge(u, equations.filter_)
            changed = self._second.for_pairs(attempt, changed, own.rubs_right, own.touching)
            meet = not self._meet_few(own, u)                          # which takes them in, asked for or not
            again |= (changed or meet) and not self.rough
            self.settled = not again
            stands = (enough or not again) and (own.touching > SLIDING or own.rubs_right)
        friction = friction + own.drags(u) / self._h
        return friction, stands and (self.rough or not own.judge_solids(u))

    def _meet_few(self, own: SelfContactStep, u: FloatArray) -> bool:
        """Whether no more of cloth would meet cloth at velocities u (V, 3) [m/s] than may be left to the truncation."""
        joined = own.join(u)
        if not self.rough and not (own.touching > MANY_CONTACTS and self._is_small(u - self._state.v, QUICK_MOTION)):
            return joined == 0
        return joined <= max(MEETING if self.rough else 0, FEW_MEETING * own.touching)

    def _holding(self, force: FloatArray, u: FloatArray, friction: FloatArray, filter_: ConstraintFilter,
                 rate: RateForce | None) -> FloatArray:
        """What contacts do to the cloth: the linearised constraint `force` (V, 3) [N], or by the forces as they are.

        The linearised one takes a sheet that a turning solid carries along for one that is strained by
        (omega h)^2 / 2, and friction would refuse to hold it. The forces as they are have an error too, what they leave
        to do on vertices that are free. For a sheet that stiff folds run through it is much the larger one.
        """
        assert self._constraints is not None
        if not self._constraints.carried.any():
            return force
        x = self.contacts.base + self._h * u
        actual = self._mass * (u - self._state.v) / self._h - self._elastic.force(x) - friction
        if self._pairs is not None:
            actual -= self._pairs.impulse(u) / self._h
        if rate:
            actual += rate.product(u) - rate.push
        left = filter_.project(actual)
        better = np.sum(left * left) < NEARER ** 2 * np.sum((actual - left - force) ** 2)
        return actual if better else force

    def _change(self, force: FloatArray, u: FloatArray, attempt: int) -> bool:
        """Correct contacts by the constraint force (V, 3) [N] and by where the cloth went, in solve number `attempt`;
        True to solve again."""
        assert self._constraints is not None
        # of many in a quick motion half may pull or rub in a wrong direction, and another pass hardly betters that,
        # unless one of them tears at its neighbours, or a piece of cloth gains speed by the sum of what is wrong
        solids = self._constraints
        pulls = solids.judge(u, force)
        changed = self._second.for_solids(attempt, solids.friction.wrong, solids.friction.spreads, len(solids)) or pulls
        if changed and self.rough and not solids.friction.overloaded and solids.friction.adrift <= SETTLED_FRICTION:
            changed = float(self.contacts.growth(u).max(initial=0.0)) > TEARS
        found = self.contacts.find(self.contacts.reached(u))
        return solids.add(found, changed, DEEP if self.rough else 0.0) or changed

    def _is_enough(self, change: FloatArray) -> bool:
        """Whether contacts that still change may be left to the next step, when the last pass made this `change` of the
        velocities (V, 3) [m/s].

        In a quick motion some always change, and the next step starts from what was found: three solves more of one in
        which a sheet slid down a ball left as much wrong. But a slide that spreads from vertex to vertex over a sheet
        at rest is followed, however slowly it begins. So is friction that holds more than it can where a solid moves:
        one that grows would stretch the cloth that lies on it, step after step.
        """
        small = self._is_small(change, CALM)
        if self._constraints is None or len(self._constraints) == 0:
            return small
        friction = self._constraints.friction
        if self.rough:
            return not (friction.overloaded and self._constraints.carried.any())
        return len(self._constraints) > MANY_CONTACTS and not (small and friction.spreads)

    def _is_rough(self, u: FloatArray) -> bool:
        """Whether the motion to velocities u (V, 3) [m/s] is a quick one in which many touch solids, and fewer cloth: a
        pile would never come to rest."""
        touching = 0 if self._constraints is None else len(self._constraints)
        pressed = 0 if self._pairs is None else self._pairs.touching
        return (touching > max(MANY_CONTACTS, pressed) and not self._is_small(u - self._state.v, QUICK_MOTION)
                and not self._is_dragged(u))

    def _is_dragged(self, u: FloatArray) -> bool:
        """Return whether pins or colliders drag the cloth over solids with velocities u (V, 3) [m/s] by `FAR_DRAGGED`
        or more.

        What contacts hold by mistake is then new in each step, and what drags pulls against it: it adds up.
        """
        solids, own = self._constraints, self._system.self_contact
        if solids is None or len(solids) == 0 or own is None or not self.contacts.driven:
            return False
        way = self._h * length(u[solids.vertex] - solids.carried)
        return float(way.mean()) > FAR_DRAGGED * own.finest

    def _is_small(self, change: FloatArray, part: float) -> bool:
        """Whether a change of the velocities (V, 3) [m/s] is below this part of what weight makes of them in a step."""
        return self._over_weight(change) < part

    def _over_weight(self, change: FloatArray) -> float:
        """How large a change of the velocities (V, 3) [m/s] is, over what weight makes of them in a step [-]."""
        made = self._by_weight
        if not made > 0.0:
            return np.inf
        energy = change * change
        energy *= self._mass
        return float(np.sqrt(np.sum(energy) / made))

    @cached_property
    def _by_weight(self) -> float:
        """Twice the energy that weight gives what is at rest in a step [J]."""
        return float(np.sum(self._mass * (self._h * self._system.gravity.at(self._state.time + self._h)) ** 2))
