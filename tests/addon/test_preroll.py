# SPDX-License-Identifier: GPL-3.0-or-later
"""The pre-roll: frames before the first one are simulated and not kept, from the animation or from the rest pose."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders


def read_scene(extension, scene):
    return extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                           bpy.context.view_layer)


def bake(extension, scene, obj, frames):
    """Return the displayed positions at `frames` after a bake, and the report."""
    report = builders.finish(extension.bake.bake(scene))
    return np.array([builders.displayed(obj, frame) for frame in frames]), report


@pytest.fixture
def rigged(scene):
    """Return a rig with keys, values without keys, a driver and inverse kinematics, a collider and a cloth.

    A box follows the end of the chain, and the corners of a cloth are pinned and deformed by the rig.
    """
    rig = builders.armature(4)
    bones = [rig.pose.bones[f"Bone{i}"] for i in range(4)]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for one, two in zip(range(3), range(1, 4), strict=True):
        rig.data.edit_bones[f"Bone{two}"].parent = rig.data.edit_bones[f"Bone{one}"]
    rig.data.edit_bones["Bone1"].tail.y = 0.02                                     # inverse kinematics need a bend
    bpy.ops.object.mode_set(mode="OBJECT")
    bones[0].rotation_mode = "QUATERNION"
    builders.animate(bones[0], "rotation_quaternion", {1: (1.0, 0.1, 0.0, 0.0), 11: (0.8, 0.6, 0.0, 0.0)})
    bones[0].rotation_euler = 0.1, 0.2, 0.3                                       # of the other mode
    goal = bpy.data.objects.new("Goal", None)
    bpy.context.scene.collection.objects.link(goal)
    goal.location = 0.4, -0.3, 1.0
    chain = bones[2].constraints.new("IK")
    chain.target, chain.chain_count = goal, 2
    chain.driver_add("mute").driver.expression = "0"
    bones[3].driver_add("rotation_euler", 1).driver.expression = "0.1 * frame"
    bones[3].rotation_euler[2], bones[3].scale = 0.7, (1.0, 1.5, 1.0)             # no keys
    box = builders.box(size=0.2)
    box.parent, box.parent_type, box.parent_bone = rig, "BONE", "Bone3"
    sheet = builders.sheet(4, height=1.2)
    builders.pin(sheet, {0: 1.0, 3: 1.0})
    for group, vertices in (("Bone1", range(8)), ("Bone3", range(8, 16))):
        sheet.vertex_groups.new(name=group).add([*vertices], 1.0, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = rig
    scene.muslin.backend = "NUMPY"
    scene.frame_set(4)
    return rig, box, sheet


def pose_state(rig):
    """Return all that a pre-roll could change on a rig."""
    return [[tuple(getattr(bone, name)) for name in ("location", "rotation_quaternion", "rotation_euler",
                                                     "rotation_axis_angle", "scale")]
            + [c.mute for c in bone.constraints] for bone in rig.pose.bones] + [
        [driver.mute for driver in rig.animation_data.drivers],
        [(curve.data_path, len(curve.keyframe_points), curve.mute) for layer in rig.animation_data.action.layers
         for strip in layer.strips for bag in strip.channelbags for curve in bag.fcurves]]


def test_frames_before_the_first_are_simulated_and_not_kept(extension, scene):
    sheet = builders.sheet(4)
    builders.pin(sheet, {0: 1.0})
    builders.animate(sheet, "location", {-2: (0.0, 0.0, 0.0), 4: (0.6, 0.0, 0.0)})
    scene.muslin.backend = "NUMPY"
    scene.muslin.use_custom_range, scene.muslin.frame_start, scene.muslin.frame_end = True, -2, 4
    wanted, _ = bake(extension, scene, sheet, range(2, 5))
    scene.muslin.frame_start, scene.muslin.preroll = 2, 4
    shown, report = bake(extension, scene, sheet, range(2, 5))
    assert np.array_equal(shown, wanted)
    assert (report.first, report.last, len(report.certificates)) == (2, 4, 3)
    assert [key.name for key in sheet.data.shape_keys.key_blocks] == ["Basis", *(f"Muslin {n:04d}" for n in (2, 3, 4))]


def test_a_pre_roll_from_rest_leads_from_the_rest_pose_to_the_pose_of_the_first_frame(extension, scene, rigged):
    rig, box, sheet = rigged
    rest = rig.data.pose_position
    rig.data.pose_position = "REST"
    at_rest = read_scene(extension, scene).window
    rig.data.pose_position = rest
    posed = read_scene(extension, scene).window
    scene.muslin.preroll, scene.muslin.preroll_from_rest = 1000, True
    inputs = read_scene(extension, scene)
    window = inputs.window
    assert window.frame == 1 - 1000
    for name in ("Sheet", "Box"):
        assert np.allclose(window.at(name, 0.0), at_rest.at(name, 0.0), atol=1e-6)
        assert not np.allclose(window.at(name, 0.0), posed.at(name, 0.0), atol=0.05)
    assert np.allclose(inputs.cloths[0].positions, at_rest.at("Sheet", 0.0), atol=1e-6)     # the rest shape, too
    near, = window.read(0)                                          # smoothly: 3e-6 of the way is left
    for name in ("Sheet", "Box"):
        assert np.allclose(near[1][name], posed.at(name, 0.0), atol=2e-5)
    there = window.read(1)[-1][1]
    for name in ("Sheet", "Box", "matrix Sheet"):
        assert np.array_equal(there[name], posed.at(name, 0.0))


def test_coarse_frames_are_of_the_pre_roll(extension, scene):
    def settings():
        return extension.settings.scene_settings_of(scene)

    builders.sheet(3)
    assert settings().solver().coarse_frames == 0
    scene.muslin.coarse_frames = 9
    assert settings().solver().coarse_frames == 0                            # no pre-roll
    scene.muslin.preroll = 4
    assert settings().solver().coarse_frames == 4
    scene.muslin.preroll = 40
    assert settings().solver().coarse_frames == 9


def test_bones_turn_instead_of_passing_through_their_joint(extension, scene):
    rig = builders.armature(1, length=1.0)
    rig.pose.bones["Bone0"].rotation_euler[0] = 0.75 * np.pi
    box = builders.box(size=0.2)
    box.parent, box.parent_type, box.parent_bone = rig, "BONE", "Bone0"
    builders.sheet(3, height=5.0)
    scene.muslin.preroll, scene.muslin.preroll_from_rest = 10, True
    window = read_scene(extension, scene).window
    angles = []
    for frame in range(-8, 2):
        centre = window.read(frame)[-1][1]["Box"].mean(axis=0)
        assert np.linalg.norm(centre) == pytest.approx(1.0, abs=1e-5)
        angles.append(np.arctan2(-centre[1], centre[2]))
    u = np.arange(1, 11) / 10.0
    assert np.allclose(angles, 0.75 * np.pi * u * u * (3.0 - 2.0 * u), atol=1e-5)


@pytest.mark.parametrize("auto_key", [False, True])
def test_a_bake_with_a_pre_roll_from_rest_leaves_the_pose_as_it_was(extension, scene, rigged, auto_key):
    rig, _, sheet = rigged
    scene.tool_settings.use_keyframe_insert_auto = auto_key
    scene.muslin.preroll, scene.muslin.preroll_from_rest, scene.frame_end = 3, True, 2
    scene.frame_set(1)
    before, authored = pose_state(rig), builders.state(sheet)
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.frame < 2:
            assert pose_state(rig) == before
        if progress.done == 2:
            break
    steps.close()
    assert pose_state(rig) == before and builders.state(sheet) == authored
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(1)
    assert pose_state(rig) == before


def test_both_ends_are_exact_whatever_bones_inherit(extension, scene):
    rig = builders.armature(5)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for one, two in zip(range(4), range(1, 5), strict=True):
        bones[f"Bone{two}"].parent, bones[f"Bone{two}"].roll = bones[f"Bone{one}"], 0.3 * two
    bones["Bone1"].inherit_scale, bones["Bone2"].use_inherit_rotation = "NONE", False
    bones["Bone3"].use_local_location, bones["Bone4"].inherit_scale = False, "ALIGNED"
    bpy.ops.object.mode_set(mode="OBJECT")
    rng = np.random.default_rng(1)
    for bone, mode in zip(rig.pose.bones, ("XYZ", "QUATERNION", "AXIS_ANGLE", "ZYX", "QUATERNION"), strict=True):
        bone.rotation_mode, bone.location, bone.scale = mode, 0.3 * rng.normal(size=3), 1.0 + 0.3 * rng.random(3)
        turn = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}.get(
            mode, ("rotation_euler", 3))
        setattr(bone, turn[0], rng.normal(size=turn[1]))
    scene.frame_set(1)

    def pose():
        evaluated = rig.evaluated_get(bpy.context.view_layer.depsgraph)
        return np.array([bone.matrix for bone in evaluated.pose.bones])

    posed, rest = pose(), np.array([bone.matrix_local for bone in rig.data.bones])
    for part, wanted in ((0.0, rest), (1.0, posed), (0.0, rest)):
        with extension.rest_pose.towards_rest_pose(scene, bpy.context.view_layer, part):
            assert np.allclose(pose(), wanted, atol=2e-6), part
    bpy.context.view_layer.update()
    assert np.array_equal(pose(), posed)


def test_a_pose_is_restored_if_reading_fails(extension, scene, rigged, monkeypatch):
    rig = rigged[0]
    scene.muslin.preroll, scene.muslin.preroll_from_rest = 3, True
    scene.frame_set(1)
    before = pose_state(rig)
    monkeypatch.setattr(extension.frame_window.FrameWindow, "_sample", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        read_scene(extension, scene)
    assert pose_state(rig) == before


def test_a_pre_roll_that_blender_has_no_frames_for_is_refused(extension, scene):
    builders.sheet(3)
    scene.muslin.preroll = 1000000
    scene.muslin.use_custom_range, scene.muslin.frame_start, scene.muslin.frame_end = True, -100000, -99000
    with pytest.raises(extension.core.SceneError, match="would start at frame -1100000, and Blender's first"):
        next(extension.bake.bake(scene))


def test_a_bake_depends_on_its_pre_roll(extension, scene):
    sheet = builders.sheet(3)
    of = extension.fingerprint.fingerprint
    without = of(scene, sheet)
    scene.muslin.preroll_from_rest = True
    assert of(scene, sheet) == without                                  # no frames: no difference
    scene.muslin.preroll = 5
    assert extension.fingerprint.differences(without, of(scene, sheet)) == ["pre-roll"]
    scene.muslin.preroll, scene.muslin.motion_samples = 0, 3
    assert extension.fingerprint.differences(without, of(scene, sheet)) == ["motion samples"]
