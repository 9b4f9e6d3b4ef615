# SPDX-License-Identifier: GPL-3.0-or-later
"""Start multistep integrators: the state one step earlier, at the start and when particles are emitted.

It is extrapolated with the present acceleration a,

    x_before = x0 - h v0 + h^2/2 a,      v_before = v0 - h a,      a = (u - v0) / h

where u (V, 3) [m/s] is the end velocity of a trial step of size h. With implicit Euler for the trial, a contains
stiffness, drag and wind at any step size; it is exact to O(h), x_before to O(h^3) and v_before to O(h^2), so that the
motion is of second order. Another acceleration a' would leave a lasting error of h/2 (a - a') in the velocities. Pinned
vertices have no acceleration. Free particles have that of gravity, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..model.particle_system import ParticleSystem
from ..state import Before, State
from .post_step import StepResult

FREE_FLIGHT_FORCE = 1e-12
"""Largest force on a particle in free flight, beside its weight and over that [-]: rounding."""


def before(system: ParticleSystem, state: State, h: float,
           trial: Callable[[], StepResult]) -> tuple[Before | None, int]:
    """Return the state h [s] earlier and the linear iterations spent; None if the trial has no finite solution.

    Args:
        system: what is simulated.
        state: the present state.
        h: step size [s].
        trial: takes a step of h from `state` without contacts. It solves for all vertices, so it is left out if only
            particles in free flight are emitted.
    """
    a, known, spent = system.gravity.at(state.time + h), state.before, 0
    if known is None or not _fly(system, state):
        tried = trial()
        if not tried.finite:
            return None, tried.iterations
        a, spent = system.pins(state, h).project((tried.state.v - state.v) / h), tried.iterations
    if known is None:
        known = Before(state.x - h * state.v + 0.5 * h * h * a, state.v - h * a, h)
    return system.emission.remembered(known, state, a), spent


def _fly(system: ParticleSystem, state: State) -> bool:
    """Return whether weight is the only force on the particles that are emitted now."""
    new = system.emission.newborn(state)
    if len(new) == 0:
        return True
    weight = system.mass[new, None] * system.gravity.at(state.time)[new]
    pull = system.force(state.x, state.v, state.time, state.plastic)[new] - weight
    return bool(np.abs(pull).max() <= FREE_FLIGHT_FORCE * np.abs(weight).max())
