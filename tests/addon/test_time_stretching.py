# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene's Time Stretching: it slows cloth as it slows animation, and bakes play at their own speed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.mark.parametrize("old, new", [(100, 200), (300, 100)])
@pytest.mark.parametrize("with_keys", [False, True])
def test_each_frame_displays_the_shape_simulated_for_it(extension, scene, monkeypatch, old, new, with_keys):
    sheet = builders.sheet(4)
    if with_keys:
        sheet.shape_key_add(name="Basis")
        sheet.shape_key_add(name="Own")
    scene.render.frame_map_old, scene.render.frame_map_new = old, new
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    start = builders.displayed(sheet, 1)
    builders.finish(extension.bake.bake(scene))
    for frame in range(1, 5):
        assert np.abs(builders.displayed(sheet, frame) - crumple(start, frame - 1)).max() < 1e-5, frame


def test_cloth_falls_at_the_speed_of_the_stretched_animation(extension, scene):
    sheet = builders.sheet(4)
    sheet.muslin.air_drag = 0.0
    scene.frame_end = 9
    builders.finish(extension.bake.bake(scene))
    whole = builders.displayed(sheet, 5)[:, 2].mean()
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    builders.finish(extension.bake.bake(scene))
    assert builders.displayed(sheet, 9)[:, 2].mean() == pytest.approx(whole, rel=0.1)


def test_an_earlier_bake_restored_after_a_failure_keeps_its_speed(extension, scene, monkeypatch):
    sheet = builders.sheet(4)
    scene.render.frame_map_new = 200
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    builders.finish(extension.bake.bake(scene))
    scene.render.frame_map_new = 100
    scene.frame_set(1)
    before = builders.state(sheet)

    def fail(*_):
        raise RuntimeError("no room")

    save = extension.baked_record.save
    monkeypatch.setattr(extension.baked_record, "save",
                        lambda keys, record: save(keys, record) if record.time_ratio == 0.5 else fail())
    with pytest.raises(RuntimeError, match="no room"):
        builders.finish(extension.bake.bake(scene))
    assert builders.state(sheet) == before


def test_cloth_moves_at_its_own_speed_and_colliders_at_that_of_the_frames(extension, scene, read):
    sheet = builders.sheet(4)
    sheet.muslin.air_drag = 0.0
    builders.animate(builders.box("Fast", size=0.1), "location", {1: (5.0, 0.0, 0.0), 4: (8.0, 0.0, 0.0)})
    scene.frame_end = 5
    lowest = []
    for speed in (1.0, 2.0):
        scene.muslin.speed = speed
        builders.finish(extension.bake.bake(scene))
        lowest.append(builders.displayed(sheet, 5)[:, 2].mean())
    assert lowest[1] == pytest.approx(4.0 * lowest[0], rel=0.05)
    found = extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), None,
                                            scene.view_layers[0])
    found.window.read(2)
    assert found.scene.colliders[0].at(2.0 / 24.0)[:, 0].mean() == pytest.approx(6.0, abs=0.6)
