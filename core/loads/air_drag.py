# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag: forces that are linear in the velocity, with their df/dv.

    viscous   f_i = - c_i v_i                               c_i = k_d [kg/(m^2 s)] times the vertex's area
    air       f   = - k_d A (n . (v - v_wind)) n            per triangle, v the mean of its corners

002 lists both (damping family), 001 section 4.4 mentions air drag. A and n are taken at the start of the step, which
makes the force linear in v and df/dv symmetric and semi-definite: each corner gets a third of the force, so
df_i/dv_j = - q q^T with q = sqrt(k_d A / 9) n, for every two corners of a triangle and for each with itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..stencils.stencil import Stencil


@dataclass(frozen=True)
class AirDrag:
    """Air drag of triangles as they lie at one time: q = `vectors` (T, 3) [sqrt(kg/s)], `stencil` of `drag_stencil`."""

    stencil: Stencil
    vectors: FloatArray

    @staticmethod
    def at(stencil: Stencil, coefficients: FloatArray, x: FloatArray) -> AirDrag:
        """Drag with k_d = coefficients (T,) at positions x (V, 3) [m]."""
        return AirDrag(stencil, current().drag.drag_vectors(stencil.vertices, coefficients, x))

    def add_force(self, u: FloatArray, total: FloatArray) -> None:
        """total (V, 3) [N] += the force at velocities u (V, 3) through still air [m/s]."""
        current().drag.add_force(self.stencil, self.vectors, u, total)


def drag_stencil(triangles: IntArray) -> Stencil:
    """One column per triangle (T, 3): the sum of its vertices' velocities."""
    return Stencil(triangles, np.ones((len(triangles), 3, 1)))
