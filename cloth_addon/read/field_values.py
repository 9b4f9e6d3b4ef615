# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of a force field of Blender at one frame, as `core.ForceField.values` takes them.

Lengths are in Blender units there and in metres here; strengths have no unit in Blender and are those of the core. Some
settings of Blender are one number under several names: the strength of a field is the *Linear* of a drag, which
Blender multiplies with the square of the speed, and its damping is the *Quadratic*, which it multiplies with the speed.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.number_text import number_text
from .frame_window import LARGEST_COORDINATE, evaluated_object, vector_text

FloatArray = NDArray[np.float64]
LARGEST_STRENGTH = 1e5
"""Largest valid strength of a field [m/s for wind, N/m^2 for others]: a larger one would need steps that are too
short."""
DIRECTION_TOLERANCE = 0.05
"""Largest error between two samples of a field's strength and direction, over its strength [-]."""
LOCATION_TOLERANCE = 0.05
"""Largest error of a field's location between two samples [m]. The strength falls off over metres."""
AXES = ("xx", "xy", "xz", "x", "yx", "yy", "yz", "y", "zx", "zy", "zz", "z")
"""Names of the numbers of a matrix, row by row."""


def places_of(*names: str) -> list[int]:
    """Return the places of numbers, as `core.field_values` names them, in the array of a field."""
    return [int(np.argmax(core.field_values(**{name: -1.0}) == -1.0)) for name in names]


LOCATION, AXIS, STRENGTH = places_of("x", "y", "z"), places_of("xz", "yz", "zz"), places_of("strength")[0]


class FieldValues:
    """The numbers of one field object at the scene's frame.

    Args:
        obj: the field.
        view_layer: with the dependency graph that evaluates it.
        unit: length of one Blender unit [m].
    """

    def __init__(self, obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, unit: float) -> None:
        self._obj, self._view_layer, self._unit = obj, view_layer, unit

    def __call__(self) -> FloatArray:
        """Return the numbers (n,).

        Raises:
            core.SceneError: location or strength is no number or too large.
        """
        evaluated = evaluated_object(self._obj, self._view_layer)
        field, unit = evaluated.field, self._unit
        matrix = np.array(evaluated.matrix_world, np.float64)
        matrix[:3, 3] *= unit
        self._check(matrix, float(field.strength))
        cone = field.falloff_type == "CONE"
        return core.field_values(
            **dict(zip(AXES, matrix[:3].ravel().tolist(), strict=True)),
            influence=float(field.apply_to_location), strength=field.strength, flow=field.flow,
            wind_factor=field.wind_factor, noise=field.noise,
            power=field.falloff_power, minimum=field.distance_min * unit if field.use_min_distance else 0.0,
            maximum=field.distance_max * unit if field.use_max_distance else np.inf,
            radial_power=field.radial_falloff,
            radial_minimum=field.radial_min * (1.0 if cone else unit) if field.use_radial_min else 0.0,
            radial_maximum=field.radial_max * (1.0 if cone else unit) if field.use_radial_max else np.inf,
            size=field.size * unit, rest_length=field.rest_length * unit, damping=field.harmonic_damping,
            linear_drag=field.quadratic_drag, quadratic_drag=field.linear_drag)

    def _check(self, matrix: FloatArray, strength: float) -> None:
        if not (np.abs(matrix[:3]) <= LARGEST_COORDINATE).all() or not abs(strength) <= LARGEST_STRENGTH:  # nan, too
            scene: Any = self._view_layer.id_data
            raise core.SceneError(f"is a force field of strength {number_text(strength)} at "
                                  f"{vector_text(matrix[:3, 3])} m at frame {scene.frame_current}, which is no number "
                                  f"or above {number_text(LARGEST_STRENGTH)} and {number_text(LARGEST_COORDINATE)}; "
                                  "correct strength, location and scale, with their keys and "
                                  "constraints", object_name=self._obj.name)


def chord_error(start: FloatArray, middle: FloatArray, end: FloatArray) -> float:
    """Return the error of linear interpolation in the middle of two samples, over the tolerances.

    `start`, `middle` and `end` are numbers of one field (n,).
    """
    at_start, at_middle, at_end = (row[STRENGTH] * _unit(row[AXIS]) for row in (start, middle, end))
    strength = max(abs(start[STRENGTH]), abs(end[STRENGTH]), np.finfo(float).tiny)
    turned = np.linalg.norm(at_middle - 0.5 * (at_start + at_end)) / (DIRECTION_TOLERANCE * strength)
    moved = np.linalg.norm(middle[LOCATION] - 0.5 * (start[LOCATION] + end[LOCATION])) / LOCATION_TOLERANCE
    return float(max(turned, moved))


def _unit(vector: FloatArray) -> FloatArray:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 0.0 else vector
