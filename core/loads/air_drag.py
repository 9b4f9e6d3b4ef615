# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag: forces that are linear in the velocity, with their df/dv.

    viscous   f_i = - c_i v_i                               c_i = k_d [kg/(m^2 s)] times the vertex's area
    air       f   = - k_d A (n . (v - v_wind)) n            per triangle, v the mean of its corners

Both are damping forces of 002; air drag is also in Baraff and Witkin 1998, section 4.4 (001). A and n are taken at the
start of the step, so the force is linear in v, and df/dv is symmetric and negative semi-definite. Each corner gets a
third of the force of a triangle: df_i/dv_j = - q q^T with q = sqrt(k_d A / 9) n, for every pair of corners i, j.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..stencils.stencil import Stencil


@dataclass(frozen=True)
class AirDrag:
    """Air drag of triangles in the positions of one time.

    Attributes:
        stencil: that of `drag_stencil`.
        vectors (T, 3) [sqrt(kg/s)]: q.
    """

    stencil: Stencil
    vectors: FloatArray

    @staticmethod
    def at(stencil: Stencil, coefficients: FloatArray, x: FloatArray) -> AirDrag:
        """Return the drag with k_d = coefficients (T,) at positions x (V, 3) [m]."""
        return AirDrag(stencil, current().drag.drag_vectors(stencil.vertices, coefficients, x))

    def add_force(self, u: FloatArray, total: FloatArray) -> None:
        """Add the force at velocities u (V, 3) [m/s] relative to the air to `total` (V, 3) [N]."""
        current().drag.add_force(self.stencil, self.vectors, u, total)

    def row_sums(self, vertex_count: int) -> FloatArray:
        """Return the sums of the rows of -df/dv (V, 3, 3) [kg/s]: its products with the three unit translations."""
        sums = np.zeros((3, vertex_count, 3))
        for axis, total in zip(-np.eye(3), sums, strict=True):
            self.add_force(np.tile(axis, (vertex_count, 1)), total)
        return sums.transpose(1, 2, 0)


def drag_stencil(triangles: IntArray) -> Stencil:
    """Return one column per triangle (T, 3): the sum of its vertices' velocities."""
    return Stencil(triangles, np.ones((len(triangles), 3, 1)), held=True)
