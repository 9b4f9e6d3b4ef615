# SPDX-License-Identifier: GPL-3.0-or-later
"""Several bakes of one command: files, variants of settings, their outputs and caches, table and contact sheet."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.addon.headless import keys, muslin, reopen, saved_shot, stopped_at
from tests.addon.scripted import crumple, replace_simulation, simulate_as

pytestmark = pytest.mark.once


@pytest.fixture
def blend(scene, tmp_path):
    """Save a .blend with a pinned sheet above a box, which stays open, and return its path."""
    return saved_shot(scene, tmp_path)


@pytest.fixture
def command(extension, blend, monkeypatch):
    """Return a function that runs `muslin` in this process on the open file, with scripted motion."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    return lambda *arguments: extension.command_line.main([str(argument) for argument in arguments])


def test_every_combination_of_values_has_a_file_a_cache_and_a_row(command, blend, extension, tmp_path, capfd):
    import bpy

    assert command("bake", "--set", "material.bend_warp_micro=5,20", "--set", "scene.steps_per_frame=2",
                   "--json", tmp_path / "report.json") == 0
    report = json.loads((tmp_path / "report.json").read_text())
    outputs = [f"shot_material.bend_warp_micro-{value}_scene.steps_per_frame-2.blend" for value in (5, 20)]
    assert [run["output"] for run in report["runs"]] == [str(tmp_path / name) for name in outputs]
    assert report["runs"][1]["variant"] == {"material.bend_warp_micro": "20", "scene.steps_per_frame": "2"}
    assert report["runs"][1]["settings"]["cloths"]["Sheet"]["bend"][0] == pytest.approx(20e-6)
    assert report["runs"][1]["settings"]["scene"]["steps_per_frame"] == 2
    sheet = (tmp_path / "shot_sheet.html").read_text()
    assert report["sheet"] == str(tmp_path / "shot_sheet.html")
    assert sheet.count("<img ") == 2 and "material.bend_warp_micro=20, scene.steps_per_frame=2" in sheet
    error = capfd.readouterr().err
    assert "stretch p99" in error and "2 of 2: shot, material.bend_warp_micro=20" in error
    reopen(tmp_path / outputs[0])
    assert bpy.data.objects["Sheet"].muslin.bend_warp_micro == pytest.approx(5)
    folder = extension.takes.in_use(bpy.data.objects["Sheet"]).folder
    assert folder == tmp_path / "muslin_cache" / Path(outputs[0]).stem / "Sheet"


def test_variants_are_resumed_each_from_its_own_frames(command, blend, extension, monkeypatch, tmp_path, capfd):
    line = "bake", "--set", "Sheet.material.friction=0.1,0.9", "--resume", "--json", tmp_path / "report.json"
    assert command(*line) == 0
    stopped_at(extension, monkeypatch, 0)
    capfd.readouterr()
    assert command(*line) == 0
    assert capfd.readouterr().err.count("all frames are in") == 2
    stopped_at(extension, monkeypatch, 3)
    assert command("bake", "--set", "Sheet.material.friction=0.2,0.9", "--json", tmp_path / "report.json") == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert len(report["runs"]) == 1 and "1 were not begun" in report["error"]["message"]


def test_a_bake_that_fails_does_not_stop_the_others(command, blend, extension, tmp_path, capfd):
    assert command("bake", "--set", "material.pin_group=Gone,Pins", "--json", tmp_path / "report.json") == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["runs"][0]["error"]["type"] == "PinError" and "error" not in report["runs"][1]
    assert report["error"]["message"].startswith("1 of 2 bakes failed; shot, material.pin_group=Gone: Sheet: has no")
    assert not Path(report["runs"][0]["output"]).exists() and Path(report["runs"][1]["output"]).exists()
    sheet = (tmp_path / "shot_sheet.html").read_text()
    assert sheet.count("<img ") == 1 and "has no vertex group" in sheet


def test_bakes_that_cannot_be_drawn_are_saved_all_the_same(command, extension, monkeypatch, tmp_path):
    def refuses(*_):
        raise RuntimeError("no graphics here")

    monkeypatch.setattr(extension.snapshot, "draw", refuses)
    assert command("bake", "--sheet", tmp_path / "one.html") == 0
    assert "shot" in (tmp_path / "one.html").read_text() and (tmp_path / "shot_baked.blend").exists()


def test_several_files_are_baked_one_after_the_other(command, blend, tmp_path):
    other = tmp_path / "more" / "other.blend"
    other.parent.mkdir()
    shutil.copy(blend, other)
    assert command("bake", "--files", other, blend, "--output", tmp_path / "results") == 0
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == [
        "other_baked.blend", "shot_baked.blend", "shot_sheet.html"]
    assert keys(tmp_path / "results" / "other_baked.blend") == keys(tmp_path / "results" / "shot_baked.blend")


def test_plain_python_bakes_several_files_without_opening_one(blend, tmp_path):
    result = muslin("bake", "--files", "shot.blend", "--frames", 1, 3, "--threads", 1, "--sheet", "sheet.html",
                    cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "shot_baked.blend").exists() and (tmp_path / "sheet.html").exists()


@pytest.mark.parametrize(("arguments", "message"), [
    (("--set", "material.friction"), "is not of the form PATH=VALUE"),
    (("--set", "material.frction=1"), "there is no setting 'frction'; perhaps 'friction'"),
    (("--set", "materials.friction=1"), "is no path of a setting; perhaps 'material'"),
    (("--set", "material=1"), "material is no path of a setting; PATH is material.SETTING"),
    (("--set", "friction=1"), "PATH is material.SETTING, OBJECT.material.SETTING or scene.SETTING"),
    (("--set", "scene.steps_per_frame=1.5"), "'1.5' is not a whole number"),
    (("--set", "scene.steps_per_frame=0"), "0 is not from 1 to 1000"),
    (("--set", "material.friction=nan"), "nan is not from 0 to 10"),
    (("--set", "material.friction=0.1,"), "'' is not a number"),
    (("--set", "scene.integrator=bdf3"), "there is no 'bdf3'; perhaps 'bdf2'"),
    (("--set", "scene.use_self_collision=maybe"), "'maybe' is neither true nor false"),
    (("--set", "scene.wind=1:2"), "'1:2' has 2 components, 3 are needed"),
    (("--set", "scene.cache_folder=x"), "use --cache"),
    (("--set", "material.friction=1", "--set", "material.friction=2"), "is given twice"),
    (("--set", "material.friction=1", "--output", "x.blend"), "several files or variants go into a folder"),
    (("--files", "none.blend"), "there is no .blend file none.blend"),
    (("--sheet", "sheet.txt"), "does not end in .html"),
    (("--threads", "0"), "0 is less than 1"),
    (("--result", "alembic"), "alembic"),
    (("--progress", "xml"), "xml"),
    (("--cache", __file__), "is a file"),
])
def test_wrong_usage_exits_with_2_before_any_work(command, blend, tmp_path, capfd, arguments, message):
    assert command("bake", *arguments) == 2
    assert message in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["shot.blend"]


def test_a_setting_of_an_object_that_is_not_there_is_wrong_usage(command, blend, tmp_path, capfd):
    assert command("bake", "--set", "Sheep.material.friction=1") == 2
    assert "has no mesh object 'Sheep'; perhaps 'Sheet'; there are: " in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["shot.blend"]


def test_of_several_files_the_one_without_the_object_fails(command, blend, tmp_path, capfd):
    assert command("bake", "--files", blend, "--set", "Sheep.material.friction=1", "--output", tmp_path / "out") == 1
    assert "has no mesh object 'Sheep'" in capfd.readouterr().err


@pytest.mark.parametrize(("path", "text", "read"), [
    ("scene.wind", "0:1:2.5", lambda scene, sheet: tuple(scene.muslin.wind)),
    ("scene.integrator", "Implicit Euler", lambda scene, sheet: scene.muslin.integrator),
    ("material.model", "thread-cloth", lambda scene, sheet: sheet.muslin.model),
    ("scene.use_self_collision", "off", lambda scene, sheet: scene.muslin.use_self_collision),
    ("material.use_self_collision", "no", lambda scene, sheet: sheet.muslin.use_self_collision),
    ("material.fabric", "denim", lambda scene, sheet: sheet.muslin.fabric)])
def test_values_are_of_the_kind_of_the_setting(extension, blend, scene, path, text, read):
    import bpy

    (variant,) = extension.wedges.variants_of([f"{path}={text}"])
    sheet = bpy.data.objects["Sheet"]
    extension.wedges.apply(variant, scene, [sheet])
    assert read(scene, sheet) in ((0.0, 1.0, 2.5), "IMPLICIT_EULER", "thread_cloth", False, "denim")
