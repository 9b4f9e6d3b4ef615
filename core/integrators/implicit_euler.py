# SPDX-License-Identifier: GPL-3.0-or-later
"""Implicit Euler: one linearisation (001), or Newton's method on the same equations.

    (M - h df/dv - h^2 df/dx) dv = h (f + h df/dx (v0 + y/h)) + z ,    x = x0 + h (v0 + dv) + y

Baraff and Witkin 1998, sections 3, 5 and 6. Written in the velocity at the end of the step, u = v0 + dv, this is one
Newton step for the minimum of the incremental potential

    phi(u) = 1/2 (u - v0)^T M (u - v0) + E(x0 + h u + y) + h/2 u^T D u - h push.u

from u = 0, where -df/dv = D is held at x0. `newton` takes further steps with the linearisation at the new u. Springs
that go slack (002) need some of them.
"""

from __future__ import annotations

from ..arrays import FloatArray
from ..model.particle_system import ParticleSystem
from ..state import State
from .linearisation import Linearisation, Tangent
from .newton import NewtonStep
from .post_step import StepResult
from .step_context import StepContext

SLACK_LINEARISATIONS = 4
"""Linearisations of each step with springs that go slack (002), unless the settings say otherwise: each one finds out
better which springs are taut."""


def step(system: ParticleSystem, state: State, h: float, context: StepContext, expected: FloatArray | None = None, *,
         unhindered: bool = False, linearisation: Linearisation | None = None, spare: bool = False,
         origin: State | None = None) -> StepResult:
    """Return the result of a step of h [s] from `state`.

    Args:
        system: what is simulated.
        state: where the step starts.
        h: step size [s].
        context: settings, and the colliders at the start and the end of this step.
        expected: (V, 3) predicted velocities at the end [m/s], where the first linearisation is taken; at u = 0, as in
            001, if not given.
        unhindered: leave out contact by pairs; the caller tests whether anything meets.
        linearisation: stands for the stiffness; the tangent if not given. Any other needs `expected`, and iterates to
            the solution of the same equations.
        origin: where the motion begins whose end is that of this step, for a step from another state; `state` if not
            given.
        spare: accept the first linearisation if further ones find no decrease.
    """
    untold = context.settings.newton_iterations is None and context.settings.linearisations == 1
    if untold and linearisation is None and system.may_go_slack:
        context, spare = context.with_linearisations(SLACK_LINEARISATIONS), True
    linearisation = linearisation or Tangent(system, context.solves, in_flight=unhindered)
    return NewtonStep(system, state, h, context, expected, unhindered, linearisation, spare, origin or state).run()
