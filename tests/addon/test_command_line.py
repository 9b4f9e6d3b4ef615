# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: exit codes, saved files, messages and reports."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def blend(scene, tmp_path):
    """Save a .blend with two cloths, which stays open, and return its path."""
    import bpy

    builders.sheet(4, name="Left")
    builders.sheet(4, name="Right", height=1.0)
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def baked(path):
    """Return the names of the baked objects in the .blend at `path`, and the last frames of their bakes."""
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = {obj.name: obj.data.shape_keys for obj in bpy.data.objects}
    return {name: int(keys.key_blocks[-1].name[-4:]) for name, keys in found.items() if keys is not None}


def test_bake_saves_beside_the_opened_file_and_does_not_change_it(command, blend, capfd):
    before = blend.read_bytes()
    assert command("bake") == 0
    assert blend.read_bytes() == before
    assert sorted(path.name for path in blend.parent.iterdir()) == ["muslin_cache", "scene.blend", "scene_baked.blend"]
    assert baked(blend.with_name("scene_baked.blend")) == {"Left": 4, "Right": 4}
    error = capfd.readouterr().err
    assert "100%" in error and f"saved {blend.with_name('scene_baked.blend')}" in error


def test_an_earlier_result_is_kept_as_a_backup(command, blend):
    output = blend.with_name("scene_baked.blend")
    output.write_bytes(b"earlier")
    assert command("bake") == 0
    assert output.with_name("scene_baked.blend1").read_bytes() == b"earlier"
    assert output.stat().st_size > 1000


def test_the_options_output_object_frames_and_json(command, blend, tmp_path):
    output, report = tmp_path / "out.blend", tmp_path / "report.json"
    output.write_bytes(b"named, so replaced")
    assert command("bake", "--object", "Right", "--frames", -2, 3, "--output", output, "--json", report) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["muslin_cache", "out.blend", "report.json",
                                                              "scene.blend"]
    values = json.loads(report.read_text())
    assert (values["first"], values["last"], values["cloths"]) == (-2, 3, ["Right"])
    assert len(values["certificates"]) == 6
    assert values["summary"]["stretch_max"] == pytest.approx(1.05)
    assert {"read", "solve", "write", "total"} <= set(values["seconds"])
    assert set(values["versions"]) == {"muslin", "blender", "python", "numpy"}
    assert values["output"] == str(output)
    assert baked(output) == {"Right": 3}


def test_the_opened_file_is_replaced_only_if_output_names_it(command, blend):
    assert command("bake", "--output", blend) == 0
    assert baked(blend) == {"Left": 4, "Right": 4}


def test_a_compressed_file_gives_a_compressed_result(command, blend):
    import bpy

    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=True)
    assert command("bake") == 0
    assert not blend.with_name("scene_baked.blend").read_bytes().startswith(b"BLENDER")


def test_an_error_in_the_bake_exits_with_1_and_a_report_and_saves_nothing(command, blend, tmp_path, capfd):
    import bpy

    bpy.data.objects["Left"].muslin.pin_group = "Gone"
    assert command("bake", "--json", tmp_path / "report.json") == 1
    assert "Left: has no vertex group 'Gone'" in capfd.readouterr().err
    error = json.loads((tmp_path / "report.json").read_text())["error"]
    assert error["type"] == "PinError" and "Gone" in error["message"]
    assert not blend.with_name("scene_baked.blend").exists()


@pytest.mark.parametrize("ended", [False, True])
def test_an_interrupted_bake_exits_with_1_and_says_how_to_go_on(command, blend, extension, monkeypatch, tmp_path, capfd,
                                                                ended):
    def interrupted(start, since):
        if since == 2:
            if not ended:                            # as SIGINT does, which may be ignored in this process
                raise KeyboardInterrupt
            signal.raise_signal(signal.SIGTERM)
        return start

    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, interrupted))
    before = signal.getsignal(signal.SIGTERM)
    assert command("bake", "--json", tmp_path / "report.json") == 1
    assert signal.getsignal(signal.SIGTERM) is before
    message = (f"interrupted; nothing was saved, frames 1 to 2 are kept in {tmp_path / 'muslin_cache' / 'Scene'}: give "
               "the same command with --resume to go on")
    assert message in capfd.readouterr().err
    assert sorted(path.name for path in blend.parent.iterdir()) == ["muslin_cache", "report.json", "scene.blend"]
    assert json.loads((tmp_path / "report.json").read_text())["error"] == {
        "type": "KeyboardInterrupt", "message": message,
        "kept": {"folder": str(tmp_path / "muslin_cache" / "Scene"), "first": 1, "last": 2}}


@pytest.mark.parametrize("at", ["save", "hand_over", "write_text"])
def test_a_signal_is_too_late_when_all_frames_are_solved(command, blend, extension, monkeypatch, tmp_path, at):
    """Of a command with several bakes it ends what is not begun."""
    where = {"save": extension.saved_file, "hand_over": extension.resuming, "write_text": extension.output_paths}[at]
    real, came = getattr(where, at), []

    def signalled(*arguments, **named):
        came.append(signal.raise_signal(signal.SIGTERM))
        return real(*arguments, **named)

    monkeypatch.setattr(where, at, signalled)
    report = tmp_path / "report.json"
    assert command("bake", "--json", report) == 0
    assert "error" not in json.loads(report.read_text()) and blend.with_name("scene_baked.blend").is_file() and came
    if at != "write_text":
        code = command("bake", "--set", "material.friction=0.1,0.2", "--output", tmp_path, "--json", report)
        found = json.loads(report.read_text())
        assert code == 1 and [run.get("error", {}).get("type") for run in found["runs"]] == [None, "KeyboardInterrupt"]


@pytest.mark.parametrize(("arguments", "message"), [
    ((), "COMMAND"),
    (("simmer",), "simmer"),
    (("bake", "--frames", "1"), "--frames"),
    (("bake", "--frames", "one", "two"), "--frames"),
    (("bake", "--object", "Middle"), "no object 'Middle'; its cloth: Left, Right"),
    (("bake", "--output", "/nowhere/at/all/out.blend"), "there is no folder"),
    (("bake", "--json", "/"), "is a folder"),
    (("bake", "--json", "/nowhere/at/all/report.json"), "there is no folder"),
    (("bake", "--output", "x.txt"), "x.txt does not end in .blend"),
    (("bake", "--frames", "5", "3"), "the last frame, 3, does not come after the first, 5"),
    (("bake", "--frames", "1", "100000000"), "outside of Blender's, -1048574 to 1048574; choose frames inside"),
    (("compare", "--frames", "-2000000", "3"), "outside of Blender's"),
    (("bake", "--frames", "-1048000", "1048000"), "2096001 frames, and a bake can have 1048576; bake it in parts"),
    (("bake", "scene.blend"), "the .blend stands before the command: python MUSLIN_CHECKOUT scene.blend bake"),
    (("scene.blend", "bake"), "the .blend stands before the command: python MUSLIN_CHECKOUT scene.blend bake"),
    (("bake", "--background", "a/b.blend"), "blender --background a/b.blend --command muslin bake"),
    (("bake", "--backend", "cuda"), "cuda"),
    (("bake", "--object", "Box"), "'Box' is not cloth; the cloth of scene 'Scene': Left, Right"),
    (("compare", "--object", "Left", "--object", "Box"), "'Box' is not cloth"),
    (("compare", "--models", "plywood"), "plywood"),
    (("compare", "--output", __file__), "is a file, and a folder is needed"),
])
def test_wrong_usage_exits_with_2_and_a_report_before_any_work(command, blend, tmp_path, capfd, arguments,
                                                                           message):
    builders.box()
    more = () if "--json" in arguments else (f"--json={tmp_path / 'report.json'}",)
    assert command(*arguments, *more) == 2
    assert message in capfd.readouterr().err
    if more:
        error = json.loads((tmp_path / "report.json").read_text())["error"]
        assert error["type"] == "UsageError" and message in error["message"]


@pytest.mark.parametrize(("name", "option"), [
    ("bake", "--output"), ("bake", "--json"), ("bake", "--cache"), ("bake", "--sheet"), ("bake", "--files"),
    ("compare", "--output"), ("compare", "--json")])
@pytest.mark.parametrize("form", [("{}", ""), ("{}=",)])
def test_an_empty_path_exits_with_2_before_any_work(command, blend, tmp_path, capfd, name, option, form):
    """As that of a variable of a script that is not set: else the result would be saved elsewhere."""
    assert command(name, *(part.format(option) for part in form)) == 2
    assert f"{option}: the path is empty; name a file or folder, or leave the option out" in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]


def test_more_frames_than_the_memory_holds_are_refused_before_any_work(extension, command, monkeypatch, capfd):
    monkeypatch.setattr(extension.shape_key_size, "_memory", lambda: 12 * 32 * 5)       # two sheets of 16 vertices
    assert command("bake", "--frames", "1", "6") == 2
    assert "bake at most 5 frames at once, or coarser meshes: 'Left' has 16 vertices" in capfd.readouterr().err
    assert command("bake", "--frames", "1", "5") == 0
    assert command("bake", "--object", "Left", "--frames", "1", "10") == 0
    import bpy

    bpy.data.objects["Left"].muslin.result = "MESH_CACHE"
    assert command("bake", "--frames", "1", "6") == 0
    bpy.data.objects["Left"].muslin.result = "SHAPE_KEYS"
    monkeypatch.setattr(extension.shape_key_size, "_memory", lambda: None)
    assert command("bake", "--frames", "1", "12") == 0


@pytest.mark.parametrize("option", ["--output", "--json", None])
def test_a_read_only_file_exits_with_2_before_any_work_and_is_unchanged(command, blend, tmp_path, capfd, option):
    there = tmp_path / {None: "scene_baked.blend", "--output": "there.blend", "--json": "there.json"}[option]
    there.write_bytes(b"kept")
    there.chmod(0o444)
    assert command("bake", *(() if option is None else (option, there))) == 2
    assert f"{option or 'without --output'}: {there} is read-only" in capfd.readouterr().err
    assert there.read_bytes() == b"kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["scene.blend", there.name])


NOWHERE = Path("/proc/muslin")      # not even an administrator can create this file


@pytest.mark.skipif(not NOWHERE.parent.is_dir(), reason="needs a folder without write permission")
@pytest.mark.parametrize(("name", "option", "path"), [
    ("bake", "--output", NOWHERE.with_suffix(".blend")), ("bake", "--json", NOWHERE), ("compare", "--output", NOWHERE),
    ("compare", "--json", NOWHERE)])
def test_a_folder_without_write_permission_exits_with_2_before_any_work(command, blend, tmp_path, capfd, name, option,
                                                                        path):
    assert command(name, option, path) == 2
    assert f"{option}: nothing can be written into /proc" in capfd.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["scene.blend"]


@pytest.mark.parametrize("more", [(), ("--frames", 5, 3)])
def test_a_report_never_replaces_a_blend(command, blend, capfd, more):
    before = blend.read_bytes()
    assert command("bake", *more, "--json", blend) == 2
    assert f"{blend} is a .blend, not a report" in capfd.readouterr().err
    assert blend.read_bytes() == before


def test_an_unexpected_error_exits_with_1_and_a_report(command, blend, extension, tmp_path, monkeypatch,
                                                                  capfd):
    def broken(*_, **__):
        raise RuntimeError("unexpected")

    monkeypatch.setattr(extension.bake, "bake", broken)
    assert command("bake", "--json", tmp_path / "report.json") == 1
    assert "Traceback" in capfd.readouterr().err
    error = json.loads((tmp_path / "report.json").read_text())["error"]
    assert error["type"] == "RuntimeError" and "unexpected" in error["message"]


def test_unconverged_frames_are_counted_and_are_no_failure(command, blend, extension,
                                                                                     monkeypatch, tmp_path, capfd):
    from dataclasses import replace

    scripted = simulate_as(extension.core, crumple)
    replace_simulation(monkeypatch, extension.core, lambda *given, **options: (
        replace(frame, certificate=replace(frame.certificate, converged=frame.index != 3))
        for frame in scripted(*given, **options)))
    assert command("bake", "--json", tmp_path / "report.json") == 0
    assert "1 of 4 frames were not solved to the tolerance" in capfd.readouterr().err
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["summary"]["not_converged"] == 1 and "error" not in report


def test_large_stretch_is_noted_and_is_no_failure(command, extension, monkeypatch, tmp_path, capfd):
    from dataclasses import replace

    scripted = simulate_as(extension.core, crumple)
    replace_simulation(monkeypatch, extension.core, lambda *given, **options: (
        replace(frame, certificate=replace(frame.certificate, stretch_p99=1.25 if frame.index == 2 else 1.0))
        for frame in scripted(*given, **options)))
    assert command("bake", "--json", tmp_path / "report.json") == 0
    note = "Frame 2: fabric stretched by 25 %. Increase Steps per Frame, or slow what moves the colliders there."
    assert f"muslin: {note}" in capfd.readouterr().err
    assert json.loads((tmp_path / "report.json").read_text())["notes"][0].startswith(note)


def test_a_scene_without_cloth_says_so_and_how_to_make_one(command, extension, capfd):
    import bpy

    for obj in extension.read_cloth.objects_of_kind(bpy.context.scene, "CLOTH"):
        obj.muslin.kind = "NONE"
    assert command("bake") == 1
    assert "scene 'Scene' has no cloth; choose Cloth as an object's type in" in capfd.readouterr().err


def test_without_an_open_file_the_exit_code_is_2(extension, scene, capfd):
    assert extension.command_line.main(["bake"]) == 2
    assert "no .blend is open" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["bake", "compare"])
def test_a_backend_that_cannot_run_exits_with_2_before_any_work(command, blend, extension, monkeypatch, tmp_path, capfd,
                                                             name):
    kernels = extension.backends.kernels
    monkeypatch.setattr(kernels, "_reasons", {"numpy": None, "numba": "ModuleNotFoundError: No module named 'numba'"})
    assert command(name, "--backend", "numba", "--json", tmp_path / "report.json") == 2
    assert "--backend: the backend 'numba' cannot run here: ModuleNotFoundError" in capfd.readouterr().err
    assert json.loads((tmp_path / "report.json").read_text())["error"]["type"] == "UsageError"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.json", "scene.blend"]


def test_every_help_text_lists_every_option(extension, capfd):
    """The help of `muslin`, that of `python path/to/muslin`, and the user guide."""
    headless = (ROOT / "docs" / "guide" / "headless.md").read_text(encoding="utf-8")
    main = (ROOT / "__main__.py").read_text(encoding="utf-8").split('"""')[1]
    assert extension.command_line.main(["--help"]) == 0
    short = capfd.readouterr().out
    for name in ("bake", "compare"):
        assert extension.command_line.main([name, "--help"]) == 0
        options = set(re.findall(r"--[a-z]+", capfd.readouterr().out)) - {"--help"}
        assert len(options) >= 5
        for text, begin in ((headless, f"--command muslin {name}"), (main, f"SCENE.blend {name}"),
                            (short, f"muslin {name}")):
            usage = re.match(r".*(\n +\[.*)*", text[text.index(begin):]).group()
            assert options <= set(re.findall(r"--[a-z]+", usage)), usage


def test_the_help_names_the_output_and_the_exit_codes(extension, capfd):
    assert extension.command_line.main(["bake", "--help"]) == 0
    text = capfd.readouterr().out
    assert "NAME_baked.blend" in text and "Exit codes" in text and "--frames FIRST LAST" in text


def python(*arguments, **options):
    """Run the checkout by plain Python with the bpy package, as a user does."""
    return subprocess.run([sys.executable, ROOT, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          **options)


@pytest.mark.once
def test_plain_python_bakes_a_file(blend, tmp_path):
    result = python("scene.blend", "bake", "--object", "Left", "--frames", 1, 3, "--json", "report.json", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "100%" in result.stderr
    assert baked(tmp_path / "scene_baked.blend") == {"Left": 3}
    certificates = json.loads((tmp_path / "report.json").read_text())["certificates"]
    assert len(certificates) == 3 and certificates[-1]["steps"] >= 1


def test_plain_python_reports_a_missing_or_unreadable_file(tmp_path):
    result = python(tmp_path / "none.blend", "bake", "--json", tmp_path / "report.json")
    assert result.returncode == 2 and "there is no file" in result.stderr
    assert "there is no file" in json.loads((tmp_path / "report.json").read_text())["error"]["message"]
    (tmp_path / "text.blend").write_text("not a .blend")
    result = python(tmp_path / "text.blend", "bake", "--json", tmp_path / "text.blend")
    assert result.returncode == 2 and "could not be read" in result.stderr
    assert (tmp_path / "text.blend").read_text() == "not a .blend"                  # not replaced by a report
    for wrong in (tmp_path, tmp_path / "report.json"):
        result = python(wrong, "bake")
        assert result.returncode == 2 and f"{wrong} is no .blend file; name the scene" in result.stderr
    assert python().returncode == 2


@pytest.mark.once
@pytest.mark.skipif(os.name != "posix", reason="a limit on the size of files stands in for a full disk")
@pytest.mark.parametrize("compress", [False, True])
def test_a_full_disk_exits_with_1_and_keeps_the_old_file(blend, tmp_path, compress):
    import bpy

    bpy.ops.wm.save_as_mainfile(filepath=str(blend), compress=compress)
    output = tmp_path / "out.blend"
    output.write_bytes(b"the last good bake")
    limit = 20_000      # bytes
    result = python(blend, "bake", "--frames", 1, 3, "--output", output, cwd=tmp_path,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert result.returncode == 1, result.stderr
    assert "could not be saved" in result.stderr
    assert output.read_bytes() == b"the last good bake"
    assert not [path.name for path in tmp_path.iterdir() if "out" in path.name and path != output]
