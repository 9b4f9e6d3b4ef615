# SPDX-License-Identifier: GPL-3.0-or-later
"""How triangles that move and turn take along what is near them."""

from __future__ import annotations

from ..arrays import FloatArray, IntArray
from ..kernels.reference.vectors import Vector, add, cross, dot, join, scale, select, split, subtract, take, unit
from .colliders import MovingSurface


def carried(surface: MovingSurface, triangle: IntArray, offset: FloatArray) -> FloatArray:
    """Offsets (P, 3) [m] at the start of the step, turned along with the triangles (P,) to its end."""
    if surface.x_t0 is surface.x_t1:
        return offset
    corners = surface.shape.triangles[triangle]
    u0, n0, w0 = _frame(surface.x_t0, corners)
    u1, n1, w1 = _frame(surface.x_t1, corners)
    d = split(offset)
    turned = add(add(scale(dot(d, u0), u1), scale(dot(d, n0), n1)), scale(dot(d, w0), w1))
    usable = (dot(n0, n0) > 0.0) & (dot(n1, n1) > 0.0)
    return join(select(usable, turned, d))


def _frame(positions: FloatArray, corners: IntArray) -> tuple[Vector, Vector, Vector]:
    """Edge direction, normal and their cross product of triangles (P, 3); the normal of a flat one is 0."""
    a, b, c = (take(positions, corners[:, k]) for k in range(3))
    along = unit(subtract(b, a))
    normal = unit(cross(along, subtract(c, a)))
    return along, normal, cross(normal, along)
