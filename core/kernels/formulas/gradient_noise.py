# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradient noise with a period of 256, and turbulence of three octaves of it.

The noise at a point between whole numbers (i, j, k) interpolates the linear functions g . (p - corner) of the eight
corners around it, with weights that are smooth to the second derivative (Perlin 2002). The gradient of a corner is row
(P[(T[i] + j) mod 256] + k) mod 256 of g. At whole numbers the noise is 0 and its gradient is g.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .vectors import Vector, whole

Table = tuple[IntArray, IntArray, FloatArray]
"""T (256,), P (256,) and g (256, 3)."""


def turbulence(table: Table, p: Vector) -> Vector:
    """Return three numbers in -1..1 at points p: noise at p, and at p with its axes shifted by one and by two."""
    p = wrapped(p[0]), wrapped(p[1]), wrapped(p[2])
    a, b, c = 0.0 * p[0], 0.0 * p[0], 0.0 * p[0]
    frequency, amplitude = 1.0, 4.0 / 7.0
    for _ in range(3):
        x, y, z = frequency * p[0], frequency * p[1], frequency * p[2]
        i, j, k = whole(x), whole(y), whole(z)
        fx, fy, fz = x - i, y - j, z - k
        u, v, w = fade(fx), fade(fy), fade(fz)
        a = a + amplitude * noise_in_cell(table, i, j, k, fx, fy, fz, u, v, w)
        b = b + amplitude * noise_in_cell(table, j, k, i, fy, fz, fx, v, w, u)
        c = c + amplitude * noise_in_cell(table, k, i, j, fz, fx, fy, w, u, v)
        frequency, amplitude = 2.0 * frequency, 0.5 * amplitude
    return a, b, c


def wrapped(x: Any) -> Any:
    """Return x less a multiple of the period, in 0..256: exact, and small enough for whole numbers."""
    return x - 256.0 * np.floor(x * 0.00390625)


def fade(t: Any) -> Any:
    """Return the weight of the second of two neighbours at t in 0..1."""
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


def noise_in_cell(table: Table, i: Any, j: Any, k: Any, fx: Any, fy: Any, fz: Any, u: Any, v: Any, w: Any) -> Any:
    """Return the noise in cell (i, j, k) at fx, fy, fz in 0..1, whose weights are u, v, w."""
    T, P, _ = table
    a, b = T[i & 255] + j, T[(i + 1) & 255] + j
    aa, ab = P[a & 255] + k, P[(a + 1) & 255] + k
    ba, bb = P[b & 255] + k, P[(b + 1) & 255] + k
    gx, gy, gz = fx - 1.0, fy - 1.0, fz - 1.0
    near = between(v, between(u, corner(table, aa, fx, fy, fz), corner(table, ba, gx, fy, fz)),
                   between(u, corner(table, ab, fx, gy, fz), corner(table, bb, gx, gy, fz)))
    far = between(v, between(u, corner(table, aa + 1, fx, fy, gz), corner(table, ba + 1, gx, fy, gz)),
                  between(u, corner(table, ab + 1, fx, gy, gz), corner(table, bb + 1, gx, gy, gz)))
    return between(w, near, far)


def corner(table: Table, row: Any, fx: Any, fy: Any, fz: Any) -> Any:
    """Return g . f of a row of g, taken modulo 256."""
    g, m = table[2], row & 255
    return g[m, 0] * fx + g[m, 1] * fy + g[m, 2] * fz


def between(t: Any, a: Any, b: Any) -> Any:
    """Return a + t (b - a)."""
    return a + t * (b - a)
