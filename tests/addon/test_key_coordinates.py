# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes are displayed as simulated, with any modifiers, parents and shape keys of the object."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.fixture
def simulated(extension, monkeypatch):
    """Simulate random motion, and return the list of the simulated core.Scenes."""
    scenes = []
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple, scenes))
    return scenes


def check_playback(extension, scene, obj, simulated, *, tolerance=2e-6, unit=1.0):
    """Bake, compare each displayed frame with the scripted motion, and return the report.

    `tolerance` is relative to the extent of the cloth.
    """
    report = builders.finish(extension.bake.bake(scene))
    start = simulated[-1].cloths[0].positions
    extent = np.abs(start).max() + np.ptp(start, axis=0).max()
    for frame in range(scene.frame_start, scene.frame_end + 1):
        wanted = crumple(start, frame - scene.frame_start)
        error = np.abs(builders.displayed(obj, frame) * unit - wanted).max()
        assert error < tolerance * extent, (frame, error / extent)
    return report


def rigged(sheet):
    """Add an armature that rotates and scales, with weights of its two bones for each vertex, and return it."""
    rig = builders.armature()
    groups = [sheet.vertex_groups.new(name=f"Bone{i}") for i in range(2)]
    for vertex in sheet.data.vertices:
        weight = vertex.co.x + 0.5
        groups[0].add([vertex.index], weight, "REPLACE")
        groups[1].add([vertex.index], 1.0 - weight, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = rig
    bone = rig.pose.bones["Bone0"]
    bone.rotation_euler = (0.0, 0.0, 0.0)
    bone.keyframe_insert("rotation_euler", frame=1)
    bone.rotation_euler = (0.5, 0.3, 0.9)
    bone.keyframe_insert("rotation_euler", frame=4)
    rig.pose.bones["Bone1"].scale = (1.2, 0.8, 1.1)
    return rig


def own_keys(sheet):
    """Add two relative shape keys: one with keyframes, one with a fixed value and a vertex group."""
    sheet.shape_key_add(name="Basis")
    bulge = sheet.shape_key_add(name="Bulge", from_mix=False)
    lean = sheet.shape_key_add(name="Lean", from_mix=False)
    rng = np.random.default_rng(7)
    for key in (bulge, lean):
        key.points.foreach_set("co", rng.normal(size=len(sheet.data.vertices) * 3).astype(np.float32))
    group = sheet.vertex_groups.new(name="Half")
    group.add(range(10), 0.5, "REPLACE")
    lean.vertex_group, lean.value = "Half", 0.4
    builders.animate(bulge, "value", {1: 0.0, 4: 0.7})


def test_a_plain_sheet_plays_back_as_simulated(extension, scene, simulated):
    sheet = builders.sheet()
    check_playback(extension, scene, sheet, simulated)
    assert not sheet.data.shape_keys.use_relative


def test_many_frames_play_back_within_rounding(extension, scene, simulated):
    sheet = builders.sheet(3)
    scene.frame_start, scene.frame_end = -20, 400
    check_playback(extension, scene, sheet, simulated, tolerance=2e-3)     # moves up to 40 times its size per frame


def test_a_parented_mirrored_and_unevenly_scaled_sheet_plays_back_as_simulated(extension, scene, simulated):
    import bpy

    sheet = builders.sheet()
    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    sheet.parent = parent
    parent.scale, parent.rotation_euler = (1.0, 3.0, 0.5), (0.3, 0.2, 0.1)
    sheet.scale, sheet.rotation_euler, sheet.location = (-2.0, 1.0, 0.7), (1.0, 0.0, 0.5), (3.0, 1.0, -2.0)
    builders.animate(parent, "location", {1: (0.0, 0.0, 0.0), 4: (2.0, 0.0, 1.0)})
    check_playback(extension, scene, sheet, simulated)


@pytest.mark.parametrize("scale", [0.001, 0.01, 1000.0])
def test_the_scene_s_unit_is_undone_in_playback(extension, scene, simulated, scale):
    scene.unit_settings.scale_length = scale
    sheet = builders.sheet(size=2.0)
    check_playback(extension, scene, sheet, simulated, unit=scale)
    assert np.ptp(simulated[0].cloths[0].positions[:, 0]) == pytest.approx(2.0 * scale)


def test_an_armature_stays_on_and_is_undone_in_the_keys(extension, scene, simulated):
    sheet = builders.sheet()
    rig = rigged(sheet)
    sheet.parent = rig
    rig.scale = (1.0, 2.0, 0.5)
    sheet.scale = (1.0, 0.5, 3.0)
    report = check_playback(extension, scene, sheet, simulated)
    assert sheet.modifiers["Armature"].show_viewport
    assert report.playback_error["Sheet"] < 1e-5
    assert report.notes == []


def test_an_armature_parent_without_a_modifier_is_undone_too(extension, scene, simulated):
    sheet = builders.sheet()
    rig = rigged(sheet)
    sheet.modifiers.clear()
    sheet.parent, sheet.parent_type = rig, "ARMATURE"
    check_playback(extension, scene, sheet, simulated)


def test_the_user_s_own_keys_are_kept_and_do_not_add_to_the_displayed_shape(extension, scene, simulated):
    sheet = builders.sheet()
    own_keys(sheet)
    scene.frame_set(1)
    before = builders.state(sheet)
    check_playback(extension, scene, sheet, simulated, tolerance=4e-6)
    scene.frame_set(1)
    after = builders.state(sheet)
    assert sheet.data.shape_keys.use_relative
    assert after["keys"][:3] == before["keys"]
    assert set(before["animation"][-1][0][-1]) <= set(after["animation"][-1][0][-1])


def test_own_keys_an_armature_a_parent_and_uneven_scale_together(extension, scene, simulated):
    sheet = builders.sheet()
    own_keys(sheet)
    sheet.parent = rigged(sheet)
    sheet.parent.scale = (1.0, 2.0, 0.5)
    sheet.scale = (-1.0, 0.5, 3.0)
    check_playback(extension, scene, sheet, simulated, tolerance=4e-6)


def test_a_driven_key_is_undone_with_its_value_at_each_frame(extension, scene, simulated):
    sheet = builders.sheet()
    own_keys(sheet)
    driver = sheet.data.shape_keys.key_blocks["Lean"].driver_add("value").driver
    driver.expression = "frame / 10"
    check_playback(extension, scene, sheet, simulated, tolerance=4e-6)


def test_a_lattice_is_undone_by_newton_s_method(extension, scene, simulated, monkeypatch):
    import bpy

    def sway(start, since):
        return start + 0.02 * since * np.sin(3.0 * start[:, [1, 2, 0]] + since)

    lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    scene.collection.objects.link(lattice)
    lattice.scale = (3.0, 3.0, 3.0)
    lattice.data.points[7].co_deform = (1.0, 1.3, 0.9)
    lattice.data.points[0].co_deform = (-0.3, -0.6, -0.5)
    sheet = builders.sheet()
    sheet.modifiers.new("Lattice", "LATTICE").object = lattice
    simulated = []
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, sway, simulated))
    report = builders.finish(extension.bake.bake(scene))
    for frame in range(1, 5):
        assert np.abs(builders.displayed(sheet, frame) - sway(simulated[0].cloths[0].positions, frame - 1)).max() < 1e-5
    assert report.playback_error["Sheet"] < 1e-5


def test_a_subdivision_acts_after_the_bake_and_stays_on(extension, scene, simulated):
    sheet = builders.sheet(4)
    subdivision = sheet.modifiers.new("Subdivision", "SUBSURF")
    sheet.modifiers.new("Solidify", "SOLIDIFY")
    builders.finish(extension.bake.bake(scene))
    assert len(simulated[0].cloths[0].positions) == 16
    assert subdivision.show_viewport
    assert len(builders.displayed(sheet, 3)) == 2 * 7 * 7
    subdivision.show_viewport = sheet.modifiers["Solidify"].show_viewport = False
    wanted = crumple(simulated[0].cloths[0].positions, 2)
    assert np.abs(builders.displayed(sheet, 3) - wanted).max() < 1e-5


def test_a_modifier_that_cannot_be_undone_is_an_error_that_names_it(extension, scene, simulated):
    floor = [(-5, -5, -1), (5, -5, -1), (5, 5, -1), (-5, 5, -1)]
    target = builders.mesh_object("Floor", floor, [(0, 1, 2, 3)], kind="NONE")
    sheet = builders.sheet()
    wrap = sheet.modifiers.new("Wrap", "SHRINKWRAP")
    wrap.target = target
    before = builders.state(sheet)
    with pytest.raises(extension.core.SceneError, match=r"Sheet: no shape key can move vertex \d+ .*'Wrap'"):
        builders.finish(extension.bake.bake(scene))
    assert builders.state(sheet) == before


def test_a_smoothing_modifier_is_noted_with_the_playback_error(extension, scene, simulated):
    sheet = builders.sheet()
    sheet.modifiers.new("Smooth", "SMOOTH").iterations = 10
    report = builders.finish(extension.bake.bake(scene))
    start = simulated[0].cloths[0].positions
    worst = max(np.linalg.norm(builders.displayed(sheet, frame) - crumple(start, frame - 1), axis=1).max()
                for frame in range(1, 5))
    assert report.playback_error["Sheet"] == pytest.approx(worst, rel=1e-3)
    assert "Sheet: plays back up to" in report.notes[0]


@pytest.mark.parametrize("keys", [False, True])
def test_between_frames_the_motion_is_linear_and_after_the_end_it_stops(extension, scene, simulated, keys):
    sheet = builders.sheet()
    if keys:
        sheet.shape_key_add(name="Basis")
        sheet.shape_key_add(name="Bulge", from_mix=False)
    builders.finish(extension.bake.bake(scene))
    halves = [builders.displayed(sheet, 2), builders.displayed(sheet, 3)]
    scene.frame_set(2, subframe=0.5)
    assert np.allclose(builders.displayed_now(sheet), (halves[0] + halves[1]) / 2, atol=1e-4)
    assert np.allclose(builders.displayed(sheet, 40), builders.displayed(sheet, 4), atol=1e-5)


@pytest.mark.parametrize("keys", [False, True])
def test_before_its_first_frame_a_baked_object_is_the_user_s_own(extension, scene, simulated, keys):
    sheet = builders.sheet()
    if keys:
        own_keys(sheet)
    rigged(sheet)
    builders.animate(sheet, "location", {-5: (0.0, 1.0, 0.0), 1: (1.0, 0.0, 0.0)})
    own = builders.displayed(sheet, -3)
    builders.finish(extension.bake.bake(scene))
    assert np.allclose(builders.displayed(sheet, -3), own, atol=1e-5)


def test_an_armature_parent_and_own_keys_together(extension, scene, simulated):
    sheet = builders.sheet()
    own_keys(sheet)
    rig = rigged(sheet)
    sheet.modifiers.clear()
    sheet.parent, sheet.parent_type = rig, "ARMATURE"
    check_playback(extension, scene, sheet, simulated, tolerance=4e-6)


def test_a_subdivision_below_an_armature_is_undone_without_the_subdivision(extension, scene, simulated):
    sheet = builders.sheet()
    subdivision = sheet.modifiers.new("Subdivision", "SUBSURF")
    rigged(sheet)
    builders.finish(extension.bake.bake(scene))
    assert subdivision.show_viewport
    subdivision.show_viewport = False
    wanted = crumple(simulated[0].cloths[0].positions, 3)
    assert np.abs(builders.displayed(sheet, 4) - wanted).max() < 1e-5


def test_a_pinned_basis_does_not_hide_a_bake(extension, scene, simulated):
    sheet = builders.sheet()
    sheet.show_only_shape_key = True
    check_playback(extension, scene, sheet, simulated)


@pytest.mark.parametrize("kind", ["SURFACE_DEFORM", "MESH_CACHE"])
def test_a_modifier_that_ignores_the_keys_is_an_error_that_names_it(extension, scene, simulated, tmp_path, kind):
    import bpy

    sheet = builders.sheet()
    modifier = sheet.modifiers.new("Follow", kind)
    if kind == "SURFACE_DEFORM":
        modifier.target = builders.mesh_object("Floor", [(-5, -5, -1), (5, -5, -1), (5, 5, -1), (-5, 5, -1)],
                                               [(0, 1, 2, 3)], kind="NONE")
        bpy.context.view_layer.update()
        with bpy.context.temp_override(object=sheet):
            bpy.ops.object.surfacedeform_bind(modifier="Follow")
        assert modifier.is_bound
    else:
        shape = np.array([corner for vertex in sheet.data.vertices for corner in vertex.co], ">f4")
        header = np.array([1, 25], ">i4").tobytes() + np.array([0.0], ">f4").tobytes()
        modifier.filepath = str(tmp_path / "cache.mdd")
        Path(modifier.filepath).write_bytes(header + shape.tobytes())
    with pytest.raises(extension.core.SceneError, match="Sheet: no shape key can move vertex 0 .*'Follow'"):
        builders.finish(extension.bake.bake(scene))


def test_a_mirror_acts_on_the_baked_half_and_merges_vertices_at_its_plane(extension, scene, monkeypatch):
    """As the user guide says, the half is simulated alone, and its border may leave the plane."""
    import bpy

    half = builders.sheet(4)
    for vertex in half.data.vertices:
        vertex.co.x += 0.5
    half.modifiers.new("Mirror", "MIRROR")                      # merges within a millimetre
    simulated = []
    replace_simulation(monkeypatch, extension.core, simulate_as(
        extension.core, lambda x, since: x + [0.2 * max(0, since - 1), 0.0, 0.0], simulated))
    builders.finish(extension.bake.bake(scene))
    assert len(simulated[0].cloths[0].positions) == 16

    def shown(frame):
        scene.frame_set(frame)
        return len(half.evaluated_get(bpy.context.view_layer.depsgraph).data.vertices)

    assert [shown(frame) for frame in (1, 2, 3, 4)] == [28, 28, 32, 32]
