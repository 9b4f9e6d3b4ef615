# SPDX-License-Identifier: GPL-3.0-or-later
"""A keyed *Speed Multiplier* is that of each frame: cloth falls by it, and what moves by frames keeps to them."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.window_steps import Driven, latest, moving_scene, stored

LAST = 12


def curve_of(scene):
    data = scene.animation_data
    return data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves[0]


def by_keys(scene, first=1.0, last=0.1):
    builders.animate(scene.muslin, "speed", {1: first, LAST: last})
    for point in curve_of(scene).keyframe_points:
        point.interpolation = "LINEAR"


def by_strip(scene):
    by_keys(scene)
    data = scene.animation_data
    strip = data.nla_tracks.new().strips.new("Strip", 1, data.action)
    strip.action_slot = data.action_slot
    data.action = None


def by_driver(scene):
    scene.muslin.driver_add("speed").driver.expression = f"1 - 0.9 * (frame - 1) / {LAST - 1}"


def falling():
    """Add a free sheet in a vacuum, and return it."""
    sheet = builders.sheet(4)
    sheet.muslin.drag_coefficient = sheet.muslin.skin_friction = 0.0
    return sheet


@pytest.fixture(autouse=True)
def cached(scene, tmp_path):
    scene.muslin.cache_folder, scene.muslin.backend = str(tmp_path / "cache"), "NUMPY"
    scene.frame_end = LAST


def fallen(scene, sheet):
    """Return how far the sheet has fallen at each frame [m]."""
    return -np.array([builders.displayed(sheet, frame)[:, 2].mean() for frame in range(1, LAST + 1)])


@pytest.mark.parametrize("animate", [by_keys, by_strip, by_driver])
@pytest.mark.parametrize("stands", [1, LAST])
def test_cloth_falls_for_the_time_that_the_speeds_of_the_frames_add_up_to(extension, scene, animate, stands):
    sheet = falling()
    animate(scene)
    scene.frame_set(stands)
    report = builders.finish(extension.bake.bake(scene))
    time = np.concatenate([[0.0], np.cumsum(np.linspace(1.0, 0.1, LAST)[1:])]) / 24.0
    assert fallen(scene, sheet) == pytest.approx(0.5 * 9.81 * time ** 2, rel=1e-3, abs=1e-6)
    assert report.as_dict()["settings"]["scene"]["keyed"] == ["speed"]
    steps = [frame["step_max"] for frame in report.certificates[1:]]
    assert steps == pytest.approx(np.linspace(1.0, 0.1, LAST)[1:] / 24.0, rel=1e-5)


def test_a_speed_that_has_the_same_key_everywhere_is_that_speed(extension, scene):
    sheet, found = falling(), []
    for animate in (False, True):
        scene.muslin.speed = 1.7
        if animate:
            builders.animate(scene.muslin, "speed", {1: 1.7, LAST: 1.7})
        builders.finish(extension.bake.bake(scene))
        found.append(fallen(scene, sheet))
    assert found[0] == pytest.approx(found[1], abs=1e-6)


@pytest.mark.parametrize("wrong", [0.0, -3.0])
def test_keys_below_the_range_of_the_property_are_clamped_to_it(extension, scene, wrong):
    sheet = falling()
    by_keys(scene, last=1.0)
    for point in curve_of(scene).keyframe_points:
        point.co.y = wrong
    report = builders.finish(extension.bake.bake(scene))
    least = scene.muslin.bl_rna.properties["speed"].hard_min
    assert [frame["step_max"] for frame in report.certificates[1:]] == pytest.approx(
        [least / 24.0] * (LAST - 1), rel=1e-5)
    assert np.abs(fallen(scene, sheet)).max() < 1e-5


def test_colliders_pins_and_noise_keep_to_their_frames(extension, scene):
    sheet = moving_scene()
    by_keys(scene)
    bpy.ops.object.effector_add(type="WIND")
    found = extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                            bpy.context.view_layer)
    box, window, field = found.scene.colliders[0], found.window, found.scene.fields[0]
    for frame in range(2, 6):
        window.read(frame)
        scene.frame_set(frame)
        matrix = np.array(scene.objects["Box"].matrix_world)
        time = window.motion.clock.time(frame)
        np.testing.assert_allclose(box.at(time).mean(axis=0), matrix[:3, 3], atol=1e-6)
        assert field.noise_at(time) == pytest.approx(frame - 1)
    assert time == pytest.approx(sum(1.0 - 0.9 * k / (LAST - 1) for k in range(1, 5)) / 24.0)
    assert sheet.name in window.motion.start


def test_a_bake_beside_the_window_that_is_cancelled_has_the_bytes_of_one_inline(extension, scene):
    sheet = moving_scene()
    by_keys(scene, 0.3, 2.0)
    builders.finish(extension.bake.bake(scene))
    wanted = stored(extension, sheet)
    bake = Driven(extension, scene, [sheet])
    bake.solving(3)
    bake.close()
    take = latest(extension, scene, sheet)
    again = Driven(extension, scene, [sheet], extension.preparation.Continuation(take.folder))
    again.until()
    assert stored(extension, sheet) == wanted


def test_a_bake_goes_on_inline_from_the_middle_to_the_same_bytes(extension, scene):
    sheet = moving_scene()
    by_keys(scene, 0.3, 2.0)
    builders.finish(extension.bake.bake(scene))
    wanted = stored(extension, sheet)
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.done == LAST // 2:
            break
    steps.close()
    take = latest(extension, scene, sheet)
    assert 1 < take.reached < LAST
    builders.finish(extension.bake.bake(scene, resume=extension.preparation.Continuation(take.folder)))
    assert stored(extension, sheet) == wanted


def test_a_key_on_the_speed_makes_a_bake_out_of_date_and_another_frame_does_not(extension, scene):
    sheet = falling()

    def now():
        return extension.fingerprint.fingerprint(scene, sheet)

    plain = now()
    builders.animate(scene.muslin, "speed", {1: 1.0, LAST: 0.5})
    keyed = [now() for frame in (1, 5, LAST) if scene.frame_set(frame) is None]
    assert keyed[0] == keyed[1] == keyed[2]
    assert extension.fingerprint.differences(plain, keyed[0]) == ["speed multiplier"]
    curve_of(scene).keyframe_points[1].co.y = 0.25
    assert extension.fingerprint.differences(keyed[0], now()) == ["speed multiplier"]
    scene.render.fps = 30
    assert extension.fingerprint.differences(keyed[0], now()) == ["frame rate"]


def test_a_key_on_the_speed_while_a_bake_runs_ends_it(extension, scene):
    falling()
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.done == 3:
            break
    builders.animate(scene.muslin, "speed", {1: 1.0, LAST: 0.5})
    with pytest.raises(extension.core.SceneError, match="speed multiplier was added while the bake ran"):
        builders.finish(steps)


def test_every_number_of_the_scene_that_may_be_keyed_is_read_over_time(extension, scene):
    """Beside the wind, which is read with gravity."""
    names = {prop.identifier for prop in scene.muslin.bl_rna.properties
             if prop.is_animatable and not prop.is_readonly and prop.type in ("FLOAT", "INT", "BOOLEAN")}
    assert names - {"wind"} == extension.settings.KEYED_OF_SCENES


def test_the_hint_on_a_fall_past_all_colliders_does_not_guess_a_keyed_speed(extension, scene):
    sheet = falling()
    builders.box(size=0.1).location = (0.0, 0.0, -9.0)
    bpy.context.view_layer.update()
    assert any("reach of its fall" in hint for hint in extension.hints.hints(scene, sheet))
    by_keys(scene)
    assert not any("reach of its fall" in hint for hint in extension.hints.hints(scene, sheet))
