# SPDX-License-Identifier: GPL-3.0-or-later
"""One-line hints on a cloth that is probably not what the user wants. Fast enough for drawing a panel."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties import baked_record
from ..properties.model_options import model_of
from ..properties.rest_settings import rest_settings_of
from ..properties.settings import kind_of, metres_per_unit, scene_settings_of
from ..read import force_fields

FEW_VERTICES = 50
"""Number of vertices below which a sheet can hardly fold [-]."""
NEAR = 0.5
"""Distance to a collider that counts as in reach, over the size of the cloth [-]."""
NOT_BAKED = "Not baked: press Bake"
"""Hint on cloth without a bake."""


def hints(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[str]:
    """Return hints on the cloth `obj`: not baked yet, a coarse mesh, a rest key that shows, no
    collider in reach."""
    found = [] if baked_record.has_bake(obj) else [NOT_BAKED]
    if left := baked_record.left_keys(obj):
        one = left.startswith("1 ")
        moves = f". {'Its F-curve' if one else 'An F-curve of them'} still moves the cloth"
        found = [f"{left}: remove {'it' if one else 'them'} in Object Data > Shape Keys"
                 + (moves if baked_record.left_keys_move(obj) else "")]
    mesh: Any = obj.data
    if len(mesh.polygons) and len(mesh.vertices) < FEW_VERTICES and model_of(obj) not in ("jelly", "particles"):
        found.append(f"Only {len(mesh.vertices)} vertices: it can hardly fold. Subdivide the mesh in Edit Mode")
    if not baked_record.has_bake(obj):                               # then a note of the bake says it
        found += _rest_key(obj)
    return found + (_pin_target if obj.muslin.pin_group else _colliders)(scene, obj)


def _pin_target(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[str]:
    """Return a hint if pins follow a body that cloth passes through, in a scene without a collider in its place."""
    muslin: Any = obj.muslin
    target = muslin.pin_target
    if target is None or not muslin.use_collision or _instances_a_collider(scene, None) or any(
            other.type == "MESH" and kind_of(other, scene) == "COLLIDER" for other in scene.objects):
        return []
    return [f"No collider in the scene: the cloth passes through its Pin Target '{target.name}'. Make that a Muslin "
            "Collider"]


def _rest_key(obj: bpy.types.Object) -> list[str]:
    """Return a hint if cloth starts in the shape of its rest key, because the key itself shows in the mesh."""
    mesh: Any = obj.data
    name = rest_settings_of(obj.muslin).shape_key
    keys = mesh.shape_keys
    key = keys.key_blocks.get(name) if keys is not None and name else None
    if key is None or not keys.use_relative or key == keys.reference_key or key.mute or key.value != 1.0:
        return []
    return [f"The Rest Shape Key '{name}' has the Value 1: the cloth starts in that shape, so that it "
            "changes nothing. Set its Value to 0 in Object Data > Shape Keys"]


def _colliders(scene: bpy.types.Scene, obj: bpy.types.Object) -> list[str]:
    """Return a hint if nothing can stop cloth without pins."""
    muslin: Any = obj.muslin
    if muslin.weight_gravity == 0.0:
        return []
    if not muslin.use_collision:
        return ["No pins, and Object Collisions are off: it falls without end"]
    chosen = muslin.collision_collection
    others = [other for other in scene.objects if other != obj and other.type == "MESH"
              and kind_of(other, scene) in ("COLLIDER", "CLOTH")
              and (chosen is None or other.name in chosen.all_objects)]
    if _instances_a_collider(scene, chosen):
        return []
    if not any(kind_of(other, scene) == "COLLIDER" for other in others):
        return [f"No pins, and no collider in the {'scene' if chosen is None else 'Collision Collection'}: "
                "it falls without end"]
    moving = [other for other in (obj, *others) if other.animation_data or other.parent or other.constraints]
    if moving or any(modifier.type == "ARMATURE" for modifier in obj.modifiers):
        return []
    try:
        settings = scene_settings_of(scene)
    except core.ClothError:
        return []
    if any(settings.wind) or not any(settings.gravity) or force_fields.field_objects(scene) or settings.keyed:
        return []
    seconds = (settings.last - settings.first) / settings.frame_rate
    fall = 0.5 * muslin.weight_gravity * np.array(settings.gravity) * seconds ** 2 / metres_per_unit(scene)
    low, high = _box(obj)
    reach = NEAR * float((high - low).max())
    low, high = np.minimum(low, low + fall) - reach, np.maximum(high, high + fall) + reach
    for other in others:
        other_low, other_high = _box(other)
        if (other_low <= high).all() and (other_high >= low).all():
            return []
    return ["No collider is in reach of its fall"]


def _instances_a_collider(scene: bpy.types.Scene, chosen: bpy.types.Collection | None) -> bool:
    """Return whether the scene may show instances of colliders that are not in it themselves.

    Where they are is computed by a bake only. `chosen` limits the colliders, None for all.
    """
    if not any((obj.instance_type == "COLLECTION" and obj.instance_collection is not None)
               or any(modifier.type == "NODES" for modifier in obj.modifiers) for obj in scene.objects):
        return False
    candidates: Any = bpy.data.objects if chosen is None else chosen.all_objects
    return any(obj.type == "MESH" and kind_of(obj, scene) == "COLLIDER" and obj.name not in scene.objects
               for obj in candidates)


def _box(obj: bpy.types.Object) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and the highest coordinates (3,) of the object's bounding box in world space."""
    corners = np.array([tuple(corner) for corner in obj.bound_box])
    matrix = np.array(obj.matrix_world)
    placed = corners @ matrix[:3, :3].T + matrix[:3, 3]
    return placed.min(axis=0), placed.max(axis=0)


def model_remark(obj: bpy.types.Object) -> str:
    """Return a remark on the model where the mesh has no faces that it could act on; empty if it has."""
    mesh: Any = obj.data
    if not len(mesh.edges):
        return "" if obj.muslin.model == "particles" else "No edges: its vertices are particles"
    if not len(mesh.polygons) and model_of(obj) not in ("rope", "particles"):
        return "No faces: the model Rope bends, too"
    return ""
