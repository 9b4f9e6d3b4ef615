# SPDX-License-Identifier: GPL-3.0-or-later
"""Projective dynamics: the equations of implicit Euler, solved with a constant matrix.

    s_n = q_n + h v_n + h^2 M^-1 f
    for k = 0 .. K
        (M/h^2 + H) dq = -M/h^2 (q^k - s_n) - dE/dq (q^k)
        q^k+1 = q^k + dq
    v_n+1 = (q_n+1 - q_n) / h

004 (Bouaziz et al. 2014); f is the weight, q^0 = s_n. In u = (q - q_n) / h, and times h^2, this is Newton's method on
the incremental potential of `implicit_euler` with M + h^2 H in place of the tangent: the same equations, the same
contacts, the same solution where both converge. H is constant, so that it is factored once, and at least as large as
the tangent (`projective_matrix`), so that every iteration approaches the solution. Where the tangent is far below H, as
across the plane of cloth, the iterations make short steps.

K + 1 is `newton_iterations`, and "converge" iterates to the tolerance; by default the iterations end when the motion is
close to Newton's (`newton.PROJECTIVE_RESIDUAL`). Two departures: iterations that would not lower the potential are
shortened, from the first one on, which does not happen for laws that H bounds in every state; and the iteration is
accelerated (`anderson`).
The integrator takes every model, not only that of 004.
"""

from __future__ import annotations

from ..model.particle_system import ParticleSystem
from ..state import State
from . import implicit_euler
from .linearisation import Constant
from .post_step import StepResult
from .step_context import StepContext


def step(system: ParticleSystem, state: State, h: float, context: StepContext) -> StepResult:
    """Return the result of a step of h [s]; arguments as of `implicit_euler.step`."""
    start = state.v + h * system.gravity.at(state.time + h)                         # the velocity of s_n
    return implicit_euler.step(system, state, h, context, start, linearisation=Constant(
        system, context.settings, state.time + h))
