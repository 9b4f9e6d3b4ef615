# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy of a state: what moves, what is stretched and bent, and how high it is.

    kinetic = 1/2 sum m |v|^2,   elastic = sum psi,   weight = - sum m g . x                       [J]

The height of zero weight is the origin's, so only differences of `weight` mean something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.backend import using
from ..state import State

if TYPE_CHECKING:
    from ..model.particle_system import System


@dataclass(frozen=True)
class Energy:
    """kinetic, elastic, weight [J], of all cloths together."""

    kinetic: float
    elastic: float
    weight: float

    @property
    def total(self) -> float:
        """All of it [J]. Without wind, moving pins or moving colliders it never grows in steps of implicit Euler that
        are solved to convergence. Those with one linearisation, and BDF2's, may add a part of what swings."""
        return self.kinetic + self.elastic + self.weight


def energy_of(system: System, state: State) -> Energy:
    """The energy of `state`."""
    weight = -float(np.sum(system.mass * (state.x @ system.scene.gravity)))
    with using("numpy"):                            # asked for once a frame: not worth compiling
        potential = system.elastic(state.time).energy(state.x)
    kinetic = 0.5 * float(np.sum(system.mass * np.einsum("vi,vi->v", state.v, state.v)))
    return Energy(kinetic, potential - weight, weight)
