# SPDX-License-Identifier: GPL-3.0-or-later
"""Gram-Schmidt orthogonalisation of the directions in which constraints prescribe a particle's velocity.

Vectors are tuples of components, arrays (n,) or plain numbers.
"""

from __future__ import annotations

from ...arrays import FloatArray
from .vectors import Vector, add, dot, scale, subtract


def subtract_projection(rest: Vector, direction: Vector, taken: Vector) -> Vector:
    """Return rest - (taken . direction) taken, for a unit vector `taken`."""
    return subtract(rest, scale(dot(taken, direction), taken))


def prescribe_along(z: Vector, direction: Vector, change: FloatArray, new: Vector, size: FloatArray) -> Vector:
    """Return the velocity z [m/s], moved along `new` so that direction . z is `change` [m/s].

    new: unit vector of the part of `direction` that earlier directions leave free. size: length of that part [-].
    """
    return add(z, scale((change - dot(direction, z)) / size, new))
