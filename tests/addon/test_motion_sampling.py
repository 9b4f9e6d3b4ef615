# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion between frames: arcs of colliders, pins and fields, by a fixed number of samples or as many as needed."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders

FRAMES = range(2, 5)


def read_scene(extension, scene):
    return extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                           bpy.context.view_layer)


def turning(obj, per_frame, first=1, last=4):
    """Turn the object around the origin at a constant rate [rad/frame]."""
    builders.animate(obj, "rotation_euler", {n: (0.0, 0.0, per_frame * (n - first)) for n in (first, last)})
    linear(obj)


def linear(obj):
    """Give the keys of the object straight curves without end."""
    for layer in obj.animation_data.action.layers:
        for strip in layer.strips:
            for bag in strip.channelbags:
                for curve in bag.fcurves:
                    curve.extrapolation = "LINEAR"
                    for key in curve.keyframe_points:
                        key.interpolation = "LINEAR"


@pytest.fixture
def arm(scene):
    """Return a sheet 2 m from the origin that is pinned and turns by 90 degrees a frame."""
    sheet = builders.sheet(3, size=0.1)
    for vertex in sheet.data.vertices:
        vertex.co.x += 2.0
    builders.pin(sheet, dict.fromkeys(range(9), 1.0))
    turning(sheet, 0.5 * np.pi)
    scene.muslin.backend = "NUMPY"
    return sheet


def farthest(window, rate, first=2, last=3):
    """Return the largest distance of the middle of the sheet to its circle from `first` to `last`, over its radius."""
    times = np.linspace(first - 1, last - 1, 65) / rate
    return max(abs(1.0 - np.linalg.norm(window.at("Sheet", time)[4, :2]) / 2.0) for time in times)


@pytest.mark.parametrize("samples", [1, 2, 3, 16])
def test_fixed_samples_divide_each_frame_evenly(extension, scene, arm, samples):
    scene.muslin.motion_samples = samples
    window = read_scene(extension, scene).window
    read = window.read(2)
    assert [time for time, _ in read] == pytest.approx([1.0 + k / samples for k in range(1, samples + 1)])
    for time, values in read:
        angle = 0.5 * np.pi * (time - 1.0)
        assert np.allclose(values["Sheet"][4], (2.0 * np.cos(angle), 2.0 * np.sin(angle), 0.0), atol=2e-6)
    assert (scene.frame_current, scene.frame_subframe) == (2, 0.0)


def test_cloth_moves_along_the_arc_and_the_error_falls_with_the_square_of_the_samples(extension, scene, arm):
    errors, simulated = [], []
    for samples in (1, 2, 4, 8):
        scene.muslin.motion_samples = samples
        inputs = read_scene(extension, scene)
        inputs.window.read(2)
        errors.append(farthest(inputs.window, 24.0, 1, 2))
        solver = extension.core.Solver(backend="numpy", frame_rate=96.0)        # looks at quarters of a frame
        quarters = [frame.positions[0][4] for frame in extension.core.simulate(inputs.scene, solver, range(1, 6))]
        simulated.append(max(abs(np.linalg.norm(x[:2]) / 2.0 - 1.0) for x in quarters))
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(rates > 1.8), rates
    assert simulated[0] > 0.25 and simulated[1] > 0.05 and max(simulated[2:]) < 1e-5


def test_automatic_samples_follow_the_path_within_the_tolerance_and_no_closer(extension, scene, arm):
    tolerance = extension.motion_sampling.CHORD_TOLERANCE
    for rate, some in ((0.5 * np.pi, 16), (0.3, 4), (0.02, 1)):
        turning(arm, rate)
        arm.muslin.thickness = 0.02
        window = read_scene(extension, scene).window
        read = window.read(2)
        assert len(read) == some
        error = 2.0 * farthest(window, 24.0, 1, 2)                                     # [m]
        assert error <= 1.01 * tolerance * 0.02 or some == 16


def test_straight_motion_has_the_bytes_of_one_sample(extension, scene):
    sheet, box = builders.sheet(3), builders.box()
    builders.pin(sheet, {0: 1.0})
    for obj in (sheet, box):
        builders.animate(obj, "location", {1: (0.0, 0.0, 0.0), 4: (1.0, 2.0, 3.0)})
        linear(obj)
    automatic = read_scene(extension, scene).window
    automatic_values = [automatic.read(frame) for frame in FRAMES]
    scene.muslin.motion_samples = 1
    fixed = read_scene(extension, scene).window
    for samples, frame in zip(automatic_values, FRAMES, strict=True):
        (time, values), = samples
        (_, wanted), = fixed.read(frame)
        assert time == frame and all(np.array_equal(values[name], wanted[name]) for name in wanted)


def test_what_takes_no_part_costs_no_samples(extension, scene):
    frames = []
    sheet = builders.sheet(3)                                       # moves, but nothing holds it to its animation
    builders.box()
    turning(sheet, 0.5 * np.pi)
    turning(builders.box("Spectator", kind="NONE"), 0.5 * np.pi)
    window = read_scene(extension, scene).window
    handler = lambda scene, *_: frames.append((scene.frame_current, scene.frame_subframe))      # noqa: E731
    bpy.app.handlers.frame_change_post.append(handler)
    try:
        for frame in FRAMES:
            window.read(frame)
    finally:
        bpy.app.handlers.frame_change_post.remove(handler)
    assert frames == [(frame, 0.0) for frame in FRAMES]


@pytest.mark.parametrize("turn, some", [(np.pi / 2, 4), (0.3, 1)])
def test_wind_that_turns_is_read_between_frames(extension, scene, turn, some):
    builders.sheet(3)
    bpy.ops.object.effector_add(type="WIND")
    gale = bpy.context.object
    gale.field.strength = 7.0
    builders.animate(gale, "rotation_euler", {1: (0.0, 0.0, 0.0), 4: (3.0 * turn, 0.0, 0.0)})
    linear(gale)
    window = read_scene(extension, scene).window
    assert len(window.read(2)) == some


@pytest.mark.parametrize("fps, base, old, new", [(24, 1.0, 100, 100), (24, 1.001, 100, 100), (30, 1.001, 100, 250),
                                                 (25, 1.0, 300, 100)])
@pytest.mark.parametrize("how", ["keys", "driver", "nodes"])
def test_times_between_frames_are_those_of_the_animation(extension, scene, fps, base, old, new, how):
    scene.render.fps, scene.render.fps_base = fps, base
    scene.render.frame_map_old, scene.render.frame_map_new = old, new
    ratio = old / new
    scene.muslin.motion_samples = 4
    builders.sheet(3)
    box = builders.box()
    if how == "keys":
        builders.animate(box, "location", {0: (0.0, 0.0, 0.0), 100: (100.0, 0.0, 0.0)})
        linear(box)
    elif how == "driver":
        box.driver_add("location", 0).driver.expression = "frame"
    else:
        tree = bpy.data.node_groups.new("Move", "GeometryNodeTree")
        for way in ("INPUT", "OUTPUT"):
            tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
        nodes = [tree.nodes.new(kind) for kind in (
            "NodeGroupInput", "GeometryNodeInputSceneTime", "ShaderNodeCombineXYZ", "GeometryNodeTransform",
            "NodeGroupOutput")]
        tree.links.new(nodes[1].outputs["Frame"], nodes[2].inputs["X"])
        tree.links.new(nodes[2].outputs[0], nodes[3].inputs["Translation"])
        tree.links.new(nodes[0].outputs[0], nodes[3].inputs["Geometry"])
        tree.links.new(nodes[3].outputs[0], nodes[4].inputs[0])
        box.modifiers.new("Move", "NODES").node_group = tree
    window = read_scene(extension, scene).window
    rate = fps / base / ratio
    for frame in FRAMES:
        for time, values in window.read(frame):
            assert values["Box"][:, 0].mean() == pytest.approx(time * ratio, abs=1e-4)
            assert np.allclose(window.at("Box", (time - 1) / rate), values["Box"])


@pytest.mark.parametrize("samples", [0, 3])
def test_a_window_that_continues_elsewhere_reads_the_same_samples(extension, scene, arm, samples):
    scene.muslin.motion_samples = samples
    arm.muslin.thickness = 0.3
    came, jumped = (read_scene(extension, scene).window for _ in range(2))
    for frame in (2, 3):
        came.read(frame)
    (time, _), = jumped.read(3)
    assert time == 3.0
    for (one, values), (two, others) in zip(came.read(4), jumped.read(4), strict=True):
        assert one == two and all(np.array_equal(values[name], others[name]) for name in values)


def test_faults_between_frames_name_the_time(extension, scene, arm):
    scene.muslin.motion_samples = 2
    arm.driver_add("location", 2).driver.expression = "1e30 if frame == 1.5 else 0"
    with pytest.raises(extension.core.ClothError, match=r"at frame 1\.5, which is no number"):
        read_scene(extension, scene).window.read(2)


def rigid_body(box):
    bpy.ops.rigidbody.world_add()
    box.rotation_euler = 0.5, 0.3, 0.1
    ground = builders.box("Ground", 4.0, kind="NONE")
    ground.location.z = -4.0
    for obj, kind in ((box, "ACTIVE"), (ground, "PASSIVE")):
        bpy.context.view_layer.objects.active = obj
        obj.select_set(True)
        bpy.ops.rigidbody.object_add(type=kind)


def simulation_zone(box):
    tree = bpy.data.node_groups.new("Zone", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    given, start, end, move, out = (tree.nodes.new(kind) for kind in (
        "NodeGroupInput", "GeometryNodeSimulationInput", "GeometryNodeSimulationOutput", "GeometryNodeTransform",
        "NodeGroupOutput"))
    start.pair_with_output(end)
    move.inputs["Translation"].default_value, move.inputs["Rotation"].default_value = (0.1, 0.0, 0.3), (0.4, 0.0, 0.0)
    for one, two in ((given, start), (start, move), (move, end), (end, out)):
        tree.links.new(one.outputs["Geometry"], two.inputs["Geometry"])
    box.modifiers.new("Zone", "NODES").node_group = tree


@pytest.mark.parametrize("move", [rigid_body, simulation_zone])
def test_simulations_of_blender_are_the_same_at_frames_whatever_is_read_between(extension, move):
    found = []
    for samples in (1, 4):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene = bpy.context.scene
        builders.sheet(3, height=9.0)
        move(builders.box())
        scene.muslin.motion_samples = samples
        scene.frame_set(1)
        window = read_scene(extension, scene).window
        found.append([window.at("Box", 0.0), *(window.read(frame)[-1][1]["Box"] for frame in range(2, 16))])
    assert np.array_equal(*found) and np.abs(found[0][-1] - found[0][0]).max() > 1.0
