# SPDX-License-Identifier: GPL-3.0-or-later
"""Projective dynamics: implicit Euler's equations, solved with one matrix that never changes.

    s_n = q_n + h v_n + h^2 M^-1 f
    for k = 0 .. K
        (M/h^2 + H) dq = -M/h^2 (q^k - s_n) - dE/dq (q^k)
        q^k+1 = q^k + dq
    v_n+1 = (q_n+1 - q_n) / h

004 (Bouaziz et al. 2014); f is the weight, q^0 = s_n. In u = (q - q_n) / h, and times h^2, that is Newton's method on
the incremental potential of `implicit_euler` with M + h^2 H for the tangent: the same equations, the same loop around
contacts, the same answer where both converge. What differs is the way there. H is constant, so that it is factored
once, and never less than the tangent (`projective_matrix`), so that every iteration gets nearer; but where
the tangent is far below H, as across the plane of cloth, it does so in short steps.

K + 1 is `newton_iterations`, and "converge" goes on to the tolerance; unless told, it goes on until the motion is close
to Newton's (`implicit_euler.ENOUGH`). Two departures: steps that would not lower the potential are shortened, which
those of laws that H bounds in every state never are; and iterations look ahead together (`anderson.py`), by which
cotton takes some 40 where it took hundreds. Any model will do, not only 004's.
"""

from __future__ import annotations

from ..model.particle_system import System
from ..state import State
from . import implicit_euler
from .linearisation import Constant
from .post_step import StepResult
from .step_context import StepContext


def step(system: System, state: State, h: float, context: StepContext) -> StepResult:
    """Advance `state` by h [s]; arguments as in `implicit_euler.step`."""
    start = state.v + h * system.scene.gravity                                      # of s_n
    return implicit_euler.step(system, state, h, context, start, linearisation=Constant(system, context.settings))
