# SPDX-License-Identifier: GPL-3.0-or-later
"""Tearing: a mesh is split and joined without loss, its settings reach the core, and a bake tears it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders


def torn_sheet(n=5, strength=20.0):
    """Return a cloth that tears."""
    sheet = builders.sheet(n)
    muslin = sheet.muslin
    muslin.model, muslin.use_tearing, muslin.tear_strength = "baraff_witkin", True, strength
    bpy.context.view_layer.objects.active = sheet
    return sheet


def rich_sheet():
    """Return a sheet with everything that a mesh may have for each vertex, corner and face."""
    sheet = torn_sheet()
    mesh, count = sheet.data, len(sheet.data.vertices)
    group = sheet.vertex_groups.new(name="Other")
    for vertex in range(count):
        group.add([vertex], vertex / count, "REPLACE")
    sheet.shape_key_add(name="Basis")
    for number, name in enumerate(("A", "B")):
        key = sheet.shape_key_add(name=name)
        key.data.foreach_set("co", np.random.default_rng(number).normal(size=3 * count).astype(np.float32))
    mesh.shape_keys.key_blocks["B"].relative_key = mesh.shape_keys.key_blocks["A"]
    mesh.shape_keys.key_blocks["A"].value = 0.25
    layer = mesh.uv_layers.new(name="Pattern")
    layer.data.foreach_set("uv", np.random.default_rng(5).random(2 * len(mesh.loops)).astype(np.float32))
    for name in ("Red", "Blue"):
        mesh.materials.append(bpy.data.materials.new(name))
    mesh.polygons.foreach_set("material_index", np.arange(len(mesh.polygons), dtype=np.int32) % 2)
    mesh.attributes.new("start_velocity", "FLOAT_VECTOR", "POINT").data.foreach_set(
        "vector", np.arange(3 * count, dtype=np.float32))
    return sheet


def contents(sheet, origin=None):
    """Return all of a mesh's values: those of vertices (V, ...), for each face corner, and of corners and faces."""
    mesh = sheet.data
    corner = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corner)
    result = {}
    for key in mesh.shape_keys.key_blocks:
        values = np.empty(3 * len(mesh.vertices), np.float32)
        key.data.foreach_get("co", values)
        result[key.name] = values.reshape(-1, 3)[corner]
        result[f"{key.name} settings"] = np.array([key.value, key.slider_max, hash(key.relative_key.name)])
    velocity = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["start_velocity"].data.foreach_get("vector", velocity)
    result["velocity"] = velocity.reshape(-1, 3)[corner]
    group = sheet.vertex_groups["Other"]
    result["weights"] = np.array([group.weight(int(vertex)) for vertex in corner])
    uv = np.empty(2 * len(mesh.loops), np.float32)
    mesh.uv_layers["Pattern"].data.foreach_get("uv", uv)
    result["uv"] = uv
    material = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("material_index", material)
    result["materials"] = material
    return result, corner


def test_a_split_mesh_keeps_everything_and_is_joined_again(extension):
    sheet = rich_sheet()
    before, corners = contents(sheet)
    attributes = {attribute.name for attribute in sheet.data.attributes if not attribute.name.startswith(".")}
    added = extension.split_mesh.split(sheet)
    assert added == 4 * 16 - 25
    assert len(sheet.data.vertices) == 64
    after, _ = contents(sheet)
    for name, values in before.items():
        assert np.array_equal(values, after[name]), name
    assert extension.split_mesh.join(sheet) == added
    again, same = contents(sheet)
    assert np.array_equal(same, corners)
    for name, values in before.items():
        assert np.array_equal(values, again[name]), name
    left = {attribute.name for attribute in sheet.data.attributes if not attribute.name.startswith(".")}
    assert left == attributes


def test_only_the_edges_of_the_group_are_split(extension):
    sheet = torn_sheet()
    group = sheet.vertex_groups.new(name="Weak")
    group.add(range(10, 15), 0.5, "REPLACE")                              # the middle row
    sheet.muslin.tear_group = "Weak"
    assert bpy.ops.muslin.tear_split() == {"FINISHED"}
    assert len(sheet.data.vertices) == 30
    assert bpy.ops.muslin.tear_join() == {"FINISHED"}
    assert len(sheet.data.vertices) == 25


def test_the_settings_reach_the_core(extension, read):
    sheet = torn_sheet()
    group = sheet.vertex_groups.new(name="Weak")
    group.add(range(10, 15), 0.5, "REPLACE")
    sheet.muslin.tear_group = "Weak"
    extension.split_mesh.split(sheet)
    own = read().cloths[0].tearing
    assert own.strength == 20.0
    weak = np.abs(np.array([v.co.y for v in sheet.data.vertices])) < 1e-6
    assert np.allclose(own.weights[weak], 0.5)
    assert np.isinf(own.weights[~weak]).all()
    sheet.muslin.model = "mass_spring"
    assert read().cloths[0].tearing is None


def test_the_strength_may_be_keyed(extension, read):
    sheet = torn_sheet()
    extension.split_mesh.split(sheet)
    builders.animate(sheet.muslin, "tear_strength", {1: 1.0, 3: 5.0})
    own = read().cloths[0].tearing
    assert isinstance(own.strength, extension.core.Keyed)
    assert own.strength(0.0) == 1.0


def test_nothing_tears_in_a_new_object(read):
    builders.sheet(3)
    cloth = read().cloths[0]
    assert cloth.tearing is None
    assert not cloth.mesh.split


def test_a_mesh_that_is_not_split_is_refused_with_the_way_out(extension, read):
    torn_sheet()
    with pytest.raises(extension.core.ClothError, match=r"Sheet.*Split for Tearing"):
        read()


def bake(extension, scene, sheet, frames=10):
    scene.frame_end = frames
    builders.finish(extension.bake.bake(scene, [sheet]))
    return builders.displayed(sheet, frames)


def copies_apart(sheet, x):
    """Return the largest distance of vertices that were one vertex."""
    origin = np.empty(len(x), np.int32)
    sheet.data.attributes["muslin_tear_origin"].data.foreach_get("value", origin)
    return max(np.ptp(x[origin == number], axis=0).max() for number in np.unique(origin))


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_a_bake_tears_a_weak_line_and_delete_bake_brings_the_mesh_back(extension, scene, result, tmp_path):
    sheet = torn_sheet(strength=1000.0)
    sheet.muslin.result = result
    builders.pin(sheet, dict.fromkeys(range(5), 1.0))
    group = sheet.vertex_groups.new(name="Weak")
    group.add(range(10, 15), 0.0, "REPLACE")
    sheet.muslin.tear_group = "Weak"
    sheet.rotation_euler = (0.3, 0.2, 0.7)                                # copies are at one place only in the mesh
    sheet.location = (1.234, 0.1, 3.3)
    extension.split_mesh.split(sheet)
    start = builders.displayed(sheet, 1)
    x = bake(extension, scene, sheet)
    assert copies_apart(sheet, start) < 1e-6
    assert copies_apart(sheet, x) > 0.02
    report = extension.baked_record.report_of(sheet)
    assert report["certificates"][-1]["torn_edges"] == report["summary"]["torn_edges"] == 4
    assert ("Torn Edges", "4") in extension.certificate_text.facts(report)
    with pytest.raises(extension.core.SceneError, match="delete the bake first"):
        extension.split_mesh.join(sheet)
    assert bpy.ops.muslin.bake_delete() == {"FINISHED"}
    assert np.allclose(builders.displayed(sheet, 5), start, atol=1e-6)
    extension.split_mesh.join(sheet)
    assert len(sheet.data.vertices) == 25


def test_a_split_mesh_stays_together_with_tearing_switched_off(extension, scene):
    sheet = torn_sheet()
    builders.pin(sheet, dict.fromkeys(range(5), 1.0))
    extension.split_mesh.split(sheet)
    sheet.muslin.use_tearing = False
    x = bake(extension, scene, sheet, 6)
    assert copies_apart(sheet, x) < 1e-6
    assert x[:, 2].min() < -0.05


def test_what_cannot_be_split_is_refused(extension):
    sheet = torn_sheet()
    core, split_mesh = extension.core, extension.split_mesh
    with pytest.raises(core.ClothError, match="was not split"):
        split_mesh.join(sheet)
    assert not bpy.ops.muslin.tear_join.poll()
    group = sheet.vertex_groups.new(name="Weak")
    group.add([0], 0.5, "REPLACE")
    sheet.muslin.tear_group = "Weak"
    with pytest.raises(core.ClothError, match="both ends in the group 'Weak'"):
        split_mesh.split(sheet)
    sheet.muslin.tear_group = "None"
    with pytest.raises(core.ClothError, match="no vertex group"):
        split_mesh.split(sheet)
    sheet.muslin.tear_group = ""
    bpy.data.objects.new("Second", sheet.data)
    with pytest.raises(core.SceneError, match="single-user"):
        split_mesh.split(sheet)
    assert len(sheet.data.vertices) == 25
    assert "muslin_tear_origin" not in sheet.data.attributes


def test_a_bake_of_a_mesh_that_is_not_split_names_the_button(extension, scene):
    torn_sheet()
    with pytest.raises(extension.core.ClothError, match="Sheet.*press Split for Tearing in the panel") as raised:
        builders.finish(extension.bake.bake(scene))
    assert "core" not in str(raised.value) and "=" not in str(raised.value)
