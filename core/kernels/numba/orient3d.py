# SPDX-License-Identifier: GPL-3.0-or-later
"""Signs of volumes and areas with their rounding errors, to exclude edges that cannot pierce a triangle.

`contact.crossings` decides exactly; here a pair is excluded only if the signs that exclude it are beyond rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import IntArray
from ..formulas import orient3d as formulas
from ..formulas.orient3d import UNSURE, VOLUME_ROUNDING, side
from ..numpy.vectors import Vector
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .plain_functions import register

register(formulas, INLINED)


def sides(a: Vector, b: Vector, c: Vector, d: Vector) -> IntArray:
    """Return the side (P,) of (a, b, c) on which d lies: 1 in front, -1 behind, 0 in the plane, or `UNSURE`."""
    signs = np.empty(len(a[0]), dtype=np.int64)
    _sides(a, b, c, d, signs)
    return signs


@njit(**KERNEL)
def _sides(a: Any, b: Any, c: Any, d: Any, signs: Any) -> None:
    """Write the sides to `signs` (P,); a, b, c, d: components (P,) [m]."""
    for k in range(len(signs)):
        signs[k] = side((a[0][k], a[1][k], a[2][k]), (b[0][k], b[1][k], b[2][k]), (c[0][k], c[1][k], c[2][k]),
                        (d[0][k], d[1][k], d[2][k]))


@njit(**INNER)
def apart(p: Any, q: Any, a: Any, b: Any, c: Any) -> Any:
    """Return whether the edge (p, q) is known not to pierce the triangle (a, b, c), beyond rounding.

    All arguments are positions as components [m].
    """
    of_p, of_q = side(a, b, c, p), side(a, b, c, q)
    if of_p != UNSURE and of_q != UNSURE and (of_p >= 0) == (of_q >= 0):
        return True
    ab, bc, ca = side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)
    if (ab == 1 or bc == 1 or ca == 1) and (ab == -1 or bc == -1 or ca == -1):
        return True
    if ab == 0 and bc == 0 and ca == 0:
        return True
    if ab == UNSURE or bc == UNSURE or ca == UNSURE:                # all in one plane, perhaps, but side by side
        for axis in range(3):
            if _side_by_side(axis, p, q, a, b, c):
                return True
    return False


@njit(**INNER)
def _side_by_side(axis: Any, p: Any, q: Any, a: Any, b: Any, c: Any) -> Any:
    """Return whether a line separates the projections of edge and triangle along an axis, beyond rounding.

    The lines tried are the edge and the sides of the triangle. axis: 0, 1 or 2. p, q, a, b, c: components [m].
    """
    of_a, of_b, of_c = _turn(axis, p, q, a), _turn(axis, p, q, b), _turn(axis, p, q, c)
    if of_a == of_b == of_c and abs(of_a) == 1:
        return True
    for corner in range(3):
        one, two, other = (a, b, c) if corner == 0 else ((b, c, a) if corner == 1 else (c, a, b))
        inner, of_p, of_q = _turn(axis, one, two, other), _turn(axis, one, two, p), _turn(axis, one, two, q)
        if abs(inner) == 1 and of_p == -inner and of_q == -inner:
            return True
    return False


@njit(**INLINED)
def _turn(axis: Any, a: Any, b: Any, c: Any) -> Any:
    """Return the sign of the area of (a, b, c), projected along a coordinate axis, or `UNSURE`; components [m]."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    one, two = (b[i] - a[i]) * (c[j] - a[j]), (b[j] - a[j]) * (c[i] - a[i])
    if abs(one - two) <= VOLUME_ROUNDING * (abs(one) + abs(two)):
        return UNSURE
    return 1 if one - two > 0.0 else -1
