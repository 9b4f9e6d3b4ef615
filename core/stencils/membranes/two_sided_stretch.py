# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch of a membrane that resists compression less, or more, than tension; otherwise the law of `stretch_shear`.

With the two columns F = (w_u, w_v), the stiffness k against tension and c against compression, over the rest area a,

    psi = a/2 (K_u (|w_u| - b_u)^2 + K_v (|w_v| - b_v)^2),     K = k where |w| >= b, otherwise c        [J]

Energy and stress are continuous at |w| = b; the tangent jumps from c to k. Damping has a time tau of its own on either
side. c = 0 is a fabric that buckles between the vertices, at no cost.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Columns,
    Vector,
    direction,
    either,
    identity_block,
    length,
    spring_stress,
    spring_tangent,
)
from ..stencil import Condition, Parameters, Tangent


class TwoSidedStretch:
    """Parameters: a k_u, a k_v, a c_u, a c_v [N m], tau of tension and of compression over the force's [-], b_u, b_v
    [-].

    Args:
        may_go_slack: whether compression meets less than a tenth of the resistance of tension, with which steps
            that begin slack stretch far.
    """

    name = "two-sided stretch"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"stretch": (0, 1, 2, 3)}
    rest_kind = "membrane"

    def __init__(self, may_go_slack: bool = False) -> None:
        self.may_go_slack = may_go_slack

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        ku, kv, cu, cv, _, _, bu, bv = p
        return 0.5 * (_side(F[0], bu, ku, cu) * (length(F[0]) - bu) ** 2
                      + _side(F[1], bv, kv, cv) * (length(F[1]) - bv) ** 2)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P_u = a K_u (|w_u| - b_u) w_u/|w_u|, and the same for v."""
        ku, kv, cu, cv, _, _, bu, bv = p
        return (spring_stress(F[0], _side(F[0], bu, ku, cu), bu), spring_stress(F[1], _side(F[1], bv, kv, cv), bv))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is negative across a compressed direction."""
        ku, kv, cu, cv, _, _, bu, bv = p
        zero = identity_block(0.0 * ku)
        lu, lv = np.maximum(length(F[0]), SMALLEST_DIVISOR), np.maximum(length(F[1]), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], lu, _side(F[0], bu, ku, cu), 1.0 - bu / lu), zero),
                (zero, spring_tangent(F[1], lv, _side(F[1], bv, kv, cv), 1.0 - bv / lv)))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H with its negative eigenvalues set to zero."""
        ku, kv, cu, cv, _, _, bu, bv = p
        zero = identity_block(0.0 * ku)
        lu, lv = np.maximum(length(F[0]), SMALLEST_DIVISOR), np.maximum(length(F[1]), SMALLEST_DIVISOR)
        return ((spring_tangent(F[0], lu, _side(F[0], bu, ku, cu), np.maximum(0.0, 1.0 - bu / lu)), zero),
                (zero, spring_tangent(F[1], lv, _side(F[1], bv, kv, cv), np.maximum(0.0, 1.0 - bv / lv))))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the conditions |w_u| - b_u and |w_v| - b_v, with the stiffness times the relative tau."""
        ku, kv, cu, cv, tk, tc, bu, bv = p
        still = (0.0 * ku, 0.0 * ku, 0.0 * ku)
        return ((_side(F[0], bu, tk * ku, tc * cu), (direction(F[0]), still)),
                (_side(F[1], bv, tk * kv, tc * cv), (still, direction(F[1]))))

    def tangent_bounds(self, p: Parameters) -> tuple[FloatArray, ...]:
        """Return omega_c of the constant matrix: every projected tangent is at most the larger stiffness."""
        return (np.maximum(p[0], p[2]), np.maximum(p[1], p[3]))


def _side(column: Vector, rest: FloatArray, tension: FloatArray, compression: FloatArray) -> FloatArray:
    """Return the stiffness on the side of `rest` on which the length of the column is."""
    return either(length(column) < rest, compression, tension)
