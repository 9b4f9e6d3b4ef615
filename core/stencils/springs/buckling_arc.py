# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that buckle at once into a circular arc of constant length: type 2 of the immediate buckling model (002).

Edge (i, j): d = x_j - x_i, rest length L [m], r = |d| / L, bending stiffness k_b [N m^2], hold stiffness c_b [N/m].

    curvature   kappa = 2/L sinc^-1(r)                                             [1/m]
    energy      E   = k_b L kappa^2 / 2 = 2 k_b s^2 / L,   s = sinc^-1(r)          [J]
    force       f_b = dE/d|d|, from -12 k_b / L^2 at r = 1 to -4 pi^2 k_b / L^2 at r = 0   [N]
    applied     f*  = max(f_b, c_b (|d| - L)) where |d| < L, 0 where it is longer  [N]
    stiffness   H   = f*' u u^T + f*/|d| (I - u u^T)                               [N/m]

Choi and Ko 2002, "Stable but responsive cloth". f_b starts with a jump, the load at which a column buckles. The linear
force c_b (|d| - L) bridges the jump: c_b is the stiffness of the edge before it buckles. `energy` is the integral of
f*, and H its derivative. As f*' > 0 and f* < 0, the transverse part makes H indefinite, and the projected tangent keeps
the part along u only. This is the reduction of 002: transverse forces of a compressed edge are integrated explicitly.

All functions are smooth in y = 1 - r, also at y = 0, if they are written in t = s^2. S(t) = sinc(sqrt t) is a power
series. Its inverse t(y) is found by two Newton steps from a polynomial with an error of 1e-4.
"""

from __future__ import annotations

from math import factorial

import numpy as np

from ...arrays import FloatArray
from ..component_algebra import (
    SMALLEST_DIVISOR,
    Columns,
    add_blocks,
    direction,
    either,
    identity_block,
    length,
    outer,
    scale,
)
from ..stencil import Condition, Parameters, Tangent

SHORTENING = tuple(-(-1.0) ** k / factorial(2 * k + 1) for k in range(15, 0, -1))
"""Coefficients of (1 - S(t)) / t, highest power first. The truncation error is 1e-17 at t = pi^2."""
SHORTENING_SLOPE = tuple(-k * (-1.0) ** k / factorial(2 * k + 1) for k in range(15, 0, -1))
"""Coefficients of the derivative of 1 - S(t), highest power first."""
SHORTENING_SECOND = tuple(-k * (k - 1) * (-1.0) ** k / factorial(2 * k + 1) for k in range(15, 1, -1))
"""Coefficients of the second derivative of 1 - S(t), highest power first."""
INVERSE_START = (7.91567, -25.0735, 33.4828, -23.0732, 9.24233, -1.43162, 1.01428, 1.79265, 6.00005)
"""Coefficients of an approximation of t(y) / y, interpolated in 9 Chebyshev points, highest power first."""
LEAST_HOLD = 12.0
"""Smallest c_b [4 k_b / L^3]. Below pi^2 the edge would be softer before it buckles than after."""


def arc_parameters(stiffness: FloatArray, rest: FloatArray, hold: FloatArray) -> Parameters:
    """Return the parameters of edges.

    Args:
        stiffness: k_b (E,) [N m^2].
        rest: L (E,) [m].
        hold: c_b (E,) [N/m]; raised to LEAST_HOLD where it is below.
    """
    a = 2.0 * stiffness / rest
    hold = np.maximum(hold, LEAST_HOLD * 2.0 * a / rest ** 2)
    low, high = np.zeros_like(rest), np.ones_like(rest)
    for _ in range(60):                                             # f_b(y) intersects the line once
        y = 0.5 * (low + high)
        below = hold * rest ** 2 * y < a * _slope(_inverse(y))
        low, high = np.where(below, y, low), np.where(below, high, y)
    y = 0.5 * (low + high)
    return (a, rest, hold, y, 0.5 * hold * (rest * y) ** 2 - a * _inverse(y))


class BucklingArc:
    """Parameters: 2 k_b / L [J], L [m], c_b [N/m], y at which the edge buckles [-], energy offset of the arc [J]."""

    name = "arc"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"bend": (0, 2, 4)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        a, rest, hold, buckles, offset = p
        y = _shortening(F, rest)
        return either(y < buckles, 0.5 * hold * (rest * y) ** 2, offset + a * _inverse(y))

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P = f* u [N]."""
        return (scale(_pull(_shortening(F, p[1]), p), direction(F[0])),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is indefinite under compression."""
        y = _shortening(F, p[1])
        u = direction(F[0])
        across = _pull(y, p) / np.maximum(length(F[0]), SMALLEST_DIVISOR)
        return ((add_blocks(outer(_stiffness(y, p) - across, u, u), identity_block(across)),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return f*' u u^T, without the transverse part."""
        u = direction(F[0])
        return ((outer(_stiffness(_shortening(F, p[1]), p), u, u),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition |d|, with the stiffness f*'."""
        return ((_stiffness(_shortening(F, p[1]), p), (direction(F[0]),)),)


def _shortening(F: Columns, rest: FloatArray) -> FloatArray:
    """Return y = 1 - |d| / L (E,), zero where the edge is longer than at rest."""
    return np.maximum(1.0 - length(F[0]) / rest, 0.0)


def _pull(y: FloatArray, p: Parameters) -> FloatArray:
    """Return f* (E,) [N], zero or negative."""
    a, rest, hold, buckles, _ = p
    return -either(y < buckles, hold * rest * y, a / rest * _slope(_inverse(y)))


def _stiffness(y: FloatArray, p: Parameters) -> FloatArray:
    """Return df*/d|d| (E,) [N/m]; zero where the edge is not compressed."""
    a, rest, hold, buckles, _ = p
    t = _inverse(y)
    slope = _slope(t)
    buckled = -a / (rest * rest) * _polynomial(SHORTENING_SECOND, t) * slope * slope * slope
    return (y > 0.0) * either(y < buckles, hold, buckled)


def _inverse(y: FloatArray) -> FloatArray:
    """Return t with S(t) = 1 - y, for 0 <= y <= 1."""
    t = y * _polynomial(INVERSE_START, y)
    t = t - (t * _polynomial(SHORTENING, t) - y) / _polynomial(SHORTENING_SLOPE, t)
    return t - (t * _polynomial(SHORTENING, t) - y) / _polynomial(SHORTENING_SLOPE, t)


def _slope(t: FloatArray) -> FloatArray:
    """Return dt/dy."""
    return 1.0 / _polynomial(SHORTENING_SLOPE, t)


def _polynomial(coefficients: tuple[float, ...], t: FloatArray) -> FloatArray:
    """Return the value at t of a polynomial with `coefficients`, highest power first."""
    total = 0.0 * t
    for c in coefficients:
        total = total * t + c
    return total
