# SPDX-License-Identifier: GPL-3.0-or-later
"""Crossings of a ray in direction z and a triangle, with the half-open rule of the winding number.

Points p and corners are positions [m]. Vectors are tuples of components, arrays (P,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

from ...arrays import BoolArray, FloatArray
from .vectors import Vector, cross, dot, select, subtract


def edge_turn(p: Vector, x0: FloatArray, y0: FloatArray, x1: FloatArray, y1: FloatArray) -> Any:
    """Return what the edge from (x0, y0) to (x1, y1) adds to the winding number around p in the plane z = 0.

    1 if it rises past p with p on its left, -1 if it falls past p with p on its right, else 0. An end counts as above p
    if its y is greater, so that only one of two successive edges passes p.
    """
    rising, falling = (y0 <= p[1]) & (y1 > p[1]), (y1 <= p[1]) & (y0 > p[1])
    side = (x1 - x0) * (p[1] - y0) - (p[0] - x0) * (y1 - y0)           # above 0: p is left of the edge
    return select(rising & (side > 0.0), 1, select(falling & (side < 0.0), -1, 0))


def is_above(turns: Any, p: Vector, a: Vector, b: Vector, c: Vector) -> BoolArray:
    """Return whether the triangle (a, b, c), with this winding number around p, is above p in direction z."""
    return turns * dot(cross(subtract(b, a), subtract(c, a)), subtract(p, a)) < 0.0
