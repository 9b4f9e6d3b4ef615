# SPDX-License-Identifier: GPL-3.0-or-later
"""The linear solve of a step, again and again while the contacts that it found change.

A pass solves for the velocities with the contacts as they are taken to be, looks at the constraint forces and at where
the cloth went, and corrects what it took for granted. Where hundreds touch there are always some that change, by which
the motion hardly does: these are left to the next step, which starts from what was found. So are contacts that come and
go without any effect: where the solution of the pass before solves the corrected system as well, it stands.

Contact takes energy from cloth that nothing moves. Where its impulse does more work than a solution gains, the passes
do not converge, each is as good a guess as the last, and the one with the least motion is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import SINGLE_PRECISION, FloatArray
from ..linear.block_matrix import BlockMatrix
from ..linear.modified_pcg import LinearResult, Operator, modified_pcg
from .linearisation import Linearisation
from .pass_equations import PassEquations
from .step_contacts import CONTACT_TOLERANCE, StepContacts
from .trial_bounds import TrialBounds

PASSES = 6
"""Solves per linearisation while contacts come, go, stick or slip."""
LEAST_PASSES = 2
"""Solves of a step out of effort: what meets on the way of the first one is held in the second. Left to the cut of the
motion, it would become velocity, step after step (docs/decisions/0066)."""
GOOD = 0.1
"""Part of the residual that a first guess may leave where the preconditioner is direct [-]: a worse one saves nothing,
and costs as much as an iteration."""
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
        tolerance: of the linear solves [-].
        linearisation: what preconditions them.
        final: whether the step is accepted whatever its result.

    Attributes:
        hopeless: whether the last solution was so far off that nothing was searched on its way.
        iterations: of conjugate gradients so far. settled: whether the last solution asks for no other contacts than
            it was solved with.
    """

    def __init__(self, contacts: StepContacts, tolerance: float, linearisation: Linearisation, *, final: bool = False
                 ) -> None:
        self._bounds, self.hopeless = TrialBounds(contacts, final=final), False
        self.contacts = contacts
        self._tolerance, self._linearisation = tolerance, linearisation
        self._system, self._state, self._h, self._watch = contacts.system, contacts.state, contacts.h, contacts.watch
        self._constraints, self._pairs = contacts.constraints, contacts.pairs
        self._mass = self._system.masses
        self.iterations, self._effort = 0, contacts.effort
        self.settled = True

    def solve(self, A: BlockMatrix, b: FloatArray, reference: FloatArray, start: FloatArray | None, *,
              tentative: bool = False) -> Solve:
        """Solve A w = b + h friction for u = reference + w, with what contacts add to A.

        tentative: another matrix follows if conjugate gradients find A indefinite: what they have come to then is no
        solution, by which nothing is judged.
        """
        equations = PassEquations(self.contacts, A, b, reference)
        scale, last, changed, self.hopeless = None, reference, False, False
        friction: FloatArray | None = None
        driven_passes = 0
        tried: list[tuple[FloatArray, LinearResult]] = []
        for attempt in range(PASSES + 1):
            with self._watch.stage("contact"):
                equations.take_in()
            linear = self._solved(equations, start, scale, tentative)
            u, friction = reference + linear.solution, None
            if not np.isfinite(u).all() or tentative and linear.reason == "indefinite":
                break
            if self._bounds.hopeless(u):
                if not self._bounds.final:
                    self.hopeless = True
                    break
                u = self._bounds.shortened(u)
            final = self._effort.out and attempt >= LEAST_PASSES - 1 or attempt >= PASSES - 1
            with self._watch.stage("contact"):
                driven = self._is_driven(u)
            driven_passes += driven
            if driven and (final or driven_passes > 1):              # the first one may lead to sticking
                assert self._pairs is not None
                self._pairs.only_brake(u)
                continue
            with self._watch.stage("contact"):
                friction, stands = self._judged(equations, linear, u, last, attempt)
            if attempt > 0 and linear.iterations == 0:               # a further pass would correct the same again
                self.settled = stands = True
            tried.append((u, linear))
            if stands and not driven or final:
                break
            start, scale, last = linear.solution, linear.scale or None, u
            changed = attempt < PASSES - 1
        with self._watch.stage("contact"):
            equations.take_out()
            if tried and not self.hopeless and self._leaps(u):
                pushed = float(np.vdot(equations.filter_.project(A.multiply(u - reference) - b), u))      # [J]
                calmest, solved = min(tried, key=lambda one: self._gained(one[0]))
                if pushed > self._gained(u) > self._gained(calmest):
                    u, linear, (friction, _) = calmest, solved, self._judged(equations, solved, calmest, calmest, 0)
            if friction is None:
                friction = np.zeros_like(b)
            elif self._pairs is not None:
                friction = friction + self._pairs.drags(u) / self._h
        return Solve(u, linear, friction, equations.filter_.project, changed)

    def bounded(self, u: FloatArray) -> FloatArray:
        """Return velocities u (V, 3) [m/s] that no line search is going to judge, within the bounds of a trial; they
        are hopeless if they are beyond and another step can be taken."""
        if not self._bounds.is_far(u):
            return u
        self.hopeless |= not self._bounds.final
        return self._bounds.shortened(u) if self._bounds.final else u

    def _solved(self, equations: PassEquations, start: FloatArray | None, scale: float | None, tentative: bool
                ) -> LinearResult:
        """The solution of a pass, from a first guess; `scale` is of the pass whose solution that is."""
        tight = equations.touching or self._system.has_seams
        tolerance = min(self._tolerance, CONTACT_TOLERANCE) if tight else self._tolerance
        rhs, filter_, balanced = equations.rhs, equations.filter_, equations.rigid.balanced
        linear = self._tried(equations, start, scale, tolerance, tolerance)
        if linear.reason == "indefinite" and tolerance >= SINGLE_PRECISION and np.isfinite(linear.residual) and (
                not tentative):
            # soft bending beside stiff stretch may be beyond a factor in single precision
            self._count(linear)
            linear = self._tried(equations, start, scale, tolerance, 0.0)
        with self._watch.stage("solve"):
            linear = replace(linear, solution=balanced(rhs, linear.solution, filter_))
        self._count(linear)
        self._linearisation.learn(linear.iterations, touching=equations.touching)
        return linear

    def _count(self, linear: LinearResult) -> None:
        self.iterations += linear.iterations
        self._effort.solve(linear.iterations)

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
                                max_iterations=self._effort.most_iterations(
                                    self.contacts.settings.max_linear_iterations))

    def _judged(self, equations: PassEquations, linear: LinearResult, u: FloatArray, last: FloatArray, attempt: int
                ) -> tuple[FloatArray, bool]:
        """Correct contacts by the solution of pass number `attempt`, velocities u, `last` (V, 3) [m/s] in the pass
        before; friction (V, 3) [N] of constraints, and whether the solution stands."""
        own, friction, again = self._pairs, np.zeros_like(u), False
        if self._constraints is not None:
            friction = self._constraints.friction_force()
            impulse = equations.multiply(linear.solution) - equations.rhs
            again = self._constraints.judge(u, impulse / self._h)
        moved = self._over_weight(u - last) if attempt > 0 else np.inf
        enough = moved < CALM
        self.settled = not again
        if own is None:
            return friction, enough or not again
        again |= own.judge(u, equations.filter_, last if attempt > 0 else None, self._fall)
        if not self._effort.out or attempt < LEAST_PASSES - 1:       # else no solve follows
            again |= own.join(u) > 0                                 # which takes them in, asked for or not
        self.settled = not again
        return friction, (enough or not again) and own.friction_settled

    def _is_driven(self, u: FloatArray) -> bool:
        """Return whether friction makes most of the motion of velocities u (V, 3) [m/s]: more energy than it gains,
        where it gains more than it had, with what weight gives.

        Friction has the normal forces of the pass before. Where these change from pass to pass by more than weight
        presses, as in a scrap so small that it is rigid beside its weight, friction flings what it should hold.
        """
        if self._pairs is None:
            return False
        gained = self._gained(u)
        return gained > self._energy_before and self._pairs.made_by_friction(u) > gained

    def _leaps(self, u: FloatArray) -> bool:
        """Return whether cloth in contact by pairs gains more energy than it had, at velocities u (V, 3) [m/s], though
        neither pins nor colliders move it."""
        by_pairs = self._pairs is not None and self._constraints is None
        return by_pairs and self._gained(u) > self._energy_before and not self.contacts.driven

    def _gained(self, u: FloatArray) -> float:
        """Return the kinetic energy of velocities u (V, 3) [m/s] beyond `_energy_before` [J]."""
        return 0.5 * float(np.sum(self._mass * u * u)) - self._energy_before

    @cached_property
    def _energy_before(self) -> float:
        """The kinetic energy at the start of the step, and that which weight gives what is at rest [J]."""
        return 0.5 * (float(np.sum(self._mass * self._state.v ** 2)) + self._by_weight)

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
        return float(np.sum(self._mass * self._fall ** 2))

    @cached_property
    def _fall(self) -> FloatArray:
        """Velocities (V, 3) [m/s] that weight gives in the step."""
        return self._h * self._system.gravity.at(self._state.time + self._h)
