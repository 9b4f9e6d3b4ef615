# SPDX-License-Identifier: GPL-3.0-or-later
"""Linear springs along edges.

Edge (i, j): d = x_j - x_i, l = |d|, u = d / l, stiffness k [N/m], rest length L [m].

    energy      E   = k/2 (l - L)^2                          [J]
    stress      P   = k (l - L) u                            [N]
    stiffness   H   = k (u u^T + (1 - L/l)(I - u u^T))       [N/m], 1 - L/l clamped at zero when projected

Baraff and Witkin 1998, section 4. The mass-spring model (003) and type 1 of the immediate buckling model (002) use the
same law. The transverse part is clamped because a compressed spring makes the exact matrix indefinite, and conjugate
gradients need a semi-definite one.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Columns,
    direction,
    length,
    spring_stress,
    spring_tangent,
)
from ..stencil import Condition, Parameters, Stencil, Tangent


def edge_stencil(edges: IntArray) -> Stencil:
    """Return one column per edge (E, 2): x_j - x_i."""
    weights = np.empty((len(edges), 2, 1))
    weights[:, 0], weights[:, 1] = -1.0, 1.0
    return Stencil(edges, weights)


class Spring:
    """Parameters: k [N/m], L [m]."""

    name = "spring"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"stretch": (0,)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        k, rest = p
        return 0.5 * k * (length(F[0]) - rest) ** 2

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = k (l - L) u [N]."""
        k, rest = p
        return (spring_stress(F[0], k, rest),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H."""
        k, rest = p
        size = np.maximum(length(F[0]), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], size, k, 1.0 - rest / size),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return H with the transverse part clamped at zero."""
        k, rest = p
        size = np.maximum(length(F[0]), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], size, k, np.maximum(0.0, 1.0 - rest / size)),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition l - L."""
        return ((p[0], (direction(F[0]),)),)
