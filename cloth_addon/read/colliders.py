# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders: mesh objects of the scene and their instances, evaluated with animation and modifiers."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.settings import ColliderSettings, collider_settings_of
from . import mesh_data
from .frame_window import FrameWindow, evaluated_object
from .instances import InstancedColliders


def notes_on_ignored(scene: bpy.types.Scene) -> list[str]:
    """Return notes that name objects which look like colliders and are ignored: the scene shows neither them nor
    instances of them."""
    chosen = scene.muslin.collider_collection
    inside = set(chosen.all_objects) if chosen is not None else set()
    missing = inside - set(scene.objects)
    if missing:
        missing -= _instanced(set(scene.objects))
    return sorted(f"'{obj.name}' of the Collider Collection '{chosen.name}' is not in the scene and stops nothing: "
                  "link it, or the collection, to the scene" for obj in missing if obj.type == "MESH")


def _instanced(objects: set[bpy.types.Object]) -> set[bpy.types.Object]:
    """Return the objects of the collections that `objects` show, and that these show in turn."""
    found: set[bpy.types.Object] = set()
    while objects:
        shown = {part for obj in objects if obj.instance_type == "COLLECTION" and obj.instance_collection is not None
                 for part in obj.instance_collection.all_objects}
        objects = shown - found
        found |= shown
    return found


def check_collider(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> None:
    """Raise ColliderError if the object cannot be a collider."""
    if obj.type != "MESH":
        raise core.ColliderError(f"is a {obj.type.lower()}, not a mesh; convert it (Object > Convert > Mesh)",
                                 object_name=obj.name)
    if obj.mode == "EDIT" or obj.data.is_editmode:          # by itself, or by another object with the same mesh
        raise core.ColliderError("is in Edit Mode; leave it (Tab) and bake again", object_name=obj.name)
    evaluated_object(obj, view_layer)


def read_collider(obj: bpy.types.Object, scene: bpy.types.Scene, window: FrameWindow,
                  view_layer: bpy.types.ViewLayer) -> core.Collider:
    """Return the core's collider: triangles of the window's frame, positions over time from the window."""
    evaluated = evaluated_object(obj, view_layer)
    triangles = mesh_data.triangles(evaluated.data)
    if not len(triangles):
        raise core.ColliderError(f"has no triangles at frame {window.frame}; give the mesh faces, switch off the "
                                 "modifier that removes them, such as Build, or remove it as a collider",
                                 object_name=obj.name)
    if np.linalg.det(np.array(evaluated.matrix_world, np.float64)[:3, :3]) < 0.0:
        triangles = triangles[:, ::-1]          # keep normals outwards where the object is mirrored
    return core.Collider(window.trajectory(obj.name_full), triangles, name=obj.name,
                         left_out=left_out_vertices(obj, evaluated.data, collider_settings_of(obj, scene)),
                         **_options(obj, scene, window))


def left_out_vertices(obj: bpy.types.Object, mesh: mesh_data.Mesh, settings: ColliderSettings
                      ) -> NDArray[np.bool_] | None:
    """Return which vertices (V,) of an evaluated mesh are in the collider's group that is left out; None without one.

    Raises:
        core.ColliderError: the object has no such group.
    """
    name = settings.left_out_group
    if not name:
        return None
    group = obj.vertex_groups.get(name)
    if group is None:
        raise core.ColliderError(f"has no vertex group '{name}' to leave out of collisions; choose another one in "
                                 "Muslin's panel, or none", object_name=obj.name)
    marks: NDArray[np.bool_] = mesh_data.group_weights(mesh, group.index) > 0.0
    return marks


def has_faces(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bool:
    """Return whether the evaluated object has faces at the scene's frame."""
    return len(evaluated_object(obj, view_layer).data.polygons) > 0


def read_instances(instanced: InstancedColliders, scene: bpy.types.Scene, window: FrameWindow) -> list[core.Collider]:
    """Return a collider of the core for the instances of each collider that has any."""
    found = []
    for name, obj in instanced.owners.items():
        found.append(core.Collider(window.trajectory(name), instanced.triangles[name], name=obj.name,
                                   **_options(obj, scene, window)))
    return found


def _options(obj: bpy.types.Object, scene: bpy.types.Scene, window: FrameWindow) -> dict[str, Any]:
    """Return the keyword arguments of `core.Collider` that are settings of the object."""
    keyed = window.settings(obj)
    return {"friction": keyed.setting("friction"), "thickness": collider_settings_of(obj, scene).thickness,
            "absorption": keyed.setting("absorption")}
