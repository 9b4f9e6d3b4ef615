# SPDX-License-Identifier: GPL-3.0-or-later
"""How things came to be where they are, for integrators that look back: at the start, and when particles are born.

They are taken to have come with the acceleration a that they have now,

    x_before = x0 - h v0 + h^2/2 a,      v_before = v0 - h a,      a = (u - v0) / h

with u (V, 3) [m/s] where a trial step of h leads. If it is implicit Euler's, stiffness, drag and wind are in it,
whatever the step; a is right to O(h), x_before to O(h^3) and v_before to O(h^2), which leaves motion of second order.
Another acceleration a' would leave an error of h/2 (a - a') in velocities, for good. What pins hold has none. What
flies freely has gravity's, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.particle_system import System
from ..state import Before, State
from .post_step import StepResult

FREE = 1e-12
"""Relative size of forces beside a particle's weight that rounding explains [-]."""


def before(system: System, state: State, h: float, trial: Callable[[], StepResult]) -> tuple[Before | None, int]:
    """Where `state` was h [s] before, and the linear iterations that it took to find out; None where a trial that is
    needed has no finite solution.

    `trial` takes a step of h from `state` as if nothing touched. It is one solve of all, so particles that are born to
    nothing but their weight go without.
    """
    gravity, known, spent = system.scene.gravity, state.before, 0
    a = np.tile(gravity, (system.vertex_count, 1))
    if known is None or not _fly(system, state):
        tried = trial()
        if not tried.finite:
            return None, tried.iterations
        a, spent = system.pins(state, h).project((tried.state.v - state.v) / h), tried.iterations
    if known is None:
        known = Before(state.x - h * state.v + 0.5 * h * h * a, state.v - h * a, h)
    return system.births.remembered(known, state, a), spent


def _fly(system: System, state: State) -> bool:
    """Whether nothing but their weight pulls at those that are born now."""
    new = system.births.newborn
    if len(new) == 0:
        return True
    weight = system.mass[new, None] * system.scene.gravity
    pull = system.force(state.x, state.v, state.time)[new] - weight
    return bool(np.abs(pull).max() <= FREE * np.abs(weight).max())
