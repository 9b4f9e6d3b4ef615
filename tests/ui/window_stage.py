# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene of most scenarios, and what of it a cancelled or deleted bake must leave as it was."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np
from window_hands import Steps, physics_tab, press

CELLS = 10
PINNED = [CELLS, (CELLS + 1) ** 2 - 1]


def mesh_object(name: str, bm: Any) -> Any:
    mesh = bpy.data.meshes.new(name)
    bm.to_mesh(mesh)
    bm.free()
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing


def sheet_and_ball(frames: int) -> tuple[Any, Any]:
    """A scene of a sheet, two of its corners in the vertex group Pins, over a ball."""
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.meshes, *bpy.data.actions])
    bm = bmesh.new()
    bmesh.ops.create_uvsphere(bm, u_segments=24, v_segments=12, radius=0.4)
    ball = mesh_object("Ball", bm)
    bm = bmesh.new()
    bmesh.ops.create_grid(bm, x_segments=CELLS, y_segments=CELLS, size=1.0)
    sheet = mesh_object("Sheet", bm)
    sheet.location.z = 0.5
    make_current(sheet)
    group = sheet.vertex_groups.new(name="Pins")
    group.add(PINNED, 1.0, "REPLACE")
    bpy.context.scene.frame_end = frames
    bpy.context.scene.muslin.steps_per_frame = 6                 # a bake that is slow enough to be watched
    bpy.context.scene.frame_set(3)
    bpy.ops.ed.undo_push(message="Scene made")
    return sheet, ball


def make_current(thing: Any) -> None:
    bpy.context.view_layer.update()
    for other in bpy.context.view_layer.objects:
        other.select_set(other == thing)
    bpy.context.view_layer.objects.active = thing


def state(thing: Any) -> dict[str, Any]:
    """All that a cancelled or deleted bake must leave as it was."""
    mesh = thing.data
    coordinates = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", coordinates)
    return {
        "coordinates": coordinates.tobytes(),
        "keys": None if mesh.shape_keys is None else [block.name for block in mesh.shape_keys.key_blocks],
        "animation": thing.animation_data is None, "modifiers": [modifier.name for modifier in thing.modifiers],
        "frame": bpy.context.scene.frame_current,
        "data": {name: len(getattr(bpy.data, name)) for name in ("actions", "meshes", "objects", "shape_keys")},
    }


def shape_at(thing: Any, frame: int) -> Any:
    """Evaluated vertices (V, 3) in the object's space."""
    bpy.context.scene.frame_set(frame)
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    coordinates = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", coordinates)
    return coordinates.reshape(-1, 3)


def ready(frames: int) -> Steps:
    """The scene of first_steps, set by script."""
    yield from press("ESC")         # a message of the scenario before covers the panel until the pointer has left it
    sheet, ball = sheet_and_ball(frames)
    sheet.muslin.kind, sheet.muslin.pin_group, ball.muslin.kind = "CLOTH", "Pins", "COLLIDER"
    make_current(sheet)
    bpy.ops.ed.undo_push(message="Muslin set")
    yield
    yield       # the Properties editor sees the new active object
    physics_tab()
    yield
    return sheet
