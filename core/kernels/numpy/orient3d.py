# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs of volumes of tetrahedra, as far as rounding permits; `contact.crossings` decides the others exactly."""

from __future__ import annotations

from ...arrays import IntArray
from ..formulas.orient3d import side
from .vectors import Vector


def sides(a: Vector, b: Vector, c: Vector, d: Vector) -> IntArray:
    """Return the side (P,) of (a, b, c) on which d lies: 1 in front, -1 behind, 0 in the plane, or `UNSURE`."""
    signs: IntArray = side(a, b, c, d)
    return signs
