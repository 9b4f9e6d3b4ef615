# SPDX-License-Identifier: GPL-3.0-or-later
"""Start multistep integrators: the state one step earlier, at the start and when particles are emitted.

It is extrapolated with the present acceleration a,

    x_before = x0 - h v0 + h^2/2 a,      v_before = v0 - h a,      a = g + R^(-3/2) ((u - v0) / h - g)

where u (V, 3) [m/s] is the end velocity of a trial step of size h. With implicit Euler for the trial, a contains
stiffness, drag and wind at any step size; it is exact to O(h), x_before to O(h^3) and v_before to O(h^2), so that the
motion is of second order. The trial has the acceleration at its end, which turns with the cloth: the one of half a step
ago has its direction one and a half rotations R of a step earlier, while the gravity g does not turn. Another
acceleration a' would leave a lasting error of h/2 (a - a') in the velocities. Pinned vertices have no acceleration.
Free particles have that of gravity, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import FloatArray
from ..kernels.formulas.rotation import quaternion, rotation_matrix
from ..model.particle_system import ParticleSystem
from ..state import Before, State
from .post_step import StepResult

STEPS_AGO = 1.5
"""Time from the middle of the step before to the end of the trial step, over the step [-]."""
BLEND = 0.48
"""Share of the third formula in the mean of the second and the third [-], the largest that is stable for every step."""
ROTATION_EXCESS = (1.0 - BLEND) / 3.0
"""Excess of the turn that velocities of the blended formula give, over the cube of the angle in each step [-]."""
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
        pull = (tried.state.v - state.v) / h - a
        rotation = system.predictor.rotation(state.x, state.v, h, ROTATION_EXCESS)
        rows = rotation_matrix(quaternion(tuple((-STEPS_AGO * rotation).T)))
        turned = np.column_stack([row[0] * pull[:, 0] + row[1] * pull[:, 1] + row[2] * pull[:, 2] for row in rows])
        pull = turned + _mean(system, pull - turned)                                # bodies keep their momentum
        a, spent = system.pins(state, h).project(a + pull), tried.iterations
    if known is None:
        known = Before(state.x - h * state.v + 0.5 * h * h * a, state.v - h * a, h)
    return system.emission.remembered(known, state, a), spent


def _mean(system: ParticleSystem, field: FloatArray) -> FloatArray:
    """Return the mean of a field (V, 3) over the mass of the body of each vertex."""
    body, mass = system.sewn, system.mass
    total = np.maximum(np.bincount(body, mass), np.finfo(float).tiny)
    return np.column_stack([np.bincount(body, mass * column) / total for column in field.T])[body]


def _fly(system: ParticleSystem, state: State) -> bool:
    """Return whether weight is the only force on the particles that are emitted now."""
    new = system.emission.newborn(state)
    if len(new) == 0:
        return True
    weight = system.mass[new, None] * system.gravity.at(state.time)[new]
    pull = system.force(state.x, state.v, state.time, state.plastic)[new] - weight
    return bool(np.abs(pull).max() <= FREE_FLIGHT_FORCE * np.abs(weight).max())
