# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams and buttons: springs with a limited force that pull two points of cloth together.

Column d = from one point to the other, l = |d|, u = d / l, e = max(0, l - L), stiffness k [N/m], the present length L
[m] of the seam, and its largest force f [N]. The elastic elongation is r = min(e, f / k):

    energy      E   = k r (e - r / 2)                          [J]      k/2 e^2 up to e = f/k, then f e - f^2 / (2 k)
    stress      P   = k r u                                    [N]
    stiffness   H   = k' u u^T + k r / l (I - u u^T)           [N/m]    k' = k where 0 <= e <= f/k, else 0

002 sews panels with springs of rest length zero. There are two departures from it. A seam only pulls: points
closer than L feel no force. And the force is limited, so that a panel that is held elsewhere is not torn away. The
energy is convex in e and does not decrease with l, so H is positive semi-definite.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Block,
    Columns,
    Vector,
    add_blocks,
    direction,
    identity_block,
    length,
    outer,
    scale,
)
from ..stencil import Condition, Parameters, Tangent


class SeamSpring:
    """Parameters: k > 0 [N/m], L [m], f [N]; f may be infinite."""

    name = "seam"
    constant_tangent = False
    linear = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        k, rest, limit = p
        elongation = np.maximum(length(F[0]) - rest, 0.0)
        elastic = np.minimum(elongation, limit / k)
        return k * elastic * (elongation - 0.5 * elastic)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = k r u [N]."""
        k, rest, limit = p
        elongation = np.maximum(length(F[0]) - rest, 0.0)
        return (scale(np.minimum(k * elongation, limit), direction(F[0])),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is positive semi-definite."""
        k, rest, limit = p
        elongation = length(F[0]) - rest
        return ((_stiffness(F[0], p, k * ((elongation >= 0.0) * (k * elongation <= limit))),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return an upper bound of H, with k r / e along u.

        Where the force has reached its limit, the bound is the stiffness of a spring that is slack at L. A step that
        closes the seam then does not pass L; a step that opens it becomes slower.
        """
        k, rest, limit = p
        elongation = length(F[0]) - rest
        along = (elongation >= 0.0) * np.minimum(k, limit / np.maximum(elongation, SMALLEST_DIVISOR))
        return ((_stiffness(F[0], p, along),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition l - L, where the force is below its limit."""
        k, rest, limit = p
        elongation = length(F[0]) - rest
        held = k * ((elongation > 0.0) * (k * elongation <= limit))
        return ((held, (direction(F[0]),)),)


def _stiffness(d: Vector, p: Parameters, along: FloatArray) -> Block:
    """Return H with the stiffness `along` in the direction of u. At the two kinks it is that of the stiffer side."""
    k, rest, limit = p
    size = np.maximum(length(d), SMALLEST_DIVISOR)
    across = np.minimum(k * np.maximum(1.0 - rest / size, 0.0), limit / size)
    return add_blocks(outer(along - across, direction(d), direction(d)), identity_block(across))
