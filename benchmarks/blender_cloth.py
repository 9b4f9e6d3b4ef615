# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulation of the scenes by Blender's Cloth modifier and by the Cloth Dynamics node of Blender 5.2.

Used by worker.py, needs bpy. The time of a frame is that of `scene.frame_set`, without reading the positions.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any

import bpy
import numpy as np

import core
from benchmarks.blender_units import tuned_settings, wind_field
from benchmarks.scenes import FRAME_RATE, GRAVITY, SceneLayout

NODE = "Cloth Dynamics (Experimental)"
COLLIDER_NODE = "Collider"
NODE_FILE = "datafiles/assets/nodes/geometry_nodes_dynamics_assets.blend"


def modifier_frames(layout: SceneLayout, fabric: core.Material, tuned: bool, frames: int, *, quality: int = 5
                    ) -> Iterator[dict[str, Any]]:
    """Simulate with the modifier, `quality` steps a frame at speed multiplier 1, and yield a dict for each frame.

    It has x: positions (V, 3) [m]; ms: time; cpu_ms: processor time of all threads; iterations.
    """
    sheet = _stage(layout, frames)
    modifier = sheet.modifiers.new("Cloth", "CLOTH")
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, frames
    if layout.held:
        sheet.vertex_groups.new(name="held").add(list(layout.held), 1.0, "REPLACE")
        modifier.settings.vertex_group_mass = "held"
    ball = bpy.data.objects.get("ball")
    if ball is not None:
        ball.modifiers.new("Collision", "COLLISION")
    modifier.collision_settings.use_self_collision = layout.self_collision
    if tuned:
        wanted = tuned_settings(layout, fabric)
        _assign(modifier.settings, wanted["settings"])
        _assign(modifier.collision_settings, wanted["collision_settings"])
        if ball is not None:
            _assign(ball.collision, wanted["collider"])
    modifier.settings.quality = quality
    speed = float(np.linalg.norm(layout.wind))
    if speed > 0.0:
        _blow(layout, wind_field(fabric, speed))

    def iterations(evaluated: Any) -> float:
        result = evaluated.modifiers["Cloth"].solver_result
        return result.avg_iterations * modifier.settings.quality if result else 0.0

    yield from _play(sheet, frames, iterations)


def node_frames(layout: SceneLayout, fabric: core.Material, substeps: int, frames: int) -> Iterator[dict[str, Any]]:
    """Simulate with the Cloth Dynamics node, and yield a dict for each frame as `modifier_frames`."""
    path = os.path.join(bpy.utils.resource_path("LOCAL"), NODE_FILE)
    sheet = _stage(layout, frames)
    with bpy.data.libraries.load(path) as (_, wanted):
        wanted.node_groups = [NODE, COLLIDER_NODE]
    modifier = sheet.modifiers.new("Dynamics", "NODES")
    modifier.node_group = bpy.data.node_groups[NODE]
    if layout.held:
        sheet.vertex_groups.new(name="held").add(list(layout.held), 1.0, "REPLACE")
        pins = _input(modifier, "Pin Group")
        pins.type, pins.attribute_name = "ATTRIBUTE", "held"
    radius = 0.2 * layout.edge_length
    _set(modifier, {"Substeps": substeps, "Mass": fabric.areal_density * layout.vertex_area,
                    "Friction": fabric.friction, "Collision Radius": radius,
                    "Linear Damping": fabric.viscous_drag / fabric.areal_density})
    ball = bpy.data.objects.get("ball")
    if ball is not None:
        solid = ball.modifiers.new("Collider", "NODES")
        solid.node_group = bpy.data.node_groups[COLLIDER_NODE]
        _set(solid, {"Friction": fabric.friction})
        effectors = bpy.data.collections.new("effectors")
        bpy.context.scene.collection.children.link(effectors)
        effectors.objects.link(ball)
        _set(modifier, {"Effectors Collection": effectors})
    sheet.update_tag()
    yield from _play(sheet, frames, lambda evaluated: float(substeps * 15))


def _stage(layout: SceneLayout, frames: int) -> Any:
    """Create an empty scene with the sheet, and the ball if there is one; return the sheet."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = int(FRAME_RATE)
    scene.frame_start, scene.frame_end = 1, frames
    scene.gravity = GRAVITY
    if layout.ball is not None:
        _add("ball", *layout.ball)
    return _add("sheet", layout.positions, layout.quads)


def _add(name: str, points: Any, faces: Any) -> Any:
    """Add a mesh object to the scene and return it."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(points).tolist(), [], [list(map(int, face)) for face in faces])
    mesh.update()
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def _blow(layout: SceneLayout, field: dict[str, float]) -> None:
    """Add a force field that blows along the scene's wind: the z axis of its object."""
    bpy.ops.object.effector_add(type="WIND", location=(-3.0, 0.0, 0.0))
    fan = bpy.context.object
    fan.rotation_euler = (0.0, math.pi / 2.0, math.atan2(layout.wind[1], layout.wind[0]))
    _assign(fan.field, {**field, "noise": 0.0})


def _assign(target: Any, values: dict[str, Any]) -> None:
    """Set attributes. Raise ValueError if Blender has clamped one to its range."""
    for name, value in values.items():
        setattr(target, name, value)
        got = getattr(target, name)
        if abs(got - value) > 1e-5 * abs(value):
            raise ValueError(f"Blender changes {name} = {value} to {got}")


def _input(modifier: Any, label: str) -> Any:
    """Return the node group's input with this label, from the modifier's properties in Blender 5.2."""
    for item in modifier.node_group.interface.items_tree:
        if item.item_type == "SOCKET" and item.in_out == "INPUT" and item.name == label \
                and item.socket_type not in ("NodeSocketBundle", "NodeSocketGeometry"):
            return getattr(modifier.properties.inputs, item.identifier)
    raise KeyError(f"{modifier.node_group.name} has no input '{label}'")


def _set(modifier: Any, values: dict[str, Any]) -> None:
    """Set inputs of the node group by their labels."""
    for label, value in values.items():
        _input(modifier, label).value = value


def _play(sheet: Any, frames: int, iterations: Any) -> Iterator[dict[str, Any]]:
    """Set each frame, and yield its dict, see `modifier_frames`."""
    scene = bpy.context.scene
    buffer = np.empty(3 * len(sheet.data.vertices), dtype=np.float32)
    for frame in range(1, frames + 1):
        start, work = perf_counter(), process_time()
        scene.frame_set(frame)
        ms, cpu_ms = 1e3 * (perf_counter() - start), 1e3 * (process_time() - work)
        evaluated = sheet.evaluated_get(bpy.context.evaluated_depsgraph_get())
        evaluated.data.attributes["position"].data.foreach_get("vector", buffer)
        yield {"x": buffer.reshape(-1, 3).copy(), "ms": ms, "cpu_ms": cpu_ms, "iterations": iterations(evaluated)}
