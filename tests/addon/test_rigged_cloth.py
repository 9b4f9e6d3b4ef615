# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is pinned everywhere plays after a bake as it did before, whatever moves and shapes it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders

LAST = 5


def hooks(sheet):
    empty = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(empty)
    modifier = sheet.modifiers.new("Hook", "HOOK")
    modifier.object = empty
    modifier.vertex_indices_set([0, 1, 2])
    bpy.context.view_layer.update()
    builders.animate(empty, "location", {1: (0.0, 0.0, 0.0), LAST: (0.0, 0.0, 0.5)})


def parent_of_uneven_scale(sheet):
    empty = bpy.data.objects.new("Parent", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.scale, empty.rotation_euler = (2.0, 0.5, 1.0), (0.3, 0.0, 0.7)
    sheet.parent = empty
    sheet.rotation_euler = (0.0, 0.0, 0.4)
    builders.animate(empty, "rotation_euler", {1: (0.3, 0.0, 0.7), LAST: (0.3, 0.5, 0.7)})


def driver_without_keys(sheet):
    curve = sheet.driver_add("location", 2)
    curve.driver.expression = "frame * 0.1"


def constraint_to_a_curve(sheet):
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions, curve.use_path, curve.path_duration = "3D", True, LAST
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (1.0, 1.0, 1.0, 1.0)
    path = bpy.data.objects.new("Path", curve)
    bpy.context.scene.collection.objects.link(path)
    constraint = sheet.constraints.new("FOLLOW_PATH")
    constraint.target = path
    curve.eval_time = 0.0
    curve.keyframe_insert("eval_time", frame=1)
    curve.eval_time = LAST
    curve.keyframe_insert("eval_time", frame=LAST)


def nodes_with_scene_time(sheet):
    tree = bpy.data.node_groups.new("Rise", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, end, time, vector, move = (tree.nodes.new(kind) for kind in (
        "NodeGroupInput", "NodeGroupOutput", "GeometryNodeInputSceneTime", "ShaderNodeCombineXYZ",
        "GeometryNodeSetPosition"))
    for source, target in ((start.outputs[0], move.inputs["Geometry"]), (time.outputs["Seconds"], vector.inputs["Z"]),
                           (vector.outputs[0], move.inputs["Offset"]), (move.outputs[0], end.inputs[0])):
        tree.links.new(source, target)
    sheet.modifiers.new("Rise", "NODES").node_group = tree


def solidify_below_a_wave(sheet):
    wave = sheet.modifiers.new("Wave", "WAVE")
    wave.height, wave.width, wave.speed = 0.4, 0.5, 0.3
    sheet.modifiers.new("Solidify", "SOLIDIFY").thickness = 0.05


def shape_key_of_the_user(sheet):
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Puff")
    for point in key.data:
        point.co.z += 0.3
    key.value = 0.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=LAST)


def mirrored(sheet):
    sheet.scale = (-1.0, 1.0, 1.0)
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), LAST: (1.0, 0.0, 0.0)})


RIGS = [hooks, parent_of_uneven_scale, driver_without_keys, constraint_to_a_curve, nodes_with_scene_time,
        solidify_below_a_wave, shape_key_of_the_user, mirrored]


@pytest.mark.parametrize("rig", RIGS, ids=lambda rig: rig.__name__)
def test_pinned_cloth_plays_as_before_the_bake(extension, scene, rig):
    sheet = builders.sheet(3)
    builders.pin(sheet, dict.fromkeys(range(9), 1.0))
    rig(sheet)
    scene.frame_start, scene.frame_end = 1, LAST
    before = [builders.displayed(sheet, frame) for frame in range(1, LAST + 1)]
    assert np.abs(before[-1] - before[0]).max() > 0.05                      # the rig moves it
    builders.finish(extension.bake.bake(scene))
    for frame, expected in enumerate(before, start=1):
        np.testing.assert_allclose(builders.displayed(sheet, frame), expected, atol=2e-5)
