# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments and triangles."""

from __future__ import annotations

from ...arrays import BoolArray
from .vectors import Vector, cross, dot, subtract


def meets(start: Vector, end: Vector, a: Vector, b: Vector, c: Vector) -> BoolArray:
    """Return whether the segment from `start` to `end` meets the triangle (a, b, c) [m], its border included.

    The volumes that the segment spans with the three sides have one sign, and the ends are on different sides of the
    triangle's plane. A segment in the plane does not meet it.
    """
    way, p, q, r = subtract(end, start), subtract(a, start), subtract(b, start), subtract(c, start)
    u, v, w = dot(way, cross(p, q)), dot(way, cross(q, r)), dot(way, cross(r, p))
    around = (u >= 0.0) & (v >= 0.0) & (w >= 0.0) | (u <= 0.0) & (v <= 0.0) & (w <= 0.0)
    n = cross(subtract(b, a), subtract(c, a))
    height, fall = dot(p, n), dot(way, n)
    return around & (fall != 0.0) & (height * fall >= 0.0) & (height * height <= height * fall)
