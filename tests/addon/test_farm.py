# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes on a farm: ended and resumed headless bakes, their caches, and progress as JSON."""

from __future__ import annotations

import json
import os
import signal
import sys

import pytest

from tests.addon.headless import (
    LAST,
    keys,
    killed_and_resumed,
    muslin,
    reopen,
    saved_shot,
    solver_stops_before,
    stopped_at,
)
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


# ---------------------------------------------------------------------- resume


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("after", [2, 9])
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


def test_frames_that_are_computed_otherwise_here_are_kept_up_to_the_last_stored_state(extension, blend, monkeypatch,
                                                                                      tmp_path, capfd):
    """After a kill, on a machine that rounds otherwise: frame 11 has no stored state, and differs."""
    from dataclasses import replace

    main = extension.command_line.main
    solver_stops_before(extension, monkeypatch, 12)
    assert main(["bake"]) == 1
    (stored,) = (tmp_path / "muslin_cache" / "Sheet").glob("checkpoint-*11")
    stored.unlink()
    solver_stops_before(extension, monkeypatch, None)
    exact = extension.core.simulate
    replace_simulation(monkeypatch, extension.core, lambda *given, **options: (
        replace(frame, velocities=[1.001 * v for v in frame.velocities]) for frame in exact(*given, **options)))
    reopen(blend)
    assert main(["bake", "--resume", "--json", str(tmp_path / "report.json")]) == 0
    assert "computed again, differs" in (said := capfd.readouterr().err) and "Going on after frame 10" in said
    assert len(json.loads((tmp_path / "report.json").read_text())["certificates"]) == LAST


def test_frames_of_another_version_are_kept_up_to_the_last_stored_state(extension, blend, monkeypatch, tmp_path, capfd):
    main = extension.command_line.main
    solver_stops_before(extension, monkeypatch, 12)
    assert main(["bake"]) == 1
    (tmp_path / "muslin_cache" / "Sheet" / "checkpoint-000011").unlink()
    solver_stops_before(extension, monkeypatch, None)
    monkeypatch.setattr(extension.resuming, "versions", lambda: {"muslin": "0.0.0", "numpy": "0.0.0"})
    reopen(blend)
    assert main(["bake", "--resume"]) == 0
    assert "going on after frame 10 in" in (said := capfd.readouterr().err) and "differs" not in said


def test_a_stored_state_that_does_not_fit_is_no_dead_end(command, blend, extension, monkeypatch, capfd):
    """The states of the scripted motion are of no mesh."""
    stopped_at(extension, monkeypatch, 5)
    assert command("bake") == 1
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    reopen(blend)
    assert command("bake", "--resume") == 0
    assert "cannot go on with its bake" in (said := capfd.readouterr().err) and "baking from the start" in said


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
    assert lines[-2]["event"] == "end" and lines[-2]["error"] == lines[-1]["error"]


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
