# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes on a farm: ended and resumed headless bakes, their caches, variants, contact sheets, and progress as JSON."""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as

ROOT = Path(__file__).resolve().parents[2]
LAST = 12


@pytest.fixture
def blend(scene, tmp_path):
    """Save a .blend with a pinned sheet above a ball, which stays open, and return its path."""
    import bpy

    sheet = builders.sheet(9, name="Sheet", size=1.0, height=0.3)
    builders.pin(sheet, {0: 1.0, 8: 1.0})
    builders.box("Box", 0.4)
    scene.frame_end = LAST
    scene.muslin.backend = "NUMPY"
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


@pytest.fixture
def command(extension, blend, monkeypatch):
    """Return a function that runs `muslin` in this process on the open file, with scripted motion."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    return lambda *arguments: extension.command_line.main([str(argument) for argument in arguments])


def keys(path, name="Sheet"):
    """Return the coordinates of all shape keys of a baked .blend as bytes."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = []
    for block in bpy.data.objects[name].data.shape_keys.key_blocks:
        x = np.empty(len(block.data) * 3, np.float32)
        block.data.foreach_get("co", x)
        found.append(block.name.encode() + x.tobytes())
    return found


def reopen(path):
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))


def stopped_at(extension, monkeypatch, frame):
    """Let the simulation be interrupted before a frame, counted from the first."""
    def motion(start, since):
        if since == frame:
            raise KeyboardInterrupt
        return crumple(start, since)

    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, motion))


def solver_stops_before(extension, monkeypatch, frame):
    """Let the solver itself be interrupted before a frame; never if it is None."""
    real = importlib.import_module(f"{extension.core.__name__}.stepping.simulate").simulate

    def simulate(*given, **options):
        for solved in real(*given, **options):
            if solved.index == frame:
                raise KeyboardInterrupt
            yield solved

    replace_simulation(monkeypatch, extension.core, simulate)


def muslin(*arguments, **options):
    return subprocess.run([sys.executable, ROOT, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          **options)


def killed_and_resumed(blend, folder, after, number=signal.SIGKILL):
    """End a bake by a signal as soon as frame `after` is reported, resume it, and return what both have said."""
    output = folder / "resumed.blend"
    line = [sys.executable, ROOT, blend, "bake", "--progress", "json", "--output", output, "--cache", folder / "cache",
            "--resume"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        reported = [None]
        for text in process.stdout:
            if text.startswith("{") and json.loads(text)["event"] == "frame":
                reported.append(json.loads(text)["frame"])
                if reported[-1] >= after:
                    time.sleep(random.uniform(0.0, 0.02))
                    process.send_signal(number)
                    break
        said = process.stderr.read()
        code = process.wait()
    resumed = muslin(*line[2:], cwd=folder)
    assert resumed.returncode == 0, resumed.stderr
    return output, reported[-1], code, said, resumed


# ---------------------------------------------------------------------- resume


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("after", [2, 7, LAST])
def test_a_bake_that_is_killed_and_resumed_has_the_bytes_of_one_without_interruption(blend, tmp_path, after):
    whole = tmp_path / "whole.blend"
    result = muslin(blend, "bake", "--output", whole)
    assert result.returncode == 0, result.stderr
    output, reported, code, _, resumed = killed_and_resumed(blend, tmp_path, after)
    if code != 0:
        frames = [json.loads(line) for line in resumed.stdout.splitlines() if line.startswith("{")]
        solved = [line["frame"] for line in frames if line["event"] == "frame"]
        assert not solved or solved[0] > reported                  # a frame that was reported is not solved again
        assert "going on after frame" in resumed.stderr or "all frames are in" in resumed.stderr
    assert keys(output) == keys(whole)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_bake_that_a_farm_ends_says_that_its_frames_are_kept(blend, tmp_path):
    output, _, code, said, _ = killed_and_resumed(blend, tmp_path, 3, signal.SIGTERM)
    assert code == 1
    assert f"are kept in {tmp_path / 'cache' / 'Sheet'}: give the same command with --resume to go on" in said
    assert "Traceback" not in said
    assert len(keys(output)) >= LAST


def test_resume_goes_on_in_the_cache_of_the_interrupted_bake(extension, blend, monkeypatch, tmp_path, capfd):
    main = extension.command_line.main
    solver_stops_before(extension, monkeypatch, 6)
    assert main(["bake", "--resume"]) == 1
    assert "there are no frames of this bake on disk: baking from the start" in capfd.readouterr().err
    solver_stops_before(extension, monkeypatch, None)
    reopen(blend)
    assert main(["bake", "--resume", "--json", str(tmp_path / "report.json")]) == 0
    assert f"going on after frame 5 in {tmp_path / 'muslin_cache' / 'Sheet'}" in capfd.readouterr().err
    assert len(json.loads((tmp_path / "report.json").read_text())["certificates"]) == LAST
    assert [path.name for path in (tmp_path / "muslin_cache").iterdir()] == ["Sheet"]


def test_resume_of_a_complete_bake_makes_its_result_without_simulating(command, blend, extension, monkeypatch, tmp_path,
                                                                       capfd):
    assert command("bake", "--output", tmp_path / "one.blend") == 0
    reopen(blend)
    stopped_at(extension, monkeypatch, 0)
    assert command("bake", "--resume", "--output", tmp_path / "two.blend") == 0
    assert f"all frames are in {tmp_path / 'muslin_cache' / 'Sheet'}" in capfd.readouterr().err
    assert keys(tmp_path / "one.blend") == keys(tmp_path / "two.blend")


def test_resume_bakes_anew_what_has_changed_and_says_it(command, blend, extension, monkeypatch, tmp_path, capfd):
    stopped_at(extension, monkeypatch, 5)
    assert command("bake") == 1
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    reopen(blend)
    import bpy

    bpy.data.objects["Sheet"].muslin.friction = 0.123
    capfd.readouterr()
    assert command("bake", "--resume") == 0
    assert (f"the frames in {tmp_path / 'muslin_cache' / 'Sheet'} are of other settings (settings): baking from the "
            "start") in capfd.readouterr().err


@pytest.mark.parametrize(("before", "after"), [(6, 9), (14, 11)])
def test_resume_follows_a_longer_or_shorter_range(blend, tmp_path, before, after):
    """With the solver itself: the keys are those of a bake of that range."""
    for output, last, more in (("whole.blend", after, ("--cache", tmp_path / "other")), ("out.blend", before, ()),
                               ("out.blend", after, ("--resume",))):
        result = muslin(blend, "bake", "--frames", 1, last, "--output", tmp_path / output, *more)
        assert result.returncode == 0, result.stderr
    assert "going on after frame" in result.stderr
    assert keys(tmp_path / "out.blend") == keys(tmp_path / "whole.blend")


def test_a_finished_bake_can_be_resumed_and_switched_from_the_saved_file(command, blend, extension, tmp_path):
    """Its record points to the cache, seen from the folder of the output."""
    import bpy

    elsewhere = tmp_path / "farm" / "out"
    elsewhere.mkdir(parents=True)
    assert command("bake", "--output", elsewhere / "out.blend", "--cache", tmp_path / "frames",
                   "--result", "mesh_cache") == 0
    reopen(elsewhere / "out.blend")
    sheet = bpy.data.objects["Sheet"]
    record = extension.baked_record.known(sheet)
    assert record.take == "//../../frames/Sheet" and bpy.context.scene.muslin.cache_folder == "//../../frames"
    assert [modifier.type for modifier in sheet.modifiers] == ["MESH_CACHE"] and sheet.data.shape_keys is None
    found = extension.takes.in_use(sheet)
    assert found.is_complete and extension.takes.is_mine(found)
    bpy.context.view_layer.objects.active = sheet
    sheet.muslin.result = "SHAPE_KEYS"
    assert bpy.ops.muslin.bake_use() == {"FINISHED"}
    assert len(sheet.data.shape_keys.key_blocks) >= LAST and not sheet.modifiers


def test_the_cache_of_an_output_outlives_later_bakes_of_the_scene(command, blend, extension, tmp_path):
    import bpy

    assert command("bake", "--output", tmp_path / "kept.blend", "--result", "mesh_cache") == 0
    reopen(blend)
    for _ in range(3):
        assert command("bake", "--output", tmp_path / "again.blend") == 0
        reopen(blend)
    reopen(tmp_path / "kept.blend")
    assert extension.takes.in_use(bpy.data.objects["Sheet"]) is not None
    assert len(list((tmp_path / "muslin_cache").iterdir())) <= 3               # kept, again, and the one before


# ---------------------------------------------------------------------- several files and variants


def test_every_combination_of_values_has_a_file_a_cache_and_a_row(command, blend, extension, tmp_path, capfd):
    import bpy

    assert command("bake", "--set", "material.bend_warp_micro=5,20", "--set", "scene.steps_per_frame=2",
                   "--json", tmp_path / "report.json") == 0
    report = json.loads((tmp_path / "report.json").read_text())
    outputs = [f"shot_material.bend_warp_micro-{value}_scene.steps_per_frame-2.blend" for value in (5, 20)]
    assert [run["output"] for run in report["runs"]] == [str(tmp_path / name) for name in outputs]
    assert report["runs"][1]["variant"] == {"material.bend_warp_micro": "20", "scene.steps_per_frame": "2"}
    assert report["runs"][1]["settings"]["Sheet"]["bend"][0] == pytest.approx(20e-6)
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


def test_a_setting_of_an_object_that_is_not_there_fails(command, blend, capfd):
    assert command("bake", "--set", "Sheep.material.friction=1") == 1
    assert "has no mesh object 'Sheep'; perhaps 'Sheet'; there are: " in capfd.readouterr().err


@pytest.mark.parametrize(("path", "text", "read"), [
    ("scene.wind", "0:1:2.5", lambda scene, sheet: tuple(scene.muslin.wind)),
    ("scene.integrator", "Implicit Euler", lambda scene, sheet: scene.muslin.integrator),
    ("material.model", "thread-cloth", lambda scene, sheet: sheet.muslin.model),
    ("scene.use_self_collision", "off", lambda scene, sheet: scene.muslin.use_self_collision),
    ("material.fabric", "denim", lambda scene, sheet: sheet.muslin.fabric)])
def test_values_are_of_the_kind_of_the_setting(extension, blend, scene, path, text, read):
    import bpy

    (variant,) = extension.wedges.variants_of([f"{path}={text}"])
    sheet = bpy.data.objects["Sheet"]
    extension.wedges.apply(variant, scene, [sheet])
    assert read(scene, sheet) in ((0.0, 1.0, 2.5), "IMPLICIT_EULER", "thread_cloth", False, "denim")


# ---------------------------------------------------------------------- progress and threads


def test_progress_as_json_has_a_line_for_each_frame_and_stage(command, blend, capfd):
    assert command("bake", "--progress", "json") == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert [lines[0]["event"], lines[-2]["event"], lines[-1]["event"]] == ["start", "end", "exit"]
    frames = [line for line in lines if line["event"] == "frame"]
    assert [line["frame"] for line in frames] == list(range(1, LAST + 1))
    assert frames[-1]["done"] == frames[-1]["total"] == LAST and frames[2]["converged"] is True
    assert lines[0]["output"] == str(blend.with_name("shot_baked.blend")) and lines[-1] == {
        "event": "exit", "code": 0, "error": None}


def test_progress_as_json_ends_with_the_error(command, blend, extension, monkeypatch, capfd):
    stopped_at(extension, monkeypatch, 3)
    assert command("bake", "--progress", "json") == 1
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines() if line.startswith("{")]
    assert lines[-1]["code"] == 1 and lines[-1]["error"]["kept"]["last"] == 3


def test_threads_limit_those_of_numba(extension, monkeypatch):
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    extension.command_line._limit_threads(10 ** 6)
    assert os.environ["NUMBA_NUM_THREADS"] == str(os.cpu_count())
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(extension.arguments.UsageError, match="set NUMBA_NUM_THREADS=1 in the environment"):
        if os.cpu_count() == 1:
            monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
        extension.command_line._limit_threads(1)
