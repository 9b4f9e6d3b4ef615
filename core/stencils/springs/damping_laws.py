# SPDX-License-Identifier: GPL-3.0-or-later
"""Dashpots: laws of damping along edges, without energy. Two of the damping forces of 002.

    isotropic rate damping    f_ij = - k_d (v_i - v_j)                           df_i/dv_j = k_d I
    damped spring             f_ij = - k_d u u^T (v_i - v_j),  u = x_ij/|x_ij|   df_i/dv_j = k_d u u^T

Both leave translation undamped. The isotropic one also damps rotation; the damped spring does not.
"""

from __future__ import annotations

from ...arrays import FloatArray
from ..component_algebra import Columns, direction, identity_block
from ..stencil import Condition, Parameters, Tangent


class Dashpot:
    """Dashpot along the edge. Parameter: k_d [kg/s]."""

    name = "dashpot"
    constant_tangent = False
    linear = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return zero (E,) [J]."""
        return 0.0 * p[0]

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return zero [N]."""
        zero = 0.0 * p[0]
        return ((zero, zero, zero),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return zero [N/m]."""
        return ((identity_block(0.0 * p[0]),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return zero [N/m]."""
        return ((identity_block(0.0 * p[0]),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition |x_ij|."""
        return ((p[0], (direction(F[0]),)),)

    def damping_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Return the bound k_d of the damping matrix k_d u u^T."""
        return (p[0],)


class IsotropicDashpot:
    """Dashpot in all directions. Parameter: k_d [kg/s]."""

    name = "isotropic dashpot"
    damps_rotation = True
    constant_tangent = False
    linear = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return zero (E,) [J]."""
        return 0.0 * p[0]

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return zero [N]."""
        zero = 0.0 * p[0]
        return ((zero, zero, zero),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return zero [N/m]."""
        return ((identity_block(0.0 * p[0]),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return zero [N/m]."""
        return ((identity_block(0.0 * p[0]),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the three components of x_ij as conditions."""
        zero = 0.0 * p[0]
        one = zero + 1.0
        return ((p[0], ((one, zero, zero),)), (p[0], ((zero, one, zero),)), (p[0], ((zero, zero, one),)))

    def damping_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Return the bound k_d of the damping matrix k_d I."""
        return (p[0],)
