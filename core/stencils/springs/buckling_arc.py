# SPDX-License-Identifier: GPL-3.0-or-later
"""Links that buckle at once into a circular arc of constant length: type 2 of the immediate buckling model (002).

Link (i, j): d = x_j - x_i of rest length L [m], r = |d| / L, bending stiffness k_b [N m^2], and c_b [N/m].

    curvature   kappa = 2/L sinc^-1(r)                                             [1/m]
    energy      E   = k_b L kappa^2 / 2 = 2 k_b s^2 / L,   s = sinc^-1(r)          [J]
    force       f_b = dE/d|d|, from -12 k_b / L^2 at r = 1 to -4 pi^2 k_b / L^2 at r = 0   [N]
    taken       f*  = max(f_b, c_b (|d| - L)) where |d| < L, nothing where it is longer
    stiffness   H   = f*' u u^T + f*/|d| (I - u u^T)                               [N/m]

Choi and Ko 2002, "Stable but responsive cloth". f_b begins with a jump, the load at which a column buckles, and c_b
bridges it: it is the stiffness of the link before it gives way. E is the energy of f*, and H its derivative. With
f*' > 0 and f* < 0, it is the part across that makes H indefinite, and the projected tangent has the part along alone.
That is 002's reduction: forces across a compressed link are then integrated explicitly.

Everything is a smooth function of y = 1 - r, also at y = 0, when written in t = s^2: S(t) = sinc(sqrt t) is a power
series, t(y) its inverse, found by two Newton steps from a polynomial that is 1e-4 off.
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
"""Coefficients of (1 - S(t)) / t, highest power first: 1e-17 of it are missing at t = pi^2."""
SHORTENING_SLOPE = tuple(-k * (-1.0) ** k / factorial(2 * k + 1) for k in range(15, 0, -1))
SHORTENING_SECOND = tuple(-k * (k - 1) * (-1.0) ** k / factorial(2 * k + 1) for k in range(15, 1, -1))
INVERSE_START = (7.91567, -25.0735, 33.4828, -23.0732, 9.24233, -1.43162, 1.01428, 1.79265, 6.00005)
"""Coefficients of t(y) / y, by interpolation in 9 Chebyshev points."""
LEAST_HOLD = 12.0
"""Least c_b [4 k_b / L^3]: below pi^2 a link would be softer before it gives way than after."""


def arc_parameters(stiffness: FloatArray, rest: FloatArray, hold: FloatArray) -> Parameters:
    """Parameters of links.

    Args:
        stiffness: k_b (E,) [N m^2]; rest: L (E,) [m]; hold: c_b (E,) [N/m], raised where a link would buckle before it
            has any load.
    """
    a = 2.0 * stiffness / rest
    hold = np.maximum(hold, LEAST_HOLD * 2.0 * a / rest ** 2)
    low, high = np.zeros_like(rest), np.ones_like(rest)
    for _ in range(60):                                             # f_b(y) meets the straight line once
        y = 0.5 * (low + high)
        holds = hold * rest ** 2 * y < a * _slope(_inverse(y))
        low, high = np.where(holds, y, low), np.where(holds, high, y)
    y = 0.5 * (low + high)
    return (a, rest, hold, y, 0.5 * hold * (rest * y) ** 2 - a * _inverse(y))


class BucklingArc:
    """Parameters: 2 k_b / L [J], L [m], c_b [N/m], y where the link gives way [-], energy up to there [J]."""

    name = "arc"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"bend": (0, 2, 4)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """psi (E,) [J]."""
        a, rest, hold, gives, offset = p
        y = _shortening(F, rest)
        return either(y < gives, 0.5 * hold * (rest * y) ** 2, offset + a * _inverse(y))

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """f* u."""
        return (scale(_pull(_shortening(F, p[1]), p), direction(F[0])),)

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Exact; indefinite under compression."""
        y = _shortening(F, p[1])
        u = direction(F[0])
        across = _pull(y, p) / np.maximum(length(F[0]), SMALLEST_DIVISOR)
        return ((add_blocks(outer(_stiffness(y, p) - across, u, u), identity_block(across)),),)

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """f*' u u^T: without the part across."""
        u = direction(F[0])
        return ((outer(_stiffness(_shortening(F, p[1]), p), u, u),),)

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """|d|, with the stiffness f*'."""
        return ((_stiffness(_shortening(F, p[1]), p), (direction(F[0]),)),)


def _shortening(F: Columns, rest: FloatArray) -> FloatArray:
    return np.maximum(1.0 - length(F[0]) / rest, 0.0)


def _pull(y: FloatArray, p: Parameters) -> FloatArray:
    """f* [N], 0 or less."""
    a, rest, hold, gives, _ = p
    return -either(y < gives, hold * rest * y, a / rest * _slope(_inverse(y)))


def _stiffness(y: FloatArray, p: Parameters) -> FloatArray:
    """df*/d|d| [N/m]; 0 where the link is not compressed."""
    a, rest, hold, gives, _ = p
    t = _inverse(y)
    slope = _slope(t)
    given = -a / (rest * rest) * _polynomial(SHORTENING_SECOND, t) * slope * slope * slope
    return (y > 0.0) * either(y < gives, hold, given)


def _inverse(y: FloatArray) -> FloatArray:
    """t with S(t) = 1 - y, 0 <= y <= 1."""
    t = y * _polynomial(INVERSE_START, y)
    t = t - (t * _polynomial(SHORTENING, t) - y) / _polynomial(SHORTENING_SLOPE, t)
    return t - (t * _polynomial(SHORTENING, t) - y) / _polynomial(SHORTENING_SLOPE, t)


def _slope(t: FloatArray) -> FloatArray:
    """dt/dy."""
    return 1.0 / _polynomial(SHORTENING_SLOPE, t)


def _polynomial(coefficients: tuple[float, ...], t: FloatArray) -> FloatArray:
    total = 0.0 * t
    for c in coefficients:
        total = total * t + c
    return total
