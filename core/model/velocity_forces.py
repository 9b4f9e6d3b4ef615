# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a system that are linear in the velocity: damping, drag and wind.

Their matrix D is needed as a part of the step's matrix, which `ElasticForces.stiffness` adds it to in the same pass
over the elements, and in products D u, which need no matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..kernels import current
from ..linear.block_matrix import BlockPattern
from ..loads.air_drag import AirDrag
from ..stencils.stencil import ElementForce


@dataclass(frozen=True)
class RateForce:
    """f = push - D u at velocities u (V, 3) [m/s], linearised at positions x (V, 3) [m].

    Attributes:
        push (V, 3): [N]; damped: forces of changing stiffness that are damped, as families of one stencil;
        constant: damping times stiffness of the others, on the pattern's scalar part, None where there are none;
        drags: of triangles in air; viscous (V,): [kg/s].
    """

    x: FloatArray
    push: FloatArray
    damped: Sequence[Sequence[ElementForce]]
    constant: FloatArray | None
    drags: Sequence[AirDrag]
    viscous: FloatArray | None
    pattern: BlockPattern

    def product(self, u: FloatArray) -> FloatArray:
        """D u (V, 3) [N]."""
        total = np.zeros_like(u)
        for family in self.damped:
            current().element_families.add_damping_force(family, self.x, u, total)
        for drag in self.drags:
            drag.add_force(u, total)
        total = -total
        if self.constant is not None:
            self.pattern.scalar.add_product(self.constant, u, total)
        if self.viscous is not None:
            total += self.viscous[:, None] * u
        return total
