# SPDX-License-Identifier: GPL-3.0-or-later
"""The time of a bake: that of solving, whatever runs beside it, without pauses, and whatever is done with it later."""

from __future__ import annotations

import time

import bpy
import pytest

from tests.addon import builders
from tests.addon.window_steps import Driven, long_bake, moving_scene

PAUSE = 3.0


@pytest.fixture(autouse=True)
def cached(scene, tmp_path):
    """Keep the takes of the test in a folder of its own, and compile nothing."""
    scene.muslin.cache_folder, scene.muslin.backend, scene.frame_end = str(tmp_path / "cache"), "NUMPY", 6


def test_a_pause_and_the_reading_beside_it_are_no_part_of_the_time(extension, scene):
    began = time.monotonic()
    sheet, bake = long_bake(extension, scene, 40)
    bake.bake.pause()
    bake.until(lambda bake: bake.is_paused)
    time.sleep(PAUSE)
    bake.bake.go_on()
    bake.until()
    wall = time.monotonic() - began
    seconds = bake.report.seconds
    assert seconds["total"] == pytest.approx(seconds["solve"], abs=0.01) and 0.0 < seconds["total"] < wall - PAUSE
    statistics = extension.bake_statistics.statistics_of(sheet)
    assert statistics.total_seconds == seconds["total"] and max(statistics.values("seconds")) < PAUSE


def test_reading_counts_once_in_a_bake_by_a_script(extension, scene, monkeypatch):
    sheet = moving_scene()
    read = extension.preparation.Preparation.read

    def slow(self, frame):
        time.sleep(0.5)
        return read(self, frame)

    monkeypatch.setattr(extension.preparation.Preparation, "read", slow)
    report = builders.finish(extension.bake.bake(scene))
    assert report.seconds["solve"] < 2.5                             # 5 frames were read
    assert report.seconds["total"] == extension.baked_record.report_of(sheet)["seconds"]["total"]
    assert report.seconds["total"] == pytest.approx(report.seconds["solve"] + report.seconds.get("fit", 0.0), abs=1e-3)
    total = sum(frame["frame_seconds"] for frame in report.certificates)
    assert report.seconds["solve"] == pytest.approx(total, abs=1e-3)


def test_a_switch_keeps_the_time_and_does_not_say_that_it_has_baked(extension, scene):
    sheet = moving_scene()
    driven = Driven(extension, scene, [sheet])
    driven.until()
    before = extension.baked_record.report_of(sheet)["seconds"]
    bpy.context.view_layer.objects.active = sheet
    for result in ("MESH_CACHE", "SHAPE_KEYS"):
        sheet.muslin.result = result
        time.sleep(0.3)
        assert bpy.ops.muslin.bake_use() == {"FINISHED"}
        report = extension.baked_record.report_of(sheet)
        assert report["seconds"] == before
        assert "Baked" not in extension.certificate_text.switched(sheet, report)
