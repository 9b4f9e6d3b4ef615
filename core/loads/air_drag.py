# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag and lift of the air, and viscous drag, with their df/dv.

    viscous    f_i = - c_i v_i                              c_i = k_d [kg/(m^2 s)] times the vertex's area
    linear     f   = - k_d A (n . r) n                      per triangle, r = v - v_wind, v the mean of its corners
    quadratic  f   = - rho/2 A (C_N sqrt((n . r)^2 + s^2) (n . r) n + C_T |r_t| r_t),    r_t = r - (n . r) n

Viscous and linear drag are damping forces of 002; the linear law is also in Baraff and Witkin 1998, section 4.4 (001).
The quadratic law is that of a thin plate in a separated flow: the pressure of both sides along the normal, which is
drag and lift in one, and the friction of both sides in the plane. Below the speed s across the surface the pressure is
linear, because a plate that swings slowly in still air feels more drag than in a steady wind (0045). A and n are those
of one moment of the step, so a force is linear in v, and df/dv is symmetric and negative semi-definite: df_i/dv_j =
- sum_q q q^T for every pair of corners i, j. `kernels.formulas.drag` has the vectors q, and how the quadratic law is
linearised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..stencils.stencil import Stencil


@dataclass(frozen=True)
class AirCoefficients:
    """Triangles in air, with the coefficients of their law.

    Attributes:
        stencil: that of `drag_stencil`.
        linear: (T,) k_d [kg/(m^2 s)]; None where the quadratic law acts.
        normal, tangential: (T,) rho C_N / 2 and rho C_T / 2 of the quadratic law [kg/m^3].
        slow: (T,) speed s across the surface below which the quadratic law is linear [m/s].
        mass: (T,) of the fabric [kg].
    """

    stencil: Stencil
    linear: FloatArray | None
    normal: FloatArray
    tangential: FloatArray
    slow: FloatArray
    mass: FloatArray


@dataclass(frozen=True)
class AirDrag:
    """Air drag of triangles in the positions of one time.

    Attributes:
        stencil: that of `drag_stencil`.
        vectors (T, R, 3) [sqrt(kg/s)]: R vectors q of each triangle.
        remainder (T, 3) [N]: the force on each corner at velocity 0, None where it is zero.
    """

    stencil: Stencil
    vectors: FloatArray
    remainder: FloatArray | None = None

    @staticmethod
    def at(air: AirCoefficients, x: FloatArray, r: FloatArray, h: float) -> AirDrag:
        """Return the drag at positions x (V, 3) [m], linearised at velocities r (V, 3) [m/s] relative to the air, in a
        step of h [s]; h is 0 outside of a step."""
        triangles = air.stencil.vertices
        if air.linear is not None:
            return AirDrag(air.stencil, current().drag.drag_vectors(triangles, air.linear, x)[:, None])
        return AirDrag(air.stencil, *current().drag.air_vectors(
            triangles, x, r, air.normal, air.tangential, air.slow, air.mass, h))

    def add_force(self, u: FloatArray, total: FloatArray) -> None:
        """Add the part of the force that is linear in velocities u (V, 3) [m/s] to `total` (V, 3) [N]."""
        current().drag.add_force(self.stencil, self.vectors, u, total)

    def add_push(self, wind: FloatArray, total: FloatArray) -> None:
        """Add the force on cloth at rest, in air of velocities `wind` (V, 3) [m/s], to `total` (V, 3) [N]."""
        if np.any(wind):
            self.add_force(np.ascontiguousarray(np.broadcast_to(-wind, total.shape)), total)
        if self.remainder is not None:
            total += current().group_sums.sums(self.stencil.vertices, self.remainder, len(total))

    def row_sums(self, vertex_count: int) -> FloatArray:
        """Return the sums of the rows of -df/dv (V, 3, 3) [kg/s]: its products with the three unit translations."""
        sums = np.zeros((3, vertex_count, 3))
        for axis, total in zip(-np.eye(3), sums, strict=True):
            self.add_force(np.tile(axis, (vertex_count, 1)), total)
        return sums.transpose(1, 2, 0)


def drag_stencil(triangles: IntArray) -> Stencil:
    """Return one column per triangle (T, 3): the sum of its vertices' velocities."""
    return Stencil(triangles, np.ones((len(triangles), 3, 1)), held=True)
