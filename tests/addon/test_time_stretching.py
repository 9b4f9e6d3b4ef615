# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene's Time Stretching: cloth is slowed down as animation is, and a bake plays as it was made."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import builders
from scripted import crumple, simulate_as


@pytest.mark.parametrize("old, new", [(100, 200), (300, 100)])
@pytest.mark.parametrize("with_keys", [False, True])
def test_each_frame_shows_what_was_simulated_for_it(extension, scene, monkeypatch, old, new, with_keys):
    sheet = builders.sheet(4)
    if with_keys:
        sheet.shape_key_add(name="Basis")
        sheet.shape_key_add(name="Own")
    scene.render.frame_map_old, scene.render.frame_map_new = old, new
    monkeypatch.setattr(extension.core, "simulate", simulate_as(extension.core, crumple))
    start = builders.seen(sheet, 1)
    builders.finish(extension.bake.bake(scene))
    for frame in range(1, 5):
        assert np.abs(builders.seen(sheet, frame) - crumple(start, frame - 1)).max() < 1e-5, frame


def test_cloth_falls_at_the_speed_of_the_animation(extension, scene):
    sheet = builders.sheet(4)
    sheet.muslin.air_drag = 0.0
    scene.frame_end = 9
    builders.finish(extension.bake.bake(scene))
    whole = builders.seen(sheet, 5)[:, 2].mean()
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    builders.finish(extension.bake.bake(scene))
    assert builders.seen(sheet, 9)[:, 2].mean() == pytest.approx(whole, rel=0.1)


def test_a_bake_that_a_failed_one_leaves_keeps_its_speed(extension, scene, monkeypatch):
    sheet = builders.sheet(4)
    scene.render.frame_map_new = 200
    monkeypatch.setattr(extension.core, "simulate", simulate_as(extension.core, crumple))
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
