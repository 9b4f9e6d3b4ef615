# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact shape of a clamped strip under its weight or a load at its tip. Used by bending_study.py.

With s in 0..1 along the strip and theta the downward slope: theta'' = -load(s) cos(theta), theta(0) = 0, theta'(1) = 0.
The load is gamma (1 - s) for the weight, gamma = sigma g L^3 / B, and alpha for a dead load at the tip, alpha = P L^2 /
(B b). Solved by shooting on theta'(0) for many values at once, with the classical Runge-Kutta method.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.arrays import FloatArray

STEPS, STARTS = 240, 64
"""Number of Runge-Kutta steps, and of values of theta'(0) at once."""


def heavy(gamma: float) -> tuple[float, float]:
    """Return reach W and drop H of the tip over the length [-], under the strip's weight."""
    return _shoot(lambda s: gamma * (1.0 - s), gamma)


def tip_loaded(alpha: float) -> tuple[float, float]:
    """Return reach W and drop H of the tip over the length [-], under a load at the tip."""
    return _shoot(lambda s: alpha, alpha)


def _shoot(load: Callable[[float], float], size: float) -> tuple[float, float]:
    """Return W and H for a load of at most `size`."""
    low, high = 0.0, size                                       # theta'(0) is the moment of the load: at most size * 1
    for _ in range(9):
        starts = np.linspace(low, high, STARTS)
        below = int(np.flatnonzero(_integrate(load, starts)[1] < 0.0)[-1])        # the last root is the stable shape
        low, high = starts[below], starts[min(below + 1, STARTS - 1)]
    end = _integrate(load, np.array([0.5 * (low + high)]))
    return float(end[2, 0]), float(end[3, 0])


def _integrate(load: Callable[[float], float], curvature: FloatArray) -> FloatArray:
    """Return theta, theta', W and H (4, n) at the tip for each curvature at the clamp (n,)."""
    y, h = np.zeros((4, len(curvature))), 1.0 / STEPS
    y[1] = curvature

    def rate(s: float, y: FloatArray) -> FloatArray:
        cosine = np.cos(y[0])
        return np.stack([y[1], -load(s) * cosine, cosine, np.sin(y[0])])

    for i in range(STEPS):
        s = i * h
        a = rate(s, y)
        b = rate(s + 0.5 * h, y + 0.5 * h * a)
        c = rate(s + 0.5 * h, y + 0.5 * h * b)
        y = y + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(s + h, y + h * c))
    return y
