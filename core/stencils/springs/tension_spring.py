# SPDX-License-Identifier: GPL-3.0-or-later
"""Links that pull and never push: type 1 of the immediate buckling model (002).

Link (i, j): d = x_j - x_i, l = |d|, u = d / l, stiffness k [N/m], rest length L [m].

    energy      E = k/2 max(l - L, 0)^2                                            [J]
    stress      P = k max(l - L, 0) u                                              [N]
    stiffness   H = k (u u^T + (1 - L/l)(I - u u^T)) where l > L, else nothing     [N/m]

Semi-definite as it is: what is slack has no stiffness, of which one linearisation makes a step in which it may become
taut by as much as it likes. `may_go_slack` tells integrators to take more.
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
        """psi (E,) [J]."""
        k, rest = p
        return 0.5 * k * np.maximum(length(F[0]) - rest, 0.0) ** 2

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """k max(l - L, 0) u."""
        k, rest = p
        return (scale(k * np.maximum(length(F[0]) - rest, 0.0), direction(F[0])),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Exact."""
        k, rest = p
        size = np.maximum(length(F[0]), SMALLEST_DIVISOR)
        pulled = k * (size > rest)
        return ((spring_tangent(F[0], size, pulled, np.maximum(1.0 - rest / size, 0.0)),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """The same."""
        k, rest = p
        size = np.maximum(length(F[0]), SMALLEST_DIVISOR)
        pulled = k * (size > rest)
        return ((spring_tangent(F[0], size, pulled, np.maximum(1.0 - rest / size, 0.0)),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """l - L, where the link pulls."""
        k, rest = p
        size = length(F[0])
        return ((k * (size > rest), (direction(F[0]),)),)
