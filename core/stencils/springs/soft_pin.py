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
    """One column per vertex (n,): x_i itself."""
    return Stencil(vertices[:, None], np.ones((len(vertices), 1, 1)))


class SoftPin:
    """E = k/2 |x - t|^2: a soft pin. Parameters: k [N/m] and the target t, three components [m]."""

    name = "anchor"
    constant_tangent = True
    linear = False

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""
        away = _away(F[0], p)
        return 0.5 * p[0] * dot(away, away)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """k (x - t)."""
        return (scale(p[0], _away(F[0], p)),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """k I, constant."""
        return ((identity_block(p[0]),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """k I, semi-definite as it is."""
        return ((identity_block(p[0]),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """The distance to the target."""
        return ((p[0], (direction(_away(F[0], p)),)),)


def _away(x: Vector, p: Parameters) -> Vector:
    return (x[0] - p[1], x[1] - p[2], x[2] - p[3])
