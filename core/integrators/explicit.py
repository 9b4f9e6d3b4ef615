# SPDX-License-Identifier: GPL-3.0-or-later
"""Explicit integrators (003): the end of a step from the forces at its start.

    symplectic Euler    v1 = v0 + h M^-1 f(x0, v0),              x1 = x0 + h v1
    explicit Euler      the same v1,                             x1 = x0 + h v0
    Verlet              x1 = x0 + k_d (x0 - x_before) + h^2 M^-1 f(x0, v0)

003 gives the last two as "Euler Method" and "Verlet Solver" and the first in its mass-spring loop. All are systems with
the matrix M, so that pins, attachments, contacts, friction and self-collision work as with every other integrator: the
same loop solves M (u - v0) = h f + contact impulses, for the velocity u that moves x0 to x1.

Where nothing is touched, and nothing is foreseen to be, a step is taken without contacts first. If something meets on
its way after all, which is found out for the way that it took, it is taken again with contacts.

- Explicit Euler moves positions by the velocity of the start, which contacts can no longer change. While cloth is, or
  may come, in contact, it takes the step of symplectic Euler.
- Verlet in u: (x1 - x0)/h = k_d (x0 - x_before)/h + h M^-1 f. Its velocity belongs to the middle between two steps, so
  the first step takes half the impulse, and a step after a change of size the mean of both sizes. The position
  alteration y of 001 does not count as motion. The reported velocity is v1 = u + h/2 M^-1 f(x1, u), of second order
  like the positions. k_d acts per step, as published: below 1 it damps more the shorter the steps are.

Steps longer than the estimate of `stability_limit` are refused before the first one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..linear.constraint_filter import ConstraintFilter
from ..model.particle_system import ParticleSystem
from ..state import Before, State
from .clearance import Clearance
from .contact_loop import ContactLoop
from .linearisation import Mass
from .post_step import StepResult, ended
from .step_contacts import StepContacts
from .step_context import StepContext


def symplectic_euler(system: ParticleSystem, state: State, h: float, context: StepContext) -> StepResult:
    """Return the result of a step of h [s]; arguments as of `implicit_euler.step`."""
    return _kicked(system, state, state.v, h, h, context)[0]


def explicit_euler(system: ParticleSystem, state: State, h: float, context: StepContext) -> StepResult:
    """Return the result of a step of h [s]; arguments as of `implicit_euler.step`."""
    room = Clearance(state, h, context)
    if not room.may_touch():
        step = _ExplicitStep(system, state, state.v, h, context, unhindered=True)
        result = step.kicked(h)
        x1 = step.contacts.reached(step.contacts.allowed(state.v))
        if result.finite and step.contacts.touch_nothing and not room.meets(x1, result.state.v):
            return replace(result, state=replace(result.state, x=x1), lengths=system.edge_lengths(x1))
    return _kicked_in_contact(system, state, state.v, h, h, context)[0]


def verlet(system: ParticleSystem, state: State, h: float, context: StepContext) -> StepResult:
    """Return the result of a step of h [s]; arguments as of `implicit_euler.step`."""
    before = state.before
    w, last = (state.v, 0.0) if before is None else (context.settings.verlet_kd * before.v, before.step)
    if last and len(new := system.emission.newborn(state)):                 # as if the present force had acted before
        pull = system.force(state.x, state.v, state.time, state.plastic)[new]
        w[new] = state.v[new] - 0.5 * last * pull / system.mass[new, None]
    result, step = _kicked(system, state, w, 0.5 * (last + h), h, context)
    if not result.finite:
        return result
    x, u = result.state.x, result.state.v
    half = 0.5 * h * step.pins.project(system.force(x, u, state.time + h, state.plastic) / system.mass[:, None])
    half[result.state.touch.mode != 0] = 0.0                       # a vertex in contact does not fall
    return replace(result, state=replace(result.state, v=u + half, before=Before(state.x, u, h)))


def _kicked(system: ParticleSystem, state: State, w: FloatArray, duration: float, h: float, context: StepContext
            ) -> tuple[StepResult, _ExplicitStep]:
    """Return the result of forces that act on velocities w (V, 3) [m/s] for `duration` [s], and the step: one that
    looks for contacts only if anything is touched, or may be."""
    room = Clearance(replace(state, v=w), h, context)
    if not room.may_touch():
        step = _ExplicitStep(system, state, w, h, context, unhindered=True)
        result = step.kicked(duration)
        if result.finite and not room.meets(result.state.x, result.state.v):
            return result, step
    return _kicked_in_contact(system, state, w, duration, h, context)


def _kicked_in_contact(system: ParticleSystem, state: State, w: FloatArray, duration: float, h: float,
                       context: StepContext) -> tuple[StepResult, _ExplicitStep]:
    """Return the same of a step that looks for contacts."""
    step = _ExplicitStep(system, state, w, h, context)
    return step.kicked(duration), step


class _ExplicitStep:
    """A step with the matrix M, from velocities w (V, 3) [m/s]; other arguments as of the step.

    Attributes:
        contacts: contacts of the step.
        pins: constraint filter without contacts.
    """

    def __init__(self, system: ParticleSystem, state: State, w: FloatArray, h: float, context: StepContext, *,
                 unhindered: bool = False) -> None:
        self._system, self._state, self._h = system, replace(state, v=w), h
        with context.watch.stage("forces"):
            self._force = system.force(state.x, state.v, state.time, state.plastic)
            self.pins: ConstraintFilter = system.pins(self._state, h)
        self._mass = Mass(system)
        self.contacts = StepContacts(system, self._state, h, context, self.pins, unhindered)
        self._loop = ContactLoop(self.contacts, context.settings.tolerance, self._mass)

    def kicked(self, duration: float) -> StepResult:
        """Return the result of forces that act for `duration` [s]."""
        elastic = self._system.elastic(self._state.time, self._state.plastic)
        A = self._mass.matrix(elastic, self._state.x, self._h, None)
        impulse = duration * self._force
        found = self._loop.solve(A, impulse, self._state.v, impulse / self._system.mass[:, None])
        linear = found.linear
        residual = linear.residual if np.isfinite(found.u).all() else float("nan")
        return ended(self._loop, found.u, residual, linear.converged, linear.reason == "indefinite",
                     self._system.strain_limit(self._state.time, self._state.plastic),
                     fall=duration * self._system.gravity.at(self._state.time))
