# SPDX-License-Identifier: GPL-3.0-or-later
"""Air that blows from objects, as Blender's force fields of type Wind do.

The velocity of the air at x is the uniform wind u and the sum over the fields,

    v(x) = u + sum_i f_i(x) s_i n_i                                                     [m/s]

with the strength s_i [m/s] and the direction n_i of field i. Its factor f_i falls off with the distance r of x from the
field at c_i, and ends beyond the maximum distance:

    f = (1 + max(r - r_min, 0))^-p   for r <= r_max,   0 otherwise                      [-]

The shape says what r is: sphere, r = |x - c|; plane, the height r = |h| over the object's plane, h = (x - c) . n; tube,
the same height times a second factor, of which r = |x - c - h n| is the radius. A field of one direction of Z has f = 0
where h has the other sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import FloatArray
from ..errors import SceneError
from .motion import Trajectory
from .wind import vector


class WindFields:
    """The wind of a scene that has fields: a function of time [s] and positions (V, 3) [m] -> velocities (V, 3) [m/s].

    Args:
        uniform: wind u of the whole scene (3,) [m/s], or a Trajectory of it.
        fields: time [s] -> rows (n, 15), one for each field: location c (3) [m], direction n (3), strength s [m/s],
            shape (0 sphere, 1 plane, 2 tube), sign of h where it blows (0 for both), p, r_min [m] and r_max [m] of the
            distance, and the same three of a tube's radius.
    """

    def __init__(self, uniform: Any, fields: Trajectory) -> None:
        self.uniform: FloatArray | Trajectory = uniform if isinstance(uniform, Trajectory) else vector(uniform, "wind")
        if not isinstance(fields, Trajectory):
            raise SceneError(f"the fields of the wind are {fields!r}, they must be a Trajectory of rows (n, 15)")
        self.fields = fields

    def __call__(self, time: float, x: FloatArray) -> FloatArray:
        """Return the velocity of the air (V, 3) [m/s] at `time` [s] and positions x (V, 3) [m]."""
        total: FloatArray = np.tile(self._uniform_at(time), (len(x), 1))
        for row in self.fields(time):
            total += _strength_factor(row, x)[:, None] * (row[6] * row[3:6])
        return total

    def _uniform_at(self, time: float) -> FloatArray:
        if isinstance(self.uniform, Trajectory):
            return vector(self.uniform(time), f"wind at {time:.4f} s")
        return self.uniform


def _strength_factor(row: FloatArray, x: FloatArray) -> FloatArray:
    """Return the factor f (V,) on the strength of a field at positions x (V, 3) [m]."""
    offset = x - row[:3]
    height = offset @ row[3:6]
    shape, along = row[7], row[8]
    factor = _falloff_factor(np.abs(height) if shape else np.linalg.norm(offset, axis=1), row[9:12])
    if shape == 2.0:
        radius = np.linalg.norm(offset - height[:, None] * row[3:6], axis=1)
        factor = factor * _falloff_factor(radius, row[12:15])
    return np.where(along * height < 0.0, 0.0, factor)


def _falloff_factor(distance: FloatArray, falloff: FloatArray) -> FloatArray:
    """Return (1 + r - r_min)^-p for each distance r (V,) [m], and 0 beyond the maximum."""
    power, minimum, maximum = falloff
    factor: FloatArray = (1.0 + np.maximum(distance - minimum, 0.0)) ** -power
    return np.where(distance > maximum, 0.0, factor)
