# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders: mesh objects of the scene, evaluated with animation and modifiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np

from ... import core
from ..properties.settings import collider_settings_of, kind_of
from . import mesh_data
from .frame_window import FrameWindow, evaluated_object


def notes_on_ignored(scene: bpy.types.Scene) -> list[str]:
    """Return notes that name objects which look like colliders and are ignored: not in the scene, or instances."""
    chosen, here = scene.muslin.collider_collection, set(scene.objects)
    inside = set(chosen.all_objects) if chosen is not None else set()
    notes = [f"'{obj.name}' of the Collider Collection '{chosen.name}' is not in the scene and stops nothing: link it, "
             "or the collection, to the scene" for obj in inside - here if obj.type == "MESH"]
    for obj in here:
        shown = obj.instance_collection if obj.instance_type == "COLLECTION" else None
        if shown is not None and (obj in inside or any(
                part.type == "MESH" and kind_of(part, scene) == "COLLIDER" for part in shown.all_objects)):
            notes.append(f"The instances that '{obj.name}' shows of the collection '{shown.name}' stop nothing: make "
                         "them objects (Object > Apply > Make Instances Real), and these colliders")
    return sorted(notes)


def notes_on_instances(collider_objects: Sequence[bpy.types.Object], view_layer: bpy.types.ViewLayer) -> list[str]:
    """Return notes that name colliders whose geometry nodes make instances, which are ignored.

    Not for drawing a panel: the query takes memory that Blender 4.5 does not free.
    """
    notes = []
    for obj in collider_objects:
        if any(modifier.type == "NODES" and modifier.show_viewport for modifier in obj.modifiers):
            shown: Any = evaluated_object(obj, view_layer)
            if shown.evaluated_geometry().instance_references():
                notes.append(f"The instances that geometry nodes of '{obj.name}' make stop nothing: end the node tree "
                             "with Realize Instances")
    return notes


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
                                 "modifier that removes them, such as Build, end geometry nodes that make instances "
                                 "with Realize Instances, or remove it as a collider",
                                 object_name=obj.name)
    if np.linalg.det(np.array(evaluated.matrix_world, np.float64)[:3, :3]) < 0.0:
        triangles = triangles[:, ::-1]          # keep normals outwards where the object is mirrored
    settings = collider_settings_of(obj, scene)
    return core.Collider(window.trajectory(obj.name_full), triangles, settings.friction, thickness=settings.thickness,
                         name=obj.name)
