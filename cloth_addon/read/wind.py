# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields of type Wind as the velocity of the air.

A field blows along its object's Z axis with a velocity of `strength` [m/s], and falls off with the distance as in
Blender; core/description/wind_fields.py has the equations. The falloff Cone counts as Sphere, and the shapes Line,
Surface and Points count as Point. Noise, flow and absorption are ignored, and so are fields of other types:
`notes_on_ignored` names them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from .frame_window import LARGEST_COORDINATE, FrameWindow, evaluated_object, vector_text
from .scene_loads import LARGEST_LOAD

FloatArray = NDArray[np.float64]
SAMPLE_NAME = ""
"""Name of the fields' numbers in the frame window. No object has it."""
IGNORED_BY_BLENDER = ("NONE", "BOID", "GUIDE")
"""Types of fields that do not move cloth in Blender either."""
CHORD_TOLERANCE = 0.05
"""Largest error of a field's velocity between two samples, over its strength [-]."""
Falloff = tuple[float, float, float]
"""Power [-], minimum and maximum distance [m]."""


def wind_objects(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """Return the scene's wind fields that are switched on, sorted by name."""
    return [obj for obj in _fields(scene, view_layer) if obj.field.type == "WIND"]


def wind_fields(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return all wind fields of the scene, switched on or not."""
    return [obj for obj in scene.objects if obj.field is not None and obj.field.type == "WIND"]


def notes_on_ignored(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Return notes that name force fields, and noise of wind fields, that are switched on and ignored."""
    notes = []
    for obj in _fields(scene, view_layer):
        listed: Any = obj.field.bl_rna.properties["type"]
        kind = listed.enum_items[obj.field.type].name
        if obj.field.type != "WIND":
            notes.append(f"The force field '{obj.name}' ({kind}) is left out: of force fields only Wind moves cloth")
        elif obj.field.noise > 0.0:
            notes.append(f"The noise of the wind field '{obj.name}' is left out: it blows steadily")
    return notes


def _fields(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """Return the fields that are switched on and would move cloth in Blender, sorted by name."""
    found = [obj for obj in scene.objects if obj.field is not None and obj.field.type not in IGNORED_BY_BLENDER
             and obj.evaluated_get(view_layer.depsgraph).is_evaluated]
    return sorted(found, key=lambda obj: obj.name)


def samples(objects: list[bpy.types.Object], view_layer: bpy.types.ViewLayer, unit: float
            ) -> dict[str, Callable[[], FloatArray]]:
    """Return the sample for the frame window, if there are fields: an array (n, 15) at the scene's frame.

    A row has the numbers of one field that `core.WindFields` takes.
    """
    if not objects:
        return {}
    return {SAMPLE_NAME: lambda: np.array([_checked(_row(evaluated_object(obj, view_layer), unit), obj, view_layer)
                                           for obj in objects])}


def air_velocity(window: FrameWindow, uniform: tuple[float, float, float] | core.Trajectory) -> core.WindFields:
    """Return the velocity of the air: the uniform wind (3,) [m/s] and the fields of `window`."""
    return core.WindFields(uniform, window.trajectory(SAMPLE_NAME))


def chord_error(start: FloatArray, middle: FloatArray, end: FloatArray) -> float:
    """Return the error of linear interpolation in the middle, of the fields' velocities, over the tolerance.

    `start`, `middle` and `end` are samples of the fields (n, 15).
    """
    at_start, at_middle, at_end = (rows[:, 6:7] * rows[:, 3:6] for rows in (start, middle, end))
    strength = np.maximum(np.abs(start[:, 6]), np.abs(end[:, 6]))
    error = np.linalg.norm(at_middle - 0.5 * (at_start + at_end), axis=1)
    return float((error / np.maximum(CHORD_TOLERANCE * strength, np.finfo(float).tiny)).max())


def _checked(row: list[float], obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> list[float]:
    """Return the row of a field. Raise SceneError if its location or strength is no number or too large."""
    location, strength = row[:3], row[6]
    if not (np.abs(location) <= LARGEST_COORDINATE).all() or not abs(strength) <= LARGEST_LOAD:     # nan fails too
        scene: Any = view_layer.id_data
        raise core.SceneError(f"is a wind field of strength {strength:g} at {vector_text(location)} m at frame "
                              f"{scene.frame_current}, which is no number or above {LARGEST_LOAD:g} and "
                              f"{LARGEST_COORDINATE:g}; correct strength and location, with their keys and "
                              "constraints", object_name=obj.name)
    return row


def _row(obj: bpy.types.Object, unit: float) -> list[float]:
    """Return the row of an evaluated field object, see `samples`."""
    field = obj.field
    matrix = np.array(obj.matrix_world, np.float64)
    axis = matrix[:3, 2] / max(np.linalg.norm(matrix[:3, 2]), np.finfo(float).tiny)
    tube, flat = field.falloff_type == "TUBE", field.shape == "PLANE"
    along = {"BOTH": 0.0, "POSITIVE": 1.0, "NEGATIVE": -1.0}[field.z_direction]
    return [*(matrix[:3, 3] * unit), *axis, float(field.strength), 2.0 if tube else 1.0 if flat else 0.0, along,
            *_falloff(field.falloff_power, field.use_min_distance, field.distance_min, field.use_max_distance,
                      field.distance_max, unit),
            *_falloff(field.radial_falloff, field.use_radial_min, field.radial_min, field.use_radial_max,
                      field.radial_max, unit)]


def _falloff(power: float, has_minimum: bool, minimum: float, has_maximum: bool, maximum: float, unit: float
             ) -> Falloff:
    return float(power), minimum * unit if has_minimum else 0.0, maximum * unit if has_maximum else np.inf
