# SPDX-License-Identifier: GPL-3.0-or-later
"""Soft pins: springs of rest length zero from a vertex to its target.

    energy      E = k/2 |x - t|^2      [J]
    stress      P = k (x - t)          [N]
    stiffness   H = k I                [N/m]
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..component_algebra import Columns, Vector, direction, dot, identity_block, scale
from ..stencil import Condition, Parameters, Stencil, Tangent


def point_stencil(vertices: IntArray) -> Stencil:
    """Return one column per vertex (n,): x_i itself."""
    return Stencil(vertices[:, None], np.ones((len(vertices), 1, 1)), held=True)


class SoftPin:
    """Parameters: k [N/m] and the three components of the target t [m]."""

    name = "anchor"
    constant_tangent = True
    linear = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        offset = _offset(F[0], p)
        return 0.5 * p[0] * dot(offset, offset)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = k (x - t) [N]."""
        return (scale(p[0], _offset(F[0], p)),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return H = k I, which is constant."""
        return ((identity_block(p[0]),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return H = k I, which is positive semi-definite."""
        return ((identity_block(p[0]),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition |x - t|."""
        return ((p[0], (direction(_offset(F[0], p)),)),)


def _offset(x: Vector, p: Parameters) -> Vector:
    """Return x - t."""
    return (x[0] - p[1], x[1] - p[2], x[2] - p[3])
