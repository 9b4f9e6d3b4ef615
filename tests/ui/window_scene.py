# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene of most scenarios, and its state, which a cancelled or deleted bake must restore."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np
import window_input
from window_input import Steps, physics_tab

CELLS = 10
PINNED = [CELLS, (CELLS + 1) ** 2 - 1]


def mesh_object(name: str, bm: Any) -> Any:
    """Add an object with the mesh `bm` to the scene and return it."""
    mesh = bpy.data.meshes.new(name)
    bm.to_mesh(mesh)
    bm.free()
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def sheet_and_ball(frames: int, cells: int = CELLS) -> tuple[Any, Any]:
    """Create a scene with a sheet over a ball, two of its corners in the vertex group Pins; return both objects."""
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.meshes, *bpy.data.actions])
    bm = bmesh.new()
    bmesh.ops.create_uvsphere(bm, u_segments=24, v_segments=12, radius=0.4)
    ball = mesh_object("Ball", bm)
    bm = bmesh.new()
    bmesh.ops.create_grid(bm, x_segments=cells, y_segments=cells, size=1.0)
    sheet = mesh_object("Sheet", bm)
    sheet.location.z = 0.5
    make_current(sheet)
    group = sheet.vertex_groups.new(name="Pins")
    group.add([cells, (cells + 1) ** 2 - 1], 1.0, "REPLACE")
    bpy.context.scene.frame_end = frames
    bpy.context.scene.muslin.steps_per_frame = 6                 # a bake that takes some seconds
    bpy.context.scene.frame_set(3)
    bpy.ops.ed.undo_push(message="Scene made")
    return sheet, ball


def make_current(obj: Any) -> None:
    """Make the object the active and only selected one."""
    bpy.context.view_layer.update()
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


def state(obj: Any) -> dict[str, Any]:
    """Return the state of an object that a cancelled or deleted bake must restore."""
    mesh = obj.data
    coordinates = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", coordinates)
    return {
        "coordinates": coordinates.tobytes(),
        "keys": None if mesh.shape_keys is None else [block.name for block in mesh.shape_keys.key_blocks],
        "animation": obj.animation_data is None, "modifiers": [modifier.name for modifier in obj.modifiers],
        "frame": bpy.context.scene.frame_current,
        "data": {name: len(getattr(bpy.data, name)) for name in ("actions", "meshes", "objects", "shape_keys")},
    }


def shape_at(obj: Any, frame: int) -> Any:
    """Return the evaluated vertices (V, 3) at a frame in the object's space."""
    bpy.context.scene.frame_set(frame)
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    coordinates = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", coordinates)
    return coordinates.reshape(-1, 3)


def ready(frames: int, cells: int = CELLS) -> Steps:
    """Create the scene with cloth, pins and collider set by script, and return the sheet."""
    window_input.takes.after_load()                                 # no bakes of the scenarios before
    sheet, ball = sheet_and_ball(frames, cells)
    sheet.muslin.kind, sheet.muslin.pin_group, ball.muslin.kind = "CLOTH", "Pins", "COLLIDER"
    make_current(sheet)
    bpy.ops.ed.undo_push(message="Muslin set")
    yield
    yield       # the Properties editor sees the new active object
    physics_tab()
    yield
    return sheet
