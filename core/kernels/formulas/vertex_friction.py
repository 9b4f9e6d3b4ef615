# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of one vertex on a solid, as a force and its derivative.

Unit normal n of the surface, unit slip direction t (0 while the vertex sticks), velocities u of the vertex and s of the
surface [m/s], force f [N] at rest and drag coefficient c [kg/s]. Vectors are tuples of components, arrays (P,) or plain
numbers.
"""

from __future__ import annotations

from ...arrays import FloatArray
from ...stencils.component_algebra import Block, scale_block
from .vectors import Vector, dot, identity, scale, subtract, subtract_outer


def friction_force(n: Vector, t: Vector, u: Vector, s: Vector, f: Vector, c: FloatArray) -> Vector:
    """Return f - c (I - n n^T - t t^T) (u - s) [N]."""
    slide = subtract(u, s)
    across = subtract(subtract(slide, scale(dot(n, slide), n)), scale(dot(t, slide), t))
    return subtract(f, scale(c, across))


def friction_resistance(n: Vector, t: Vector, c: FloatArray) -> Block:
    """Return c (I - n n^T - t t^T) [kg/s], minus the derivative of the force with respect to u."""
    return scale_block(c, subtract_outer(subtract_outer(identity(), n), t))
