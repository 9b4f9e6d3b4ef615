# SPDX-License-Identifier: GPL-3.0-or-later
"""Colliders: any mesh object of the scene that is one, as it is evaluated, animation and modifiers included."""

from __future__ import annotations

import bpy
import numpy as np

from .. import core
from . import mesh_data
from .frame_window import FrameWindow, evaluated_object
from .settings import collider_settings_of


def check_collider(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> None:
    if obj.type != "MESH":
        raise core.ColliderError(f"is a {obj.type.lower()}, not a mesh; convert it (Object > Convert > Mesh)",
                                 object_name=obj.name)
    if obj.mode == "EDIT":
        raise core.ColliderError("is in Edit Mode; leave it (Tab) and bake again", object_name=obj.name)
    evaluated_object(obj, view_layer)


def read_collider(obj: bpy.types.Object, scene: bpy.types.Scene, window: FrameWindow,
                  view_layer: bpy.types.ViewLayer) -> core.Collider:
    """The collider, with its triangles of the window's frame and its motion from the window."""
    evaluated = evaluated_object(obj, view_layer)
    triangles = mesh_data.triangles(evaluated.data)
    if not len(triangles):
        raise core.ColliderError(f"has no triangles at frame {window.frame}; give the mesh faces, switch off the "
                                 "modifier that takes them away, such as Build, or remove it as a collider",
                                 object_name=obj.name)
    if np.linalg.det(np.array(evaluated.matrix_world, np.float64)[:3, :3]) < 0.0:
        triangles = triangles[:, ::-1]          # a mirrored object is not inside out
    settings = collider_settings_of(obj, scene)
    return core.Collider(window.trajectory(obj.name_full), triangles, settings.friction, thickness=settings.thickness,
                         name=obj.name)
