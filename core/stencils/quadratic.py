# SPDX-License-Identifier: GPL-3.0-or-later
"""A law that is quadratic in its one column, for bending of flat sheets and for ties.

    energy   psi = k/2 |F|^2,     stress  P = k F,     tangent  H = k I

The tangent is constant and positive semi-definite.
"""

from __future__ import annotations

from ..arrays import FloatArray
from .component_algebra import Columns, direction, dot, identity_block, scale
from .stencil import Condition, Parameters, Tangent


class Quadratic:
    """Parameter: k [J per squared unit of the column]."""

    name = "quadratic"
    constant_tangent = True
    linear = True
    stiffness_parameters = {"bend": (0,)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        return 0.5 * p[0] * dot(F[0], F[0])

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = k F."""
        return (scale(p[0], F[0]),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return H = k I, exact and constant."""
        return ((identity_block(p[0]),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return H = k I, which is positive semi-definite for k >= 0."""
        return ((identity_block(p[0]),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition |F|, which rigid motion does not change."""
        return ((p[0], (direction(F[0]),)),)
