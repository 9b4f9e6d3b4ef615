# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of a state: kinetic, elastic and potential energy in the gravity field.

    kinetic = 1/2 sum m |v|^2,   elastic = sum psi,   weight = - sum m g . x                       [J]

`weight` is zero at the origin, so that only its differences have a meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.backend import using
from ..model.particle_system import ParticleSystem
from ..state import State


@dataclass(frozen=True)
class Energy:
    """Energies of all cloths together: kinetic, elastic, weight [J]."""

    kinetic: float
    elastic: float
    weight: float

    @property
    def total(self) -> float:
        """Return the sum [J].

        Without wind, moving pins and moving colliders it never grows in steps of implicit Euler that are solved to
        convergence. Steps with one linearisation, and BDF2, may add a part of the kinetic energy.
        """
        return self.kinetic + self.elastic + self.weight


def energy_of(system: ParticleSystem, state: State) -> Energy:
    """Return the energy of `state`."""
    mass = system.mass * system.gravity.factor(state.time)
    weight = -float(np.sum(mass * (state.x @ system.scene.gravity_at(state.time))))
    with using("numpy"):                            # once a frame: not worth a compiled kernel
        potential = system.elastic(state.time, state.plastic).energy(state.x)
    kinetic = 0.5 * float(np.sum(system.mass * np.einsum("vi,vi->v", state.v, state.v)))
    return Energy(kinetic, potential - weight, weight)
