# SPDX-License-Identifier: GPL-3.0-or-later
"""Points and offsets that move and turn with a triangle.

Vectors are tuples of components, arrays (P,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

from .vectors import Vector, add, cross, dot, scale, select_vector, subtract, unit


def barycentric_point(weights: Vector, a: Vector, b: Vector, c: Vector) -> Vector:
    """Return the point of the triangle (a, b, c) [m] with these barycentric weights."""
    return add(add(scale(weights[0], a), scale(weights[1], b)), scale(weights[2], c))


def triangle_frame(a: Vector, b: Vector, c: Vector) -> Any:
    """Return three orthonormal vectors of the triangle (a, b, c) [m]: along (a, b), its normal, and normal x along.

    The normal and the product are 0 for a triangle without area.
    """
    along = unit(subtract(b, a))
    normal = unit(cross(along, subtract(c, a)))
    return along, normal, cross(normal, along)


def turn_with_frame(d: Vector, start: Any, end: Any) -> Vector:
    """Return the offset d [m] turned from the frame `start` to the frame `end`; d if either has no normal."""
    (u0, n0, w0), (u1, n1, w1) = start, end
    turned = add(add(scale(dot(d, u0), u1), scale(dot(d, n0), n1)), scale(dot(d, w0), w1))
    return select_vector((dot(n0, n0) == 0.0) | (dot(n1, n1) == 0.0), d, turned)
