# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs that resist compression less, or more, than tension.

One column d, l = |d|, u = d / l, stiffness k against tension and c against compression [N/m], rest length L [m]:

    energy      E = K/2 (l - L)^2,     K = k where l >= L, otherwise c                 [J]
    stress      P = K (l - L) u                                                       [N]
    stiffness   H = K (u u^T + (1 - L/l)(I - u u^T)),  1 - L/l clamped at zero        [N/m]

Energy and stress are continuous at l = L; the stiffness jumps. Damping has a time tau of its own on either side.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Columns,
    direction,
    either,
    length,
    spring_stress,
    spring_tangent,
)
from ..stencil import Condition, Parameters, Tangent


class TwoSidedSpring:
    """Parameters: k, c [N/m], tau of tension and of compression over the force's [-], L [m].

    Args:
        may_go_slack: whether compression meets less than a tenth of the resistance of tension.
    """

    name = "two-sided spring"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"stretch": (0, 1)}

    def __init__(self, may_go_slack: bool = False) -> None:
        self.may_go_slack = may_go_slack

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        k, c, _, _, rest = p
        size = length(F[0])
        return 0.5 * either(size < rest, c, k) * (size - rest) ** 2

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = K (l - L) u [N]."""
        k, c, _, _, rest = p
        return (spring_stress(F[0], either(length(F[0]) < rest, c, k), rest),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H."""
        k, c, _, _, rest = p
        size = np.maximum(length(F[0]), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], size, either(size < rest, c, k), 1.0 - rest / size),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return H with the transverse part clamped at zero."""
        k, c, _, _, rest = p
        size = np.maximum(length(F[0]), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], size, either(size < rest, c, k), np.maximum(0.0, 1.0 - rest / size)),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition l - L, with the stiffness times the relative tau."""
        k, c, tk, tc, rest = p
        return ((either(length(F[0]) < rest, tc * c, tk * k), (direction(F[0]),)),)

    def tangent_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Return omega of the constant matrix: every projected tangent is at most the larger stiffness."""
        return (np.maximum(p[0], p[1]),)
