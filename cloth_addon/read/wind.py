# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields of type Wind as the air that the cloth feels.

A field blows along its object's Z axis. Its strength is taken as the velocity of the air: 1 is 1 m/s, which falls off
with the distance r from the object as Blender's fields do, by 1 / (1 + r - r_min)^power from the least distance on, and
is nothing beyond the greatest one. With the shape Plane, and along the axis of a Tube, r is the height over the
object's plane. What is set to one direction of Z blows on that side only. A falloff of type Cone counts as Sphere, the
shapes Line, Surface and Points as Point; noise, flow and absorption are left out. Fields of other types move nothing:
`left_out` names them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from .frame_window import FARTHEST, FrameWindow, as_text, evaluated_object

FloatArray = NDArray[np.float64]
NAME = ""
"""What the window calls their numbers: no object has that name."""
NOT_OF_CLOTH = ("NONE", "BOID", "GUIDE")
"""Types of fields that move no cloth in Blender either."""
STRONGEST = 1e5
"""Wind [m/s], and gravity [m/s^2], above which a number is a slip, and no step would do."""
Falloff = tuple[float, float, float]
"""Power [-], least and greatest distance [m]."""


def wind_objects(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """The scene's wind fields that are switched on, by name."""
    return [obj for obj in _fields(scene, view_layer) if obj.field.type == "WIND"]


def left_out(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Sentences that name the fields, or parts of them, that are switched on and that Muslin does not know."""
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
    """By name, those that could move cloth in Blender."""
    found = [obj for obj in scene.objects if obj.field is not None and obj.field.type not in NOT_OF_CLOTH
             and obj.evaluated_get(view_layer.depsgraph).is_evaluated]
    return sorted(found, key=lambda obj: obj.name)


def samples(objects: list[bpy.types.Object], view_layer: bpy.types.ViewLayer, unit: float
            ) -> dict[str, Callable[[], FloatArray]]:
    """What reads the fields (n, 15) at the scene's frame: place [m], direction, strength [m/s], how it falls off."""
    if not objects:
        return {}
    return {NAME: lambda: np.array([_checked(_numbers(evaluated_object(obj, view_layer), unit), obj, view_layer)
                                    for obj in objects])}


def air(window: FrameWindow, steady: tuple[float, float, float]) -> Callable[[float, FloatArray], FloatArray]:
    """The velocity of the air at a time [s] and positions (V, 3) [m], with the fields as `window` has them."""
    def velocity(time: float, x: FloatArray) -> FloatArray:
        total = np.tile(np.asarray(steady), (len(x), 1))
        for row in window.at(NAME, time):
            total += _share(row, x)[:, None] * (row[6] * row[3:6])
        return total

    return velocity


def _checked(numbers: list[float], obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> list[float]:
    """`numbers` of a field, unless its place or its strength is none."""
    place, strength = numbers[:3], numbers[6]
    if not (np.abs(place) <= FARTHEST).all() or not abs(strength) <= STRONGEST:     # nan fails too
        scene: Any = view_layer.id_data
        raise core.SceneError(f"is a wind field of strength {strength:g} at {as_text(place)} m at frame "
                              f"{scene.frame_current}, which is no number or above {STRONGEST:g} and {FARTHEST:g}; "
                              "correct strength and location, with their keys and constraints", object_name=obj.name)
    return numbers


def _numbers(obj: bpy.types.Object, unit: float) -> list[float]:
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


def _falloff(power: float, has_least: bool, least: float, has_most: bool, most: float, unit: float) -> Falloff:
    return float(power), least * unit if has_least else 0.0, most * unit if has_most else np.inf


def _share(row: FloatArray, x: FloatArray) -> FloatArray:
    """Part (V,) of its strength that a field has at positions x (V, 3) [m]."""
    from_it = x - row[:3]
    height = from_it @ row[3:6]
    shape, along = row[7], row[8]
    share = _fall(np.abs(height) if shape else np.linalg.norm(from_it, axis=1), row[9:12])
    if shape == 2.0:
        share = share * _fall(np.linalg.norm(from_it - height[:, None] * row[3:6], axis=1), row[12:15])
    return np.where(along * height < 0.0, 0.0, share)


def _fall(distance: FloatArray, how: FloatArray) -> FloatArray:
    power, least, most = how
    share: FloatArray = (1.0 + np.maximum(distance - least, 0.0)) ** -power
    return np.where(distance > most, 0.0, share)
