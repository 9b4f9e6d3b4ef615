# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs that pull and never push: type 1 of the immediate buckling model (002).

Edge (i, j): d = x_j - x_i, l = |d|, u = d / l, stiffness k [N/m], rest length L [m].

    energy      E = k/2 max(l - L, 0)^2                                            [J]
    stress      P = k max(l - L, 0) u                                              [N]
    stiffness   H = k (u u^T + (1 - L/l)(I - u u^T)) where l > L, else 0           [N/m]

H is positive semi-definite. A slack spring has no stiffness, so one linearisation allows a step that stretches it by
any amount. The attribute `may_go_slack` tells integrators to take more linearisations.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..component_algebra import SMALLEST_DIVISOR, Columns, direction, length, scale, spring_tangent
from ..stencil import Condition, Parameters, Tangent


class TensionSpring:
    """Parameters: k [N/m], L [m]."""

    name = "tension"
    constant_tangent = False
    linear = False
    may_go_slack = True
    stiffness_parameters = {"stretch": (0,)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        k, rest = p
        return 0.5 * k * np.maximum(length(F[0]) - rest, 0.0) ** 2

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = k max(l - L, 0) u [N]."""
        k, rest = p
        return (scale(k * np.maximum(length(F[0]) - rest, 0.0), direction(F[0])),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H."""
        k, rest = p
        size = np.maximum(length(F[0]), SMALLEST_DIVISOR)
        pulled = k * (size > rest)
        return ((spring_tangent(F[0], size, pulled, np.maximum(1.0 - rest / size, 0.0)),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is positive semi-definite."""
        k, rest = p
        size = np.maximum(length(F[0]), SMALLEST_DIVISOR)
        pulled = k * (size > rest)
        return ((spring_tangent(F[0], size, pulled, np.maximum(1.0 - rest / size, 0.0)),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition l - L where the spring pulls."""
        k, rest = p
        size = length(F[0])
        return ((k * (size > rest), (direction(F[0]),)),)
