# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy that a linearised step creates."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..arrays import FloatArray
from ..kernels import current
from ..linear.block_matrix import BlockMatrix
from ..model.elastic_forces import ElasticForces
from ..model.particle_system import ParticleSystem
from ..model.velocity_forces import RateForce
from ..state import State
from . import step_strain
from .step_contacts import StepContacts

UNCHECKED_STRETCH_ENERGY = 1.0
"""Largest energy of stretched edges, over that of the motion, up to which the energy balance is not computed [-]."""
UNCHECKED_SPEEDUP = 2.0
"""Largest kinetic energy at the end, over that at the start, up to which contacts do not ask for the balance [-]."""
END_MOTION_WEIGHT = 1.0 / 16.0
"""Weight of the kinetic energy at the end, beside that at the start, in the energy of the motion [-]: a body at rest
may be hit, but motion that the step itself has created must not count in full."""
SUM_ROUNDING = 1e-13
"""Relative rounding of a sum of forces or energies [-]."""


class Linearised(Protocol):
    """A step whose forces were linearised, with the letters of `NewtonStep`."""

    h: float
    x0: FloatArray
    v0: FloatArray
    mass: FloatArray
    base: FloatArray
    gravity: FloatArray
    state: State
    system: ParticleSystem
    contacts: StepContacts
    elastic: ElasticForces
    rate: RateForce | None
    damping_inside: bool
    linearised: tuple[FloatArray, BlockMatrix, FloatArray, FloatArray | None]


def created_energy(step: Linearised, u: FloatArray, end: FloatArray, lengths: FloatArray) -> float:
    """Return the energy that the step creates, over the energy of its motion [-].

    Args:
        step: whose forces were linearised.
        u: (V, 3) velocities at the end [m/s].
        end: (V, 3) positions at the end, with all corrections [m].
        lengths: (E,) of the edges there [m].

    Linearised forces and the corrections at the end create energy. Pins, solids, wind and friction
    act by the impulse M (u - v0) - h f, with f the linearised forces at the end x of velocities u (V, 3) [m/s].
    The energy 1/2 u.M u + E grows by their work and by

        made = E(end) - E(x0) + f . (x - x0) - 1/2 (u - v0) . M (u - v0)

    and by the work of contacts beyond that of moving solids. For convex energies that are solved to convergence
    the sum is below zero, apart from a small part along curved surfaces. A sheet that turns about an edge is
    stretched by the square of the angle; that can create hundreds of times its motion, and flings it off a step
    later.
    """
    at, A, force, resisting = step.linearised
    x, gained, fall = step.contacts.reached(u), u - step.v0, step.h * step.gravity
    motion = 0.5 * float(np.sum(step.mass * (step.v0 ** 2 + fall ** 2 + END_MOTION_WEIGHT * u ** 2)))
    solids = step.contacts.constraints
    kinetic = 0.5 * float(np.sum(step.mass * u ** 2))
    flung = solids is not None and len(solids) > 0 and kinetic > UNCHECKED_SPEEDUP * motion
    rest = step.system.rest_lengths
    grown = step_strain.added_strain(step.contacts.start_lengths, lengths, rest) * rest
    springs = step.system.edge_stiffness(step.state.time + step.h)
    if not flung and step_strain.energy(grown, springs) <= UNCHECKED_STRETCH_ENERGY * motion:
        return 0.0
    w = (x - at) / step.h
    f = force - (A.multiply(w) - step.mass * w) / step.h
    if step.damping_inside and step.rate is not None:
        damping = step.rate.damping((at - step.base) / step.h)
        f, resisting = f - damping, damping if resisting is None else resisting + damping
    after, before = step.elastic.energy(end), step.elastic.energy(step.x0)
    made, rounding = after - before, SUM_ROUNDING * (abs(after) + abs(before))
    made += current().gradients.dot(f, x - step.x0) - 0.5 * float(np.sum(step.mass * gained ** 2))
    if solids is not None:
        if resisting is not None:                       # A holds its derivative
            f = f + resisting
        made += solids.work(step.mass * gained - step.h * f, u)
    return made / motion if made > rounding else 0.0
