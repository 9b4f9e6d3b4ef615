# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams and buttons: springs that pull two points of cloth together, no harder than they may.

Column d = from the one point to the other, l = |d|, u = d / l, e = max(0, l - L), stiffness k [N/m], the length L [m]
that the seam has at the time, and the largest force f [N]. With r = min(e, f / k), how far the force still grows,

    energy      E   = k r (e - r / 2)                          [J]      k/2 e^2 up to e = f/k, then f e - f^2 / (2 k)
    stress      P   = k r u                                    [N]
    stiffness   H   = k' u u^T + k r / l (I - u u^T)           [N/m]    k' = k where 0 <= e <= f/k, else 0

The spring of no length that sews a garment's panels (002), with two departures. A seam pulls and never pushes: what is
closer than L may be. And the force has a limit: panels that are held somewhere are not torn off. The energy is convex
in e and does not fall with l, so H is semi-definite as it is.
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
    """Parameters: k [N/m], L [m], f [N]; f may be infinite, k is above 0."""

    name = "seam"
    constant_tangent = False
    linear = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""
        k, rest, most = p
        longer = np.maximum(length(F[0]) - rest, 0.0)
        reach = np.minimum(longer, most / k)
        return k * reach * (longer - 0.5 * reach)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """k r u."""
        k, rest, most = p
        longer = np.maximum(length(F[0]) - rest, 0.0)
        return (scale(np.minimum(k * longer, most), direction(F[0])),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Exact, and semi-definite as it is."""
        k, rest, most = p
        longer = length(F[0]) - rest
        return ((_stiffness(F[0], p, k * ((longer >= 0.0) * (k * longer <= most))),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """With k r / e along u: a bound. Where the force has reached its limit it is as of a spring that is slack at L,
        so that no step that closes the seam goes beyond; one that opens it is slowed down for it."""
        k, rest, most = p
        longer = length(F[0]) - rest
        along = (longer >= 0.0) * np.minimum(k, most / np.maximum(longer, SMALLEST_DIVISOR))
        return ((_stiffness(F[0], p, along),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """l - L, while it is the spring that holds."""
        k, rest, most = p
        longer = length(F[0]) - rest
        held = k * ((longer > 0.0) * (k * longer <= most))
        return ((held, (direction(F[0]),)),)


def _stiffness(d: Vector, p: Parameters, along: FloatArray) -> Block:
    """H with `along` u; at its two kinks that of the stiff side."""
    k, rest, most = p
    size = np.maximum(length(d), SMALLEST_DIVISOR)
    across = np.minimum(k * np.maximum(1.0 - rest / size, 0.0), most / size)
    return add_blocks(outer(along - across, direction(d), direction(d)), identity_block(across))
