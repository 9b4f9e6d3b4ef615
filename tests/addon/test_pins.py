# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins whose weights change, pins that follow the surface of another object, and their stiffness."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders


def read_scene(extension, scene):
    return extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                           bpy.context.view_layer)


def weight_modifier(sheet, group="Pins"):
    """Add a modifier that multiplies the weights of a group by its `default_weight_b`, and return it."""
    modifier = sheet.modifiers.new("Release", "VERTEX_WEIGHT_MIX")
    modifier.vertex_group_a, modifier.mix_mode, modifier.mix_set = group, "MUL", "A"
    modifier.default_weight_b = 1.0
    return modifier


def test_weights_of_a_keyed_modifier_are_read_at_every_frame(extension, scene):
    sheet = builders.sheet()
    builders.pin(sheet, {0: 1.0, 4: 1.0, 12: 0.5})
    modifier = weight_modifier(sheet)
    builders.animate(modifier, "default_weight_b", {1: 1.0, 3: 0.0})
    scene.frame_set(3)
    found = read_scene(extension, scene)
    pins = found.cloths[0].pins
    assert pins.varies and pins.weights_at(0.0)[[0, 4, 12, 13]] == pytest.approx([1.0, 1.0, 0.5, 0.0])
    found.window.read(2)
    found.window.read(3)
    assert pins.weights_at(2.0 / 24.0)[[0, 4, 12]] == pytest.approx([0.0, 0.0, 0.0], abs=1e-6)
    assert not any("is ignored" in note for note in found.notes)


def test_painted_weights_stay_those_of_the_mesh(extension, scene):
    sheet = builders.sheet()
    builders.pin(sheet, {0: 1.0})
    sheet.vertex_groups.new(name="Other")
    weight_modifier(sheet, "Other")
    assert not read_scene(extension, scene).cloths[0].pins.varies


def test_released_cloth_falls_and_caught_cloth_comes_back(extension, scene):
    scene.frame_end = 20
    sheet = builders.sheet(3)
    builders.pin(sheet, dict.fromkeys(range(9), 1.0))
    modifier = weight_modifier(sheet)
    builders.animate(modifier, "default_weight_b", {1: 1.0, 3: 1.0, 4: 0.0, 9: 0.0, 10: 1.0})
    builders.finish(extension.bake.bake(scene))
    lowest = [builders.displayed(sheet, frame)[:, 2].min() for frame in (3, 9, 20)]
    assert lowest[0] == pytest.approx(0.0, abs=1e-6) and lowest[1] < -0.1 and lowest[1] < lowest[2] < 0.0


@pytest.mark.parametrize("keyed", ["location", "rotation_euler", "scale"])
def test_pins_follow_the_surface_of_another_object(extension, scene, keyed):
    sheet = builders.sheet(5, size=0.5, height=0.55)
    builders.pin(sheet, {0: 1.0, 4: 1.0, 12: 0.5})
    body = builders.box("Body", kind="NONE")
    sheet.muslin.pin_target = body
    values = {"location": (0.3, 0.1, 0.2), "rotation_euler": (0.2, 0.5, -0.3), "scale": (1.5, 1.5, 1.5)}
    builders.animate(body, keyed, {1: tuple(getattr(body, keyed)), 3: values[keyed]})
    scene.frame_set(3)
    matrix = np.array(body.matrix_world)
    scene.frame_set(1)
    found = read_scene(extension, scene)
    pins, start = found.cloths[0].pins, found.cloths[0].positions
    at = np.array([0, 4, 12])
    assert pins.positions(at, 0.0) == pytest.approx(start[at], abs=1e-9)
    found.window.read(2)
    found.window.read(3)
    wanted = start[at] @ matrix[:3, :3].T + matrix[:3, 3]
    assert pins.positions(at, 2.0 / 24.0) == pytest.approx(wanted, abs=1e-5)


def test_pins_follow_a_surface_that_deforms(extension, scene):
    sheet = builders.sheet(5, size=0.5, height=0.02)
    builders.pin(sheet, {0: 1.0, 12: 1.0})
    body = builders.sheet(3, "Body", size=2.0)
    body.muslin.kind = "COLLIDER"
    body.shape_key_add(name="Basis")
    key = body.shape_key_add(name="Up")
    for point in key.data:
        point.co.z += 0.4 + 0.2 * point.co.x
    builders.animate(key, "value", {1: 0.0, 2: 1.0})
    sheet.muslin.pin_target = body
    found = read_scene(extension, scene)
    found.window.read(2)
    place = found.cloths[0].pins.positions(np.array([12]), 1.0 / 24.0)[0]
    assert place[2] == pytest.approx(0.4 + 0.02, abs=2e-3)


@pytest.mark.parametrize("renamed", [False, True])
def test_a_bake_from_a_later_frame_or_of_renamed_cloth_keeps_the_binding(extension, scene, renamed):
    sheet = builders.sheet(5, size=0.5, height=0.55)
    builders.pin(sheet, {0: 1.0})
    body = builders.box("Body", kind="NONE")
    builders.animate(body, "location", {1: (0.0, 0.0, 0.0), 4: (0.9, 0.0, 0.0)})
    sheet.muslin.pin_target = body
    found = read_scene(extension, scene)
    start = found.cloths[0].positions[0]
    if renamed:
        found.window.read(2)
        sheet.name = "Renamed"
    found.window.read(4)                                     # as a bake that continues does
    place = found.cloths[0].pins.positions(np.array([0]), 3.0 / 24.0)[0]
    assert place == pytest.approx(start + (0.9, 0.0, 0.0), abs=1e-5)


def test_the_stiffness_of_pins_reaches_the_core(extension, scene):
    sheet = builders.sheet()
    builders.pin(sheet, {0: 0.5})
    builders.animate(sheet.muslin, "pin_stiffness", {1: 2.0, 2: 6.0})
    found = read_scene(extension, scene)
    found.window.read(2)
    assert [found.cloths[0].pins.stiffness_at(t) for t in (0.0, 1.0 / 24.0)] == pytest.approx([2.0, 6.0])


def refused_target(sheet, what):
    if what == "cloth":
        return builders.sheet(3, "Other", height=3.0)
    if what == "empty":
        return builders.mesh_object("Other", [(0, 0, 0), (1, 0, 0)], kind="NONE")
    body = builders.box("Other", kind="NONE")
    modifier = body.modifiers.new("Array", "ARRAY")
    builders.animate(modifier, "count", {1: 1, 3: 2})
    return body


@pytest.mark.parametrize("what, message", [
    ("cloth", "is cloth of the same bake"), ("empty", "has no face of any area"),
    ("changing", r"has 16 vertices at frame [23] and had 8")])
def test_a_target_that_cannot_be_followed_is_refused(extension, scene, what, message):
    sheet = builders.sheet()
    builders.pin(sheet, {0: 1.0})
    sheet.muslin.pin_target = refused_target(sheet, what)
    with pytest.raises(extension.core.PinError, match=message):
        found = read_scene(extension, scene)
        found.window.read(2)
        found.window.read(3)


def test_a_moved_target_makes_a_bake_look_outdated(extension, scene):
    sheet = builders.sheet()
    builders.pin(sheet, {0: 1.0})
    body = builders.box("Body", kind="NONE")
    without = extension.fingerprint.fingerprint(scene, sheet)
    sheet.muslin.pin_target = body
    before = extension.fingerprint.fingerprint(scene, sheet)
    body.location.x = 1.0
    after = extension.fingerprint.fingerprint(scene, sheet)
    assert "settings" in extension.fingerprint.differences(without, before)
    assert extension.fingerprint.differences(before, after) == ["object 'Body'"]


def test_weights_of_shrinking_are_read_at_every_frame_too(extension, scene):
    sheet = builders.sheet()
    sheet.vertex_groups.new(name="Sleeve").add([0, 1], 1.0, "REPLACE")
    sheet.muslin.shrink_group, sheet.muslin.shrink_max = "Sleeve", 0.4
    builders.animate(weight_modifier(sheet, "Sleeve"), "default_weight_b", {1: 0.0, 2: 1.0})
    scene.frame_set(2)
    found = read_scene(extension, scene)
    found.window.read(2)
    maps = found.cloths[0].maps
    assert maps.rest_scale_at(0.0)[[0, 2]] == pytest.approx([1.0, 1.0])
    assert maps.rest_scale_at(1.0 / 24.0)[[0, 2]] == pytest.approx([0.6, 1.0])
    assert not any("is ignored" in note for note in found.notes)


@pytest.mark.parametrize("stores", [False, True])
def test_geometry_nodes_that_store_the_group_change_its_weights(extension, scene, stores):
    sheet = builders.sheet()
    builders.pin(sheet, {0: 1.0, 4: 1.0})
    tree = bpy.data.node_groups.new("Weights", "GeometryNodeTree")
    for kind in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=kind, socket_type="NodeSocketGeometry")
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    last = start
    if stores:
        last = tree.nodes.new("GeometryNodeStoreNamedAttribute")
        tree.links.new(start.outputs[0], last.inputs["Geometry"])
        last.data_type, last.domain = "FLOAT", "POINT"
        last.inputs["Name"].default_value = "Pins"
        value = tree.nodes.new("ShaderNodeValue")
        builders.animate(value.outputs[0], "default_value", {1: 1.0, 2: 0.25})
        tree.links.new(value.outputs[0], last.inputs["Value"])
    tree.links.new(last.outputs[0], end.inputs[0])
    sheet.modifiers.new("Weights", "NODES").node_group = tree
    found = read_scene(extension, scene)
    found.window.read(2)
    pins = found.cloths[0].pins
    assert pins.varies == stores
    if stores:
        assert pins.weights_at(1.0 / 24.0)[[0, 7]] == pytest.approx([0.25, 0.25])
