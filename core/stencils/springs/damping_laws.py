# SPDX-License-Identifier: GPL-3.0-or-later
"""Dashpots along edges: two of 002's damping forces, which take no part in the energy.

    isotropic rate damping    f_ij = - k_d (v_i - v_j)                           df_i/dv_j = k_d I
    damped spring             f_ij = - k_d u u^T (v_i - v_j),  u = x_ij/|x_ij|   df_i/dv_j = k_d u u^T

The first damps turning as a whole, too, and leaves translation alone; the second leaves both alone.
"""

from __future__ import annotations

from ...arrays import FloatArray
from ..component_algebra import Columns, direction, identity_block
from ..stencil import Condition, Parameters, Tangent


class Dashpot:
    """Along the edge. Parameter: k_d [kg/s]."""

    name = "dashpot"
    constant_tangent = False
    linear = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """None."""
        return 0.0 * p[0]

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """None."""
        zero = 0.0 * p[0]
        return ((zero, zero, zero),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """None."""
        return ((identity_block(0.0 * p[0]),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """None."""
        return ((identity_block(0.0 * p[0]),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """The length."""
        return ((p[0], (direction(F[0]),)),)

    def damping_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Of the damping in the constant matrix: no more than k_d I."""
        return (p[0],)


class IsotropicDashpot:
    """In all directions. Parameter: k_d [kg/s]."""

    name = "isotropic dashpot"
    constant_tangent = False
    linear = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """None."""
        return 0.0 * p[0]

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """None."""
        zero = 0.0 * p[0]
        return ((zero, zero, zero),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """None."""
        return ((identity_block(0.0 * p[0]),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """None."""
        return ((identity_block(0.0 * p[0]),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """The three components of x_ij."""
        zero = 0.0 * p[0]
        one = zero + 1.0
        return ((p[0], ((one, zero, zero),)), (p[0], ((zero, one, zero),)), (p[0], ((zero, zero, one),)))

    def damping_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Of the damping in the constant matrix: k_d I itself."""
        return (p[0],)
