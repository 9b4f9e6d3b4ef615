# SPDX-License-Identifier: GPL-3.0-or-later
"""Area vectors of triangles, and how the volume's gradient changes.

N = 1/2 (b - a) x (c - a) [m^2] is the area of the triangle (a, b, c) times its normal. A third of the area vectors
around a vertex is the gradient of the volume there. Where each half-edge from i to j has a twin in the opposite
direction, whose triangles have the opposite vertices k and l, that gradient changes by

    sum_half-edges (x_l - x_k) / 6 x (u_j - u_i)

with displacements u. Vectors are tuples of components, arrays (T,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

from .vectors import Vector, cross, dot, scale, subtract


def area_vector(a: Vector, b: Vector, c: Vector) -> Vector:
    """Return N [m^2] of the triangle (a, b, c) [m]."""
    double = cross(subtract(b, a), subtract(c, a))
    return 0.5 * double[0], 0.5 * double[1], 0.5 * double[2]


def cone_volume(origin: Vector, corner: Vector, N: Vector) -> Any:
    """Return the volume [m^3] of the cone from `origin` to a triangle with a `corner` and the area vector N."""
    return dot(N, subtract(corner, origin)) / 3.0


def across(factor: Any, first: Vector, second: Vector) -> Vector:
    """Return `factor` (second - first) / 6 of a half-edge, with its opposite vertices."""
    return scale(factor / 6.0, subtract(second, first))


def gradient_change(vector: Vector, start: Vector, end: Vector) -> Vector:
    """Return the part of a half-edge whose ends move by `start` and `end`; vector: of `across`."""
    return cross(vector, subtract(end, start))
