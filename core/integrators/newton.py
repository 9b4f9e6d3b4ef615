# SPDX-License-Identifier: GPL-3.0-or-later
"""One implicit step by Newton's method, with contacts, a line search and an energy check.

With the velocity u at the end of the step, base = x0 + y and x = base + h u, it minimises the incremental potential

    phi(u) = 1/2 (u - v0)^T M (u - v0) + E(base + h u) + h/2 u^T D u - h push.u

`implicit_euler` has the derivation. One linearisation is the method of 001. Further ones are taken at the new u and
shortened until phi falls; they end when the residual is below the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..kernels import current
from ..linear.block_matrix import BlockMatrix
from ..model.elastic_forces import ElasticForces
from ..model.field_forces import Step
from ..model.particle_system import ParticleSystem
from ..model.turned_start import TurnedStart
from ..model.velocity_forces import RateForce
from ..row_ops import pick
from ..state import State
from . import step_strain
from .anderson import Anderson
from .contact_loop import ContactLoop, Solve
from .created_energy import SUM_ROUNDING, created_energy
from .line_search import descent
from .linearisation import Linearisation, Tangent
from .multistep_start import ROTATION_EXCESS
from .post_step import MAX_TURNED_OVERLENGTH, StepResult, ended
from .rigid_modes import in_flight
from .step_contacts import StepContacts
from .step_context import StepContext

INNER_TOLERANCE = 1e-3
"""Tightest tolerance of a linear solve inside Newton iterations that go on to a tighter one [-]."""
STALLED_RESIDUAL = 1e-2
"""Largest relative residual at which a line search without a decrease is no failure [-]."""
MAX_ENERGY_GAIN = 4.0
"""Largest energy that a step may create, over the energy of its motion, before it is halved [-]: a linear step creates
some that the next one takes away again, and more of it stretches cloth visibly or flings it off."""
TURNED_LINEARISATIONS = 3
"""Most linearisations of a step in free motion [-]."""
MISSED_ROTATION = 0.025
"""Root mean square of the angles by which rotations of a step were missed above which it is solved again [rad]."""
MOST_MISSED_ROTATION = 0.03
"""The same above which the step is taken in halves [rad]."""
PRESSURE_LINEARISATIONS = 4
"""Most linearisations of a step of cloth under pressure [-]: each costs as much as a step of half the size."""
POSITION_ROUNDING = 8.0 * float(np.finfo(float).eps)
"""Relative rounding of positions; forces near rest are small differences of them [-]."""
PROJECTIVE_RESIDUAL = 0.05
"""Relative residual at which projective dynamics counts as converged, unless the settings ask for less [-]: sheets then
end within 0.7 % of their side of Newton's solution."""
EXACT_TANGENT_RESIDUAL = 0.1
"""Relative residual below which Newton's method tries the exact tangent [-]."""
MOST_STEP_EFFORT = 200.0
"""Largest effort of contacts in a step with which Newton iterations go on [-]."""


class NewtonStep:
    """The quantities of one step, with the letters of the equations; arguments as of `implicit_euler.step`."""

    def __init__(self, system: ParticleSystem, state: State, h: float, context: StepContext,
                 expected: FloatArray | None, unhindered: bool, linearisation: Linearisation, spare: bool,
                 origin: State) -> None:
        self.linearisation, self.spare, self.unhindered, self.origin = linearisation, spare, unhindered, origin
        self.system, self.state, self.h = system, state, h
        settings, watch = context.settings, context.watch
        self.settings, self.watch, self.effort = settings, watch, context.effort
        self.shortened = context.shortened
        self._on_contact = self.effort.on_contact                                          # before this step
        self.missed = 0.0                          # largest error of the expected rotations, root mean square [rad]
        self.x0, self.v0, self.mass = state.x, state.v, system.masses
        self.gravity = system.gravity.at(state.time + h)
        self.resisting: FloatArray | None = None                              # f(x, v) - f(x) at the last linearisation
        inner = INNER_TOLERANCE if settings.linearisations == "converge" else 0.0
        self.linear_tolerance = max(settings.tolerance, inner)
        with watch.stage("forces"):
            self.pins = system.pins(state, h)
        self.contacts = StepContacts(system, state, h, context, self.pins, unhindered)
        self.base = self.contacts.base                                                                 # x = base + h u
        self.acceleration = Anderson(system.mass, settings.projective_window)
        if expected is None and self.contacts.on_solids and settings.newton_iterations is None:
            # linearised at the start, as published, a surface that turns would strain what it carries along
            expected = system.predictor.averaged(state.v)
            expected[system.abrupt] = 0.0
        self.expected = None if expected is None else self.contacts.allowed(expected)
        with watch.stage("forces"):
            near = self.base if self.expected is None else self.base + h * self.expected
            self.start = self._turned_start(origin)
            self.elastic: ElasticForces = system.elastic(state.time + h, state.plastic).in_step(
                near, self.base + h * self.v0, h, self.gravity)
        self.loop = ContactLoop(self.contacts, self.linear_tolerance, linearisation, final=context.final)
        with watch.stage("forces"):
            # drag and fields are linearised at the predicted end
            self._near = (self.x0, self.v0) if self.expected is None or not linearisation.tangent else (
                0.5 * (self.x0 + self.base + h * self.expected), self.expected)
            self.rate: RateForce | None = self._rate()

    def _rate(self) -> RateForce | None:
        """Return damping, drag and fields in this step."""
        (x, u), step = self._near, Step(self.h, self.base, self.v0, self.start)
        return self.system.rate_force(x, u, self.state.time + self.h, step, self.state.plastic)

    def _follow(self, u: FloatArray) -> None:
        """Turn the elements, along whose conditions damping acts, as they do at velocities u (V, 3) [m/s]."""
        if self.rate is not None and self.start.rotation is not None and self.rate.is_damped:
            self.start = self.system.predictor.turned_to(self.origin.x, self.start.step, self.base + self.h * u)
            self.rate = self._rate()

    def _turned_start(self, origin: State) -> TurnedStart:
        """Return the elements at `origin`, turned as they are expected to turn in the step.

        With one linearisation asked for and no prediction, all is at the start, as published (001).
        """
        span = self.state.time + self.h - origin.time
        if self.expected is None and self.linearisation.tangent and self.settings.newton_iterations == 1:
            return TurnedStart(origin.x, span)
        rotation = self.system.predictor.rotation(origin.x, origin.v, span, ROTATION_EXCESS)
        return self.system.predictor.turned_start(origin.x, span, rotation)

    def run(self) -> StepResult:
        """Solve the step and return its end."""
        found = self._first_solve() if self.expected is None else self._solve_turned(self.expected)
        converge = self.settings.linearisations == "converge"
        limit = self.settings.max_newton_iterations if converge else self.settings.linearisations
        residual, converged, scale = found.linear.residual, found.linear.converged and not converge, None
        # judged by the residual of the equations, not by that of the last solve
        failed, judged = False, converge or not self.linearisation.tangent
        goal = enough = self.settings.tolerance
        if judged and not converge:
            enough = max(goal, PROJECTIVE_RESIDUAL)
            goal = enough if self.settings.newton_iterations is None else goal
        for done in range(1, int(limit) + (judged and not converge)):
            if not np.isfinite(found.u).all() or self.loop.hopeless:
                break
            if self._is_out:
                found = replace(found, u=self.loop.bounded(found.u))
                break
            with self.watch.stage("forces"):
                self._follow(found.u)
                r, noise = self._residual(found)
                size = self._norm(found.project(r))
                scale = self._residual_scale(found.u) if scale is None else scale
            residual = size / scale if scale > 0.0 else 0.0
            converged = residual <= goal or size <= noise
            if converged or done == limit:
                converged |= residual <= enough
                break
            better = self._newton_step(found, r, close=residual < EXACT_TANGENT_RESIDUAL)
            if better is None:
                # friction has no potential: with a constant matrix, a smaller step does no better in contact
                failed |= residual > STALLED_RESIDUAL and not self.spare and (converge or self.linearisation.tangent)
                break
            found = better
            if not judged:
                residual, converged = found.linear.residual, found.linear.converged
        if self.system.pressure is not None and self.linearisation.tangent and not converge:
            found, in_vain = self._followed(found)
            failed |= in_vain
        failed |= found.linear.reason == "indefinite"
        limits = self.system.strain_limit(self.state.time + self.h, self.state.plastic)
        result = ended(self.loop, found.u, residual, converged, failed, limits,
                       self._linearised_edges if self.linearisation.tangent and not self._turns(found) else None,
                       fall=self._fall())
        if result.hopeless or not (result.corrected and result.finite and self.linearisation.tangent):
            return result
        with self.watch.stage("forces"):
            assert result.lengths is not None
            made = created_energy(self, found.u, result.state.x, result.lengths)
            return replace(result, made=made, missed=self.missed)

    @property
    def _is_out(self) -> bool:
        """Return whether contacts of this step, or the frame, have taken too much effort for further iterations."""
        return self.effort.out or self.effort.on_contact - self._on_contact > MOST_STEP_EFFORT

    def _linearised_edges(self) -> FloatArray:
        """Return the edges (E, 3) [m] along which forces were linearised last."""
        edges = self.system.edges
        at = self.linearised[0]
        return self.start.edges(edges) if self.damping_inside else pick(at, edges[:, 1]) - pick(at, edges[:, 0])

    # ------------------------------------------------------------------ the solves

    def _first_solve(self) -> Solve:
        """Solve the system of 001: linearised at x0, for dv from v0."""
        y = self.base - self.x0
        with self.watch.stage("forces"):
            self.force = f = self.elastic.force(self.x0)
            if self.rate:                                       # at x0 the velocity is -y/h
                self.resisting = self.rate.push + self.rate.product(y) / self.h if y.any() else self.rate.push
        # b = h (f + h df/dx (v0 + y/h)), written by products with A = M + h D + h^2 K
        w = y + self.h * self.v0

        def rhs(A: BlockMatrix) -> FloatArray:
            b: FloatArray = self.h * f - (A.multiply(w) - self.mass * w) / self.h
            return b if self.resisting is None else b + self.h * self.resisting

        return self._solve(self.x0, rhs, self.v0, self._fall())

    def _solve_near(self, u: FloatArray) -> Solve:
        """Linearise and solve for the change of u: at the turned start, or at x = base + h u where cloth touches cloth
        alone or Newton goes on.
        """
        turned = self.unhindered or self.contacts.beside_solids and self.settings.linearisations == 1
        if not (self.linearisation.tangent and turned):
            with self.watch.stage("forces"):
                r = self._impulse(u)
            found = self._solve(self.base + self.h * u, lambda A: r, u, self.v0 - u + self._fall())
            if self.linearisation.tangent or self.loop.hopeless or not np.isfinite(found.u).all():
                return found
            return self._descended(u, r, found) or found
        if self.unhindered and self.system.pressure is None:
            u = in_flight(self.system.sewn, self.pins, u, self.v0 + self._fall())
        with self.watch.stage("forces"):
            self.resisting = self.rate.other - self.rate.others(u) if self.rate else None

        def rhs(A: BlockMatrix) -> FloatArray:
            f = self.force if self.resisting is None else self.force + self.resisting
            return np.asarray(self.mass * (self.v0 - u) + self.h * f)

        return self._solve(self.base + self.h * u, rhs, u, self.v0 - u + self._fall(), turned=True)

    def _solve_turned(self, u: FloatArray) -> Solve:
        """Return the solve near u (V, 3) [m/s]; of a step in free motion again at its end (rotations, air, branches of
        laws), while it misses rotations by more than `MISSED_ROTATION` or stretches edges visibly."""
        found = self._solve_near(u)
        for _ in range(TURNED_LINEARISATIONS - 1):
            if not self._turns(found) or self.effort.out:
                break
            end = self.base + self.h * found.u
            with self.watch.stage("forces"):
                start = self.system.predictor.turned_to(self.origin.x, self.start.step, end)
                self.missed = max(self.missed, missed := self.start.missed(start))
                if (self.shortened or missed <= MISSED_ROTATION) and self._grown(found) <= MAX_TURNED_OVERLENGTH:
                    break
                self.start, self._near = start, (0.5 * (self.x0 + end), found.u)
                self.rate = self._rate()
            found = self._solve_near(found.u)
        return found

    def _grown(self, found: Solve) -> float:
        """Return the stretch that a solve adds to most edges [-]."""
        return step_strain.largest_of_most(self.contacts.growth(found.u), self.system.edge_slices)

    def _turns(self, found: Solve) -> bool:
        """Return whether a usable solve is one of turned elements, and the number of solves is left to the step."""
        turned = self.unhindered and self.damping_inside and self.start.rotation is not None
        left = self.settings.newton_iterations is None and not self.loop.hopeless
        return bool(turned and left and np.isfinite(found.u).all())

    def _newton_step(self, at: Solve, r: FloatArray, *, close: bool) -> Solve | None:
        """Return the solve at x = base + h u, shortened until phi falls; None if it never falls."""
        found = None
        # quadratic convergence, where the exact matrix allows it; where it does not, that says nothing about the step
        if close and self.linearisation.tangent and self.contacts.constraints is None:
            found = self._linearised(at, r, exact=True)
        if found is None or self.loop.hopeless or found.linear.reason == "indefinite":
            found = self._linearised(at, r, exact=False)
        if found.contacts_changed and self.linearisation.tangent:     # another set of contacts has another phi
            with self.watch.stage("forces"):
                r = self._impulse(at.u) + self.h * found.friction + self.contacts.springs(at.u)
        return self._descended(at.u, r, found)

    def _descended(self, u: FloatArray, r: FloatArray, found: Solve) -> Solve | None:
        """Return the solve from u (V, 3) [m/s], where -d phi/du is r (V, 3) [N s], as far as phi falls with the
        contacts that it found; None if it never falls."""
        if found.contacts_changed:
            self.acceleration.forget()
        with self.watch.stage("forces"):
            accelerated = None if self.linearisation.tangent else self.acceleration.next(u, found.u)
            lower = descent(lambda at: self._potential(at, found.friction), u, r, found.u, accelerated)
            return None if lower is None else replace(found, u=lower)

    def _linearised(self, at: Solve, r: FloatArray, *, exact: bool) -> Solve:
        return self._solve(self.base + self.h * at.u, lambda A: r - self.h * at.friction - self.contacts.springs(at.u),
                           at.u, None, exact=exact)

    def _solve(self, x: FloatArray, rhs: Callable[[BlockMatrix], FloatArray], reference: FloatArray,
               start: FloatArray | None, *, exact: bool = False, turned: bool = False) -> Solve:
        """Return the solve with the matrix at x (V, 3) [m] and its right-hand side; other arguments as of
        `ContactLoop.solve`.

        Pressure in cloth without tension may make the matrix indefinite; its semi-definite part then does.
        """
        for definite in (False, True):
            with self.watch.stage("assembly"):
                A = self._matrix(x, exact=exact, definite=definite, turned=turned)
                b = rhs(A)
            other = not exact and A.beside is not None and not A.beside.is_definite
            found = self.loop.solve(A, b, reference, start, tentative=exact or other)
            if not other or found.linear.reason != "indefinite":
                break
        return found

    def _fall(self) -> FloatArray:
        """Return the first guess of dv (V, 3) [m/s]: the effect of weight alone, exact in free fall."""
        return self.h * self.gravity

    def _matrix(self, x: FloatArray, *, exact: bool, definite: bool, turned: bool) -> BlockMatrix:
        if turned:
            assert isinstance(self.linearisation, Tangent)
            A, self.force = self.linearisation.turned(self.elastic, self.start, x, self.h, self.rate, definite=definite)
        else:
            A = self.linearisation.matrix(self.elastic, x, self.h, self.rate, exact=exact, definite=definite)
        self.linearised, self.damping_inside = (x, A, self.force, self.resisting), turned
        if self.settings.linearisations != 1 or not self.linearisation.tangent:  # for `_residual`
            self.rigidity = A.diagonal_blocks().trace(axis1=1, axis2=2)         # (V,) [kg], h^2 times N/m
        return A

    def _followed(self, found: Solve) -> tuple[Solve, bool]:
        """Return the solve after further linearisations, as long as the step creates so much energy that it would be
        rejected: cloth that is blown up turns far in a step. Also return whether they were in vain.

        One that stretches cloth too much is left to smaller steps: contacts on its way would be most of the mesh.
        """
        grown, made = self._judged(found)
        for _ in range(PRESSURE_LINEARISATIONS - 1):
            if grown > self.settings.max_strain_change or made <= MAX_ENERGY_GAIN or self._is_out:
                break
            with self.watch.stage("forces"):
                self._follow(found.u)
                r = self._impulse(found.u) + self.h * found.friction + self.contacts.springs(found.u)
            better = self._newton_step(found, r, close=False)
            if better is None:
                return found, True
            before = made
            grown, made = self._judged(better)
            if not made < before:                                  # with other contacts, which have another phi
                return found, True
            found = better
        return found, False

    def _judged(self, at: Solve) -> tuple[float, float]:
        """Return the stretch that a solve adds to most edges [-], and the energy that it creates, as of
        `created_energy`; inf if it is not finite."""
        if not np.isfinite(at.u).all():
            return np.inf, np.inf
        with self.watch.stage("forces"):
            end = self.contacts.reached(at.u)
            return self._grown(at), created_energy(self, at.u, end, self.system.edge_lengths(end))

    # ------------------------------------------------------------------ the nonlinear equations

    def _impulse(self, u: FloatArray) -> FloatArray:
        """Return -d phi/du (V, 3) [N s], without friction."""
        self.force = f = self.elastic.force(self.base + self.h * u)
        if self.rate:
            self.resisting = self.rate.push - self.rate.product(u)
            f = f + self.resisting
        impulse: FloatArray = self.mass * (self.v0 - u) + self.h * f
        return impulse

    def _residual(self, at: Solve) -> tuple[FloatArray, float]:
        """Return -d phi/du with friction (V, 3) [N s], and the norm below which it is rounding."""
        x = self.base + self.h * at.u
        r = self._impulse(at.u) + self.h * at.friction + self.contacts.springs(at.u)
        noise = SUM_ROUNDING * self._norm(np.abs(self.mass * self.v0) + self.h * self.elastic.magnitude(x))
        noise += POSITION_ROUNDING * self._norm(self.rigidity[:, None] * x) / self.h
        return r, noise

    def _residual_scale(self, u: FloatArray) -> float:
        """Return the norm of the impulses that drive the step, to which the tolerance is relative.

        The change of momentum m (u - v0) counts as well: without weight and from a rest shape there is nothing else.
        """
        drive = self.h * self.elastic.force(self.x0)
        if self.rate:
            drive += self.h * self.rate.other
        change = max(self._norm(self.pins.project(drive)), self._norm(self.pins.project(self.mass * (u - self.v0))))
        return max(change, self.h * self._norm(self.mass * self.gravity))

    def _potential(self, u: FloatArray, friction: FloatArray) -> float:
        away, dot = u - self.v0, current().gradients.dot
        phi = 0.5 * float(np.sum(self.mass * away * away)) + self.elastic.energy(self.base + self.h * u)
        phi += self.contacts.energy(u) - self.h * dot(friction, u)
        if self.rate:
            phi += self.h * (0.5 * dot(u, self.rate.product(u)) - dot(self.rate.push, u))
        return phi

    def _norm(self, impulse: FloatArray) -> float:
        return float(np.sqrt(np.sum(impulse * impulse / self.mass)))
