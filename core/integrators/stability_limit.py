# SPDX-License-Identifier: GPL-3.0-or-later
"""The longest stable step of explicit integrators: in longer ones the fastest vibration grows without bound.

With omega the fastest vibration and d [1/s] its damping, d = tau omega^2 + drag over mass,

    symplectic Euler, Verlet    h^2 omega^2 + 2 h d <= 2 (1 + k_d)              undamped h <= 2 / omega
    explicit Euler              h omega^2 <= d + 2 g                             undamped it always grows, by g [1/s]

from the roots of x'' = -omega^2 x - d x' as each method steps it. omega^2 and d are bounded from above by the constant
matrix of `projective_matrix`, which no law's stiffness at rest is above. Cloth that is stretched far beyond may be
stiffer; the adaptive stepper stops a motion that then grows without bound.
"""

from __future__ import annotations

from math import ceil, inf, sqrt
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SolverError, UnstableStepError
from ..model.field_forces import Step
from ..model.particle_system import ParticleSystem
from ..model.velocity_forces import RateForce
from ..number_text import number_text
from ..state import State

if TYPE_CHECKING:
    from ..description.settings import Solver

MAX_EULER_GROWTH = 0.5
"""Largest growth rate of a vibration in explicit Euler [1/s]: without damping there is growth in every step."""
MOST_STEPS = 1e15
"""Largest number of steps per frame that a message asks for [-]."""
STABLE_PART = 0.98
"""Part of the limit that is used [-]: at the limit itself a vibration neither grows nor decays."""
IMPLICIT = "implicit_euler, bdf2 or projective_dynamics"


def of_symplectic_euler(system: ParticleSystem, state: State, settings: Solver) -> float:
    """Return the longest stable step from `state` on [s]; inf if nothing vibrates."""
    return _leapfrog(*_fastest(system, state), 1.0)


def of_verlet(system: ParticleSystem, state: State, settings: Solver) -> float:
    """Return the longest stable step from `state` on [s]; inf if nothing vibrates."""
    return _leapfrog(*_fastest(system, state), settings.verlet_kd)


def of_explicit_euler(system: ParticleSystem, state: State, settings: Solver) -> float:
    """Return the longest step from `state` on [s] in which no vibration grows by more than `MAX_EULER_GROWTH`; inf if
    nothing vibrates."""
    omega2, d = _fastest(system, state)
    if omega2 == 0.0:
        return 2.0 * STABLE_PART / d if d else inf
    turning = d * d - 4.0 * omega2                                  # overdamped: no step across the rest position
    across = (d - sqrt(turning)) / omega2 if turning > 0.0 else inf
    return STABLE_PART * min((d + 2.0 * MAX_EULER_GROWTH) / omega2, across)


def _leapfrog(omega2: float, d: float, kd: float) -> float:
    if omega2 == 0.0:
        return STABLE_PART * (1.0 + kd) / d if d else inf
    return STABLE_PART * (sqrt(d * d + 2.0 * (1.0 + kd) * omega2) - d) / omega2


def _fastest(system: ParticleSystem, state: State) -> tuple[float, float]:
    """Return omega^2 [1/s^2] and d [1/s] of the fastest vibration."""
    if not (system.mass > 0.0).all():
        i = int(np.argmin(system.mass))
        raise SolverError(f"vertex {i} has no mass of its own, and explicit methods divide by it; take {IMPLICIT}")
    omega2, d = system.projective(state.time).largest(system.held_positions(state.time)[0])
    if system.pressure is not None:
        if system.pressure.has_fluid:
            raise SolverError("the fluid in a cloth needs an implicit integrator, because its mass is far above that "
                              f"of the cloth; take {IMPLICIT}, or a fluid density of 0")
        omega2 += system.pressure.at(state.time).largest_frequency(state.x, system.mass)
    rate = system.rate_force(state.x, state.v, state.time)
    if rate is not None:
        resisting = np.zeros(len(system.mass)) if rate.viscous is None else rate.viscous.copy()
        if rate.drags:
            for drag in rate.drags:
                resisting += drag.row_sums(len(resisting)).trace(axis1=1, axis2=2)
        if rate.blocks is not None:
            resisting += rate.blocks.trace(axis1=1, axis2=2)
            omega2 += _field_stiffness(system, state, rate)
        d += float((resisting / system.mass).max(initial=0.0))
    return omega2, d


def _field_stiffness(system: ParticleSystem, state: State, rate: RateForce) -> float:
    """Return the largest stiffness of force fields over the mass [1/s^2]: what a step of 1 s adds to their blocks."""
    stiff = system.rate_force(state.x, state.v, state.time, Step(1.0, state.x, state.v))
    if stiff is None or stiff.blocks is None or rate.blocks is None:
        return 0.0
    return float(((stiff.blocks - rate.blocks).trace(axis1=1, axis2=2) / system.mass).max(initial=0.0))


def refusal(name: str, longest: float, smallest: float, system: ParticleSystem, state: State,
            settings: Solver, most: float) -> UnstableStepError:
    """Return the error for a `smallest` step [s] that is above the `longest` stable one [s] from `state` on, or for a
    frame of more stable steps than `most`."""
    times = settings.max_halvings if settings.adaptive else 0
    too_long = not smallest <= longest
    least = settings.steps_per_frame * smallest / MOST_STEPS
    per_frame = settings.steps_per_frame * smallest * (1 if too_long else 2 ** times)
    wanted = ceil(per_frame / max(longest, least))
    omega2, d = _fastest(system, state)
    undamped = _leapfrog(omega2, 0.0, settings.verlet_kd if name == "verlet" else 1.0)
    if name == "explicit_euler" and d < sqrt(omega2):
        ways = "damp the fabric more, without which explicit Euler always lets it vibrate, or "
    elif name != "explicit_euler" and undamped > 2.0 * longest:
        ways = f"damp it less, as without damping {number_text(undamped, 3)} s would do, or "
    else:
        ways = ""
    if too_long:
        halved = f", halved {times} times," if times else ""
        made = f" ({wanted * 2 ** times} after halving)" if times else ""
        found = (f"but steps of {number_text(smallest * 2 ** times, 3)} s{halved} are still of "
                 f"{number_text(smallest, 3)} s: set steps_per_frame to {wanted} or more{made}")
    else:
        found = (f"{wanted} in a frame, which are more than {most:.0f}: set steps_per_frame to {wanted} if a frame is "
                 "to take that long")
    return UnstableStepError(
        f"{name} is stable on this cloth in steps of up to {number_text(longest, 3)} s, {found}, {ways}take a softer "
        f"fabric or a coarser mesh, or an integrator that is stable in any step: {IMPLICIT}",
        longest=longest, step=smallest, steps_per_frame=wanted)
