# SPDX-License-Identifier: GPL-3.0-or-later
"""Implicit Euler: one linearisation (001), or Newton's method on the same equations.

    (M - h df/dv - h^2 df/dx) dv = h (f + h df/dx (v0 + y/h)) + z ,    x = x0 + h (v0 + dv) + y

Baraff and Witkin 1998, sections 3, 5 and 6. Written in the velocity at the end of the step, u = v0 + dv, this is one
Newton step for the minimum of the incremental potential

    phi(u) = 1/2 (u - v0)^T M (u - v0) + E(x0 + h u + y) + h/2 u^T D u - h push.u

from u = 0, where -df/dv = D is held at x0. Further Newton steps take the linearisation at the new u, shortened until
phi falls; they end when the residual is below the tolerance. Links that go slack (002) take some unless told otherwise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..kernels import current
from ..linear.block_matrix import BlockMatrix
from ..linear.constraint_filter import ConstraintFilter
from ..model.elastic_forces import ElasticForces
from ..model.particle_system import System
from ..model.velocity_forces import RateForce
from ..state import State
from . import step_strain
from .anderson import Anderson
from .contact_loop import ContactLoop, Solve
from .linearisation import Linearisation, Tangent
from .post_step import StepResult, ended
from .step_contacts import StepContacts
from .step_context import StepContext

OF_SLACK = 4
"""Linearisations of each step where there are links that go slack (002), unless told: which of them are taut is found
out bit by bit. With BDF2 and two of them a sheet on a ball is stretched by a third in motion, with four by a twentieth;
with implicit Euler and one of them a sheet that slides down a slope is taken a quarter of its way, because what its
links push and pull is friction's load."""
INEXACT = 1e-3
"""Tolerance of the linear solves inside a Newton iteration that goes on to a tighter one [-]."""
ARMIJO = 1e-4
"""Part of the promised decrease of phi that a shortened Newton step must deliver [-]."""
STALLED = 1e-2
"""Relative residual above which a line search that finds no decrease has failed the step [-]."""
LITTLE = 1.0
"""Energy that edges which grow may take, over that of the motion, up to which nobody asks what energy the step makes
[-]: where that was more than four times as much, it was more than once."""
QUICKER = 2.0
"""Energy of the motion at the end, over that at the start, above which one asks what contacts did, too [-]."""
ENDS = 1.0 / 16.0
"""Part of the energy of the motion at the end that counts beside that at the start [-]: what stands still may be hit,
but what the step itself flings about does not excuse it."""
NEAR_REST = 8.0 * float(np.finfo(float).eps)
"""Rounding of positions, which forces near rest are the small differences of [-]."""
ENOUGH = 0.05
"""Relative residual at which projective dynamics counts as converged where nobody asks for less [-]: sheets of cotton
and of 50 N/m that swing on two corners for a second are then, in the mean, within 0.7 % and 0.2 % of their side of
where Newton's method takes them."""
CLOSE = 0.1
"""Relative residual below which Newton's method tries the exact tangent [-]."""
ROUNDING = 1e-13
"""Relative size of what rounding leaves of a sum of forces or energies [-]."""
SHORTEST = 2.0 ** -30
"""Fraction of a Newton step below which the line search gives up [-]."""


def step(system: System, state: State, h: float, context: StepContext, expected: FloatArray | None = None, *,
         unhindered: bool = False, linearisation: Linearisation | None = None, spare: bool = False) -> StepResult:
    """Advance `state` by h [s].

    `context` holds the settings, and the colliders at the start and the end of this step. `expected` (V, 3)
    [m/s], velocities at the end of the step as well as they are known, are where the first linearisation is taken: if
    not given, at u = 0 as in 001. `unhindered`: no contact by pairs, the caller looks whether anything meets.
    `linearisation`: what stands for the stiffness, the tangent if not given; another one needs `expected`, and solves
    the equations as they are without it. `spare`: the step has not failed where linearisations after the first get
    nowhere; that one is as good as any.
    """
    untold = context.settings.newton_iterations is None and context.settings.linearisations == 1
    if untold and linearisation is None and system.may_go_slack:
        context, spare = context.with_linearisations(OF_SLACK), True
    linearisation = linearisation or Tangent(system, context.solves)
    return _NewtonStep(system, state, h, context, expected, unhindered, linearisation, spare).run()


class _NewtonStep:
    """The quantities of one step, named as in the module's equations."""

    def __init__(self, system: System, state: State, h: float, context: StepContext, expected: FloatArray | None,
                 unhindered: bool, linearisation: Linearisation, spare: bool) -> None:
        self.linearisation, self.spare = linearisation, spare
        self.system, self.state, self.h = system, state, h
        settings, watch = context.settings, context.watch
        self.settings, self.watch = settings, watch
        self.x0, self.v0, self.mass = state.x, state.v, system.mass[:, None]
        self.resisting: FloatArray | None = None                              # f(x, v) - f(x), where last asked for
        converge = settings.linearisations == "converge"
        self.linear_tolerance = max(settings.tolerance, INEXACT) if converge else settings.tolerance
        with watch.stage("forces"):
            self.elastic: ElasticForces = system.elastic(state.time + h)
            self.pins: ConstraintFilter = system.pins(state, h)
        self.contacts = StepContacts(system, state, h, context, self.pins, unhindered)
        self.loop = ContactLoop(self.contacts, self.elastic, self.linear_tolerance, linearisation)
        self.base = self.contacts.base                                                                 # x = base + h u
        self.acceleration = Anderson(system.mass, settings.projective_window)
        self.expected = None if expected is None else self.contacts.allowed(expected)
        with watch.stage("forces"):
            # half way, where the velocity of a turning motion is rigid and damping does not act on it
            x, u = (self.x0, self.v0) if self.expected is None or not linearisation.tangent else (
                0.5 * (self.x0 + self.base + h * self.expected), self.expected)
            self.rate: RateForce | None = system.rate_force(x, u, state.time + h)

    def run(self) -> StepResult:
        """Solve, and look how it ended."""
        found = self._first_solve() if self.expected is None else self._solve_near(self.expected)
        iterations = self.settings.linearisations
        converge = iterations == "converge"
        limit = self.settings.max_newton_iterations if iterations == "converge" else iterations
        residual, converged, scale = found.linear.residual, found.linear.converged and not converge, None
        failed, judged = False, converge or not self.linearisation.tangent      # by the equations, not the last solve
        goal = enough = self.settings.tolerance
        if judged and not converge:
            enough = max(goal, ENOUGH)
            goal = enough if self.settings.newton_iterations is None else goal
        for done in range(1, int(limit) + (judged and not converge)):
            if not np.isfinite(found.u).all():
                break
            with self.watch.stage("forces"):
                r, noise = self._residual(found)
                size = self._norm(found.project(r))
                scale = self._residual_scale(found.u) if scale is None else scale
            residual = size / scale if scale > 0.0 else 0.0
            converged = residual <= goal or size <= noise
            if converged or done == limit:
                converged |= residual <= enough
                break
            better = self._newton_step(found, r, close=residual < CLOSE)
            if better is None:
                # in contact, whose friction has no potential, a constant matrix gets nowhere with a smaller step either
                failed |= residual > STALLED and not self.spare and (converge or self.linearisation.tangent)
                break
            found = better
            if not judged:
                residual, converged = found.linear.residual, found.linear.converged
        result = ended(self.loop, found.u, residual, converged, failed or found.linear.reason == "indefinite",
                       self.linearised[0] if self.linearisation.tangent else None)
        if not (result.finite and self.linearisation.tangent):
            return result
        with self.watch.stage("forces"):
            return replace(result, made=self._made(found.u, result.state.x))

    # ------------------------------------------------------------------ the solves

    def _first_solve(self) -> Solve:
        """001's solve: linearise at x0, unknown dv from v0."""
        y = self.base - self.x0
        with self.watch.stage("forces"):
            self.force = f = self.elastic.force(self.x0)
            if self.rate:                                       # at x0 the velocity is -y/h
                self.resisting = self.rate.push + self.rate.product(y) / self.h if y.any() else self.rate.push
        with self.watch.stage("assembly"):
            A = self._matrix(self.x0)
            # b = h (f + h df/dx (v0 + y/h)), written by products with A = M + h D + h^2 K
            w = y + self.h * self.v0
            b = self.h * f - (A.multiply(w) - self.mass * w) / self.h
            if self.resisting is not None:
                b += self.h * self.resisting
        return self.loop.solve(A, b, self.v0, self._fall(), self.rate)

    def _solve_near(self, u: FloatArray) -> Solve:
        """Linearise at x = base + h u, unknown the change from u."""
        with self.watch.stage("forces"):
            r = self._impulse(u)
        with self.watch.stage("assembly"):
            A = self._matrix(self.base + self.h * u)
        return self.loop.solve(A, r, u, self.v0 - u + self._fall(), self.rate)

    def _newton_step(self, at: Solve, r: FloatArray, *, close: bool) -> Solve | None:
        """Linearise at x = base + h u, solve for the change of u, shorten it until phi falls; None if it does not."""
        found = None
        # quadratic convergence, where the exact matrix allows it
        if close and self.linearisation.tangent and self.contacts.constraints is None:
            found = self._linearised(at, r, exact=True)
        if found is None or found.linear.reason == "indefinite":
            found = self._linearised(at, r, exact=False)
        if found.contacts_changed:                          # other equations than before: phi cannot compare them
            self.acceleration.forget()
            return found
        with self.watch.stage("forces"):
            change = found.u - at.u
            start = self._potential(at.u, found.friction)
            promised = ARMIJO * min(-current().gradients.dot(r, change), 0.0)
            further = None if self.linearisation.tangent else self.acceleration.next(at.u, found.u)
            if further is not None and self._potential(further, found.friction) <= start + promised:
                return replace(found, u=further)
            fraction = 1.0
            while fraction >= SHORTEST:
                trial = at.u + fraction * change
                if self._potential(trial, found.friction) <= start + fraction * promised + ROUNDING * abs(start):
                    return replace(found, u=trial)
                fraction *= 0.5
        return None

    def _linearised(self, at: Solve, r: FloatArray, *, exact: bool) -> Solve:
        with self.watch.stage("assembly"):
            A = self._matrix(self.base + self.h * at.u, exact=exact)
        return self.loop.solve(A, r - self.h * at.friction - self.contacts.springs(at.u), at.u, None, self.rate)

    def _fall(self) -> FloatArray:
        """First guess of dv: what weight alone would do. Exact in free fall, where it saves the solve."""
        return np.tile(self.h * self.system.scene.gravity, (len(self.x0), 1))

    def _matrix(self, x: FloatArray, *, exact: bool = False) -> BlockMatrix:
        A = self.linearisation.matrix(self.elastic, x, self.h, self.rate, exact=exact)
        # at x too: right-hand sides are made before matrices
        self.linearised = x, A, self.force, self.resisting
        if self.settings.linearisations != 1 or not self.linearisation.tangent:  # what `_residual` asks for
            self.rigidity = A.diagonal_blocks().trace(axis1=1, axis2=2)         # (V,) [kg], h^2 times N/m
        return A

    def _made(self, u: FloatArray, end: FloatArray) -> float:
        """Energy that a step of velocities u (V, 3) [m/s] makes, because it takes forces for linear, and that what is
        put right at its `end` (V, 3) [m] makes or takes away again, over that of its motion [-].

        What pins, solids, wind and friction do in the step is what the solve took their impulses for, M (u - v0) - h f,
        with f the linear forces at x, where that leads. The energy 1/2 u.M u + E grows by their work and by

            made = E(end) - E(x0) + f . (x - x0) - 1/2 (u - v0) . M (u - v0)

        to which comes what contacts do beyond what moving solids do by them: all below zero for what is convex and
        solved to the end, but for a little along a curved surface. A sheet that turns at an edge by an angle it is
        stretched by the square of makes hundreds of times its motion, and is flung off by that a step later.
        """
        at, A, force, resisting = self.linearised
        x, gained, fall = self.contacts.reached(u), u - self.v0, self.h * self.system.scene.gravity
        motion = 0.5 * float(np.sum(self.mass * (self.v0 ** 2 + fall ** 2 + ENDS * u ** 2)))
        solids = self.contacts.constraints
        flung = solids is not None and len(solids) > 0 and 0.5 * float(np.sum(self.mass * u ** 2)) > QUICKER * motion
        grown = self.system.growth(self.x0, end) * self.system.rest_lengths
        if not flung and step_strain.energy(grown, self.system.edge_stiffness) <= LITTLE * motion:
            return 0.0
        w = (x - at) / self.h
        f = force - (A.multiply(w) - self.mass * w) / self.h
        made = self.elastic.energy(end) - self.elastic.energy(self.x0)
        made += current().gradients.dot(f, x - self.x0) - 0.5 * float(np.sum(self.mass * gained ** 2))
        if solids is not None:
            if resisting is not None:                       # of which A has what changes
                f = f + resisting
            made += solids.work(self.mass * gained - self.h * f, u)
        return made / motion if made > 0.0 else 0.0

    # ------------------------------------------------------------------ the nonlinear equations

    def _impulse(self, u: FloatArray) -> FloatArray:
        """-d phi/du (V, 3) [N s]: all but friction."""
        self.force = f = self.elastic.force(self.base + self.h * u)
        if self.rate:
            self.resisting = self.rate.push - self.rate.product(u)
            f = f + self.resisting
        impulse: FloatArray = self.mass * (self.v0 - u) + self.h * f
        return impulse

    def _residual(self, at: Solve) -> tuple[FloatArray, float]:
        """-d phi/du plus friction, as impulses (V, 3) [N s], and the size below which it is rounding."""
        x = self.base + self.h * at.u
        r = self._impulse(at.u) + self.h * at.friction + self.contacts.springs(at.u)
        noise = ROUNDING * self._norm(np.abs(self.mass * self.v0) + self.h * self.elastic.magnitude(x))
        noise += NEAR_REST * self._norm(self.rigidity[:, None] * x) / self.h
        return r, noise

    def _residual_scale(self, u: FloatArray) -> float:
        """Impulse of everything that drives the step, the measure of the tolerance.

        What the step delivers, m (u - v0), counts too: without weight, and from a rest shape, it is all there is.
        """
        drive = self.h * self.elastic.force(self.x0)
        if self.rate:
            drive += self.h * self.rate.push
        change = max(self._norm(self.pins.project(drive)), self._norm(self.pins.project(self.mass * (u - self.v0))))
        return max(change, self.h * self._norm(self.mass * self.system.scene.gravity))

    def _potential(self, u: FloatArray, friction: FloatArray) -> float:
        away, dot = u - self.v0, current().gradients.dot
        phi = 0.5 * float(np.sum(self.mass * away * away)) + self.elastic.energy(self.base + self.h * u)
        phi += self.contacts.energy(u) - self.h * dot(friction, u)
        if self.rate:
            phi += self.h * (0.5 * dot(u, self.rate.product(u)) - dot(self.rate.push, u))
        return phi

    def _norm(self, impulse: FloatArray) -> float:
        return float(np.sqrt(np.sum(impulse * impulse / self.mass)))
