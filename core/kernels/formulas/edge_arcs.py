# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the change of an edge from the tangent, along which a linear step moves it, to the arc of its rotation.

The theory is in `core/model/arc_ends.py`.

Vectors are tuples of components, arrays (E,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

from .rotation import rotation_matrix
from .vectors import Vector, divide, dot, maximum, minimum, scale


def back_to_the_arc(start: Vector, turn: Any, end: Vector, least: float) -> Vector:
    """Return (cos phi - 1) e for an edge e = `end`, with phi the angle between it and its turned `start`.

    Args:
        start: the edge at the start of the step [m].
        turn: quaternion (w, x, y, z) of its expected rotation, of any length but zero.
        end: the edge at the end of the solve [m].
        least: smallest cosine that is taken [-].
    """
    R = rotation_matrix(turn)
    n = dot(R[0], start), dot(R[1], start), dot(R[2], start)
    cosine = divide(dot(n, end), (dot(n, n) * dot(end, end)) ** 0.5)
    return scale(minimum(maximum(cosine, least), 1.0) - 1.0, end)
