# SPDX-License-Identifier: GPL-3.0-or-later
"""Small Blender scenes, and the displayed shape and full state of their objects."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np


def mesh_object(name: str, vertices: Any, faces: Any = (), edges: Any = (), kind: str = "CLOTH") -> Any:
    """Add a mesh object of the given type and return it."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata([tuple(v) for v in vertices], [tuple(e) for e in edges], [tuple(f) for f in faces])
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.muslin.kind = kind
    bpy.context.view_layer.update()
    return obj


def sheet(n: int = 5, name: str = "Sheet", size: float = 1.0, height: float = 0.0) -> Any:
    """Add a cloth of n x n vertices in quads, `size` wide, horizontal around the origin, and return it."""
    side = np.linspace(-size / 2, size / 2, n)
    vertices = [(x, y, height) for y in side for x in side]
    faces = [(a, a + 1, a + n + 1, a + n) for j in range(n - 1) for a in range(j * n, j * n + n - 1)]
    return mesh_object(name, vertices, faces)


def box(name: str = "Box", size: float = 1.0, kind: str = "COLLIDER") -> Any:
    """Add a box around the origin and return it."""
    h = size / 2
    vertices = [(x, y, z) for x in (-h, h) for y in (-h, h) for z in (-h, h)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return mesh_object(name, vertices, faces, kind=kind)


def pin(obj: Any, weights: dict[int, float], name: str = "Pins") -> None:
    """Pin vertices with the given weights."""
    group = obj.vertex_groups.new(name=name)
    for vertex, weight in weights.items():
        group.add([vertex], weight, "REPLACE")
    obj.muslin.pin_group = name


def displayed(obj: Any, frame: int) -> np.ndarray:
    """Return the displayed world positions (V, 3) at `frame` [Blender units]."""
    bpy.context.scene.frame_set(frame)
    return displayed_now(obj)


def displayed_now(obj: Any) -> np.ndarray:
    """Return the displayed world positions (V, 3) at the current frame [Blender units]."""
    evaluated = obj.evaluated_get(bpy.context.view_layer.depsgraph)
    local = np.empty(len(evaluated.data.vertices) * 3, np.float32)
    evaluated.data.attributes["position"].data.foreach_get("vector", local)
    matrix = np.array(evaluated.matrix_world)
    return local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def finish(steps: Any) -> Any:
    """Run a bake to its end and return its report."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def armature(bones: int = 2, length: float = 0.5) -> Any:
    """Add an armature with a chain of bones along z from the origin, and return it."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(bones):
        bone = data.edit_bones.new(f"Bone{i}")
        bone.head, bone.tail = (0, 0, i * length), (0, 0, (i + 1) * length)
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    return rig


def animate(owner: Any, path: str, values: dict[int, Any]) -> None:
    """Set keyframes on `path` of `owner`, one value or vector per frame."""
    for frame, value in values.items():
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


def state(obj: Any) -> dict[str, Any]:
    """Return everything of an object that a bake could change, for comparison before and after."""
    mesh, keys = obj.data, obj.data.shape_keys
    positions = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", positions)
    found: dict[str, Any] = {
        "positions": positions.tobytes(), "attributes": sorted(a.name for a in mesh.attributes),
        "properties": (sorted({*obj.keys()} - {"muslin"}), sorted(mesh.keys())),    # 4.5 adds "muslin" when it is read
        "modifiers": [(m.name, m.show_viewport, m.show_render) for m in obj.modifiers],
        "active": obj.active_shape_key_index, "show_only": obj.show_only_shape_key, "keys": None,
        "matrix": [tuple(row) for row in obj.matrix_basis], "parent": obj.parent and obj.parent.name,
        "ids": {kind: sorted(item.name for item in getattr(bpy.data, kind))
                for kind in ("objects", "meshes", "shape_keys", "actions", "collections", "scenes")},
        "frame": (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe),
    }
    if keys is not None:
        found["keys"] = [(b.name, b.value if keys.use_relative else 0.0, b.mute, b.relative_key.name, _points(b))
                         for b in keys.key_blocks]
        found["key settings"] = (keys.use_relative, keys.eval_time, sorted(keys.keys()))
        animation = keys.animation_data
        found["animation"] = animation and (
            animation.action and animation.action.name, animation.action_slot and animation.action_slot.identifier,
            animation.last_slot_identifier, [d.data_path for d in animation.drivers], len(animation.nla_tracks),
            animation.action and _curves(animation.action))
    return found


def _points(block: Any) -> bytes:
    points = np.empty(len(block.points) * 3, np.float32)
    block.points.foreach_get("co", points)
    return points.tobytes()


def _curves(action: Any) -> list[Any]:
    return [(slot.identifier, bag_curve.data_path, [tuple(k.co) for k in bag_curve.keyframe_points])
            for slot in action.slots for layer in action.layers for strip in layer.strips
            for bag in [strip.channelbag(slot)] if bag for bag_curve in bag.fcurves]
