# SPDX-License-Identifier: GPL-3.0-or-later
"""Output files: links are followed, two processes do not write one file, and no failure leaves a part of a file."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as

ROOT = Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="needs symbolic links and permissions")


@pytest.fixture
def blend(scene, tmp_path):
    """Save a .blend with a cloth, which stays open, in a folder of its own, and return its path."""
    import bpy

    builders.sheet(3)
    scene.muslin.backend = "NUMPY"
    scene.frame_end = 3
    (tmp_path / "work").mkdir()
    path = tmp_path / "work" / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def is_baked(path):
    return b"Muslin 0003" in path.read_bytes()


@posix
@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("there", [False, True])
def test_a_link_is_followed_and_stays_a_link(command, blend, tmp_path, relative, there):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("out.blend", "report.json"):
        if there:
            (elsewhere / name).write_bytes(b"earlier")
            (elsewhere / name).chmod(0o640)
        between = blend.with_name(f"between-{name}")
        between.symlink_to(elsewhere / name)
        blend.with_name(name).symlink_to(between.name if relative else between)
    assert command("bake", "--output", blend.with_name("out.blend"), "--json", blend.with_name("report.json")) == 0
    assert names(blend.parent) == ["between-out.blend", "between-report.json", "muslin_cache", "out.blend",
                                   "report.json", "scene.blend"]
    kept = blend, blend.with_name("muslin_cache")
    assert all(path.is_symlink() for path in blend.parent.iterdir() if path not in kept)
    assert names(elsewhere) == ["out.blend", "report.json"]
    assert is_baked(elsewhere / "out.blend")
    assert json.loads((elsewhere / "report.json").read_text())["last"] == 3
    if there:
        assert {stat.S_IMODE(path.stat().st_mode) for path in elsewhere.iterdir()} == {0o640}


@posix
def test_a_link_from_the_default_name_keeps_the_earlier_file_beside_the_target(command, blend, tmp_path):
    target = tmp_path / "kept.blend"
    target.write_bytes(b"earlier")
    blend.with_name("scene_baked.blend").symlink_to(target)
    assert command("bake") == 0
    assert blend.with_name("scene_baked.blend").is_symlink() and is_baked(target)
    assert (tmp_path / "kept.blend1").read_bytes() == b"earlier"


def loop(folder, suffix):
    (folder / f"a{suffix}").symlink_to(f"b{suffix}")
    (folder / f"b{suffix}").symlink_to(f"a{suffix}")
    return folder / f"a{suffix}"


def link_to_itself(folder, suffix):
    (folder / f"self{suffix}").symlink_to(f"self{suffix}")
    return folder / f"self{suffix}"


def link_into_nowhere(folder, suffix):
    (folder / f"dangling{suffix}").symlink_to(folder / "no" / "folder" / "x")
    return folder / f"dangling{suffix}"


def link_to_a_folder(folder, suffix):
    (folder / f"folder{suffix}").symlink_to(folder.parent)
    return folder / f"folder{suffix}"


def fifo(folder, suffix):
    os.mkfifo(folder / f"pipe{suffix}")
    return folder / f"pipe{suffix}"


def long_name(folder, suffix):
    return folder / f"{'x' * 300}{suffix}"


def below_a_file(folder, suffix):
    return folder / "scene.blend" / f"out{suffix}"


def null_character(folder, suffix):
    return f"{folder}/a\0b{suffix}"


@posix
@pytest.mark.parametrize(("make", "message"), [
    (loop, "circle of links; remove it"), (link_to_itself, "circle of links"),
    (link_into_nowhere, "no/folder; create it"), (link_to_a_folder, "is a folder; name a file"),
    (fifo, "is a device, not a file"), (long_name, "name another"), (below_a_file, "there is no folder"),
    (null_character, "name another file")])
@pytest.mark.parametrize(("option", "suffix"), [("--output", ".blend"), ("--json", ".json")])
def test_a_path_that_cannot_be_written_exits_with_2_before_any_work(command, blend, capfd, make, message, option,
                                                                    suffix):
    path = make(blend.parent, suffix)
    before = names(blend.parent)
    assert command("bake", option, path) == 2
    said = capfd.readouterr().err
    assert f"{option}: " in said and message in said and "Traceback" not in said
    assert names(blend.parent) == before


@posix
def test_a_report_never_replaces_a_scene_by_a_link(command, blend, capfd):
    before = blend.read_bytes()
    soft, hard = blend.with_name("soft.json"), blend.with_name("hard.json")
    soft.symlink_to(blend)
    os.link(blend, hard)
    for link in (soft, hard):
        assert command("bake", "--json", link) == 2
        assert "is a .blend, not a report" in capfd.readouterr().err
    result = muslin("none.blend", "bake", "--json", soft, cwd=blend.parent)
    assert result.returncode == 2 and "it is a .blend" in result.stderr
    assert blend.read_bytes() == hard.read_bytes() == before and soft.is_symlink()


@posix
def test_the_output_and_the_report_are_not_one_file(command, blend, tmp_path, capfd):
    blend.with_name("out.blend").symlink_to(tmp_path / "data")
    assert command("bake", "--output", blend.with_name("out.blend"), "--json", tmp_path / "data") == 2
    assert "is the output as well; name another file" in capfd.readouterr().err


@pytest.mark.parametrize("option", ["--output", "--json", "compare"])
def test_a_second_writer_is_told_and_the_first_one_s_files_stay(extension, command, blend, tmp_path, capfd, option):
    held = tmp_path / {"--output": "out.blend", "--json": "report.json", "compare": "sheet"}[option]
    report = tmp_path / "second.json"
    arguments = {"--output": ("bake", "--output", held, "--json", report), "--json": ("bake", "--json", held),
                 "compare": ("compare", "--output", held, "--json", report)}[option]
    with extension.output_lock.locked(held):
        before = names(tmp_path)
        assert command(*arguments) == 2
        said = capfd.readouterr().err
        assert f"another Muslin (process {os.getpid()}) is writing {held}; wait until it has ended" in said
        assert set(names(tmp_path)) - set(before) <= {"second.json"}
    if option != "--json":
        assert json.loads(report.read_text())["error"]["type"] == "UsageError"
    assert [name for name in names(tmp_path) if "lock" in name] == []
    if option != "compare":
        assert command(*arguments) == 0


@posix
def test_links_to_one_file_are_one_output(extension, command, blend, tmp_path, capfd):
    blend.with_name("a.blend").symlink_to(tmp_path / "out.blend")
    with extension.output_lock.locked(tmp_path / "out.blend"):
        assert command("bake", "--output", blend.with_name("a.blend")) == 2
    assert "another Muslin" in capfd.readouterr().err


def test_what_a_killed_process_has_left_is_removed_and_blocks_nothing(command, blend, tmp_path):
    output = tmp_path / "out.blend"
    for name in (".out.blend.muslin-lock", ".out.blend.123.part", ".out.blend.123.part@", ".out.blend.mine.part"):
        (tmp_path / name).write_text("99999999")
    assert command("bake", "--output", output) == 0
    assert names(tmp_path) == [".out.blend.mine.part", "out.blend", "work"]


def muslin(*arguments, **options):
    return subprocess.run([sys.executable, ROOT, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          **options)


@posix
def test_two_processes_with_one_output(blend, tmp_path):
    """The second is told at once; when the first is killed, the output is free."""
    output = tmp_path / "out.blend"
    line = [sys.executable, ROOT, blend, "bake", "--frames", "1", "100000", "--output", output]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as first:
        try:
            end = time.monotonic() + 120.0
            while "frame " not in first.stderr.readline():
                assert time.monotonic() < end and first.poll() is None
            second = muslin(blend, "bake", "--frames", 1, 3, "--output", output)
            assert second.returncode == 2 and f"another Muslin (process {first.pid})" in second.stderr
        finally:
            first.send_signal(signal.SIGKILL)
    assert not output.exists()
    third = muslin(blend, "bake", "--frames", 1, 3, "--output", output)
    assert third.returncode == 0, third.stderr
    assert names(tmp_path) == ["out.blend", "work"]


def test_a_file_that_becomes_read_only_during_the_bake_is_not_replaced(extension, command, blend, tmp_path, monkeypatch,
                                                                       capfd):
    output = tmp_path / "out.blend"
    output.write_bytes(b"kept")

    def closes(start, since):
        output.chmod(0o444)
        return start

    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, closes))
    assert command("bake", "--output", output) == 1
    assert "is read-only; make it writable" in capfd.readouterr().err
    assert output.read_bytes() == b"kept" and names(tmp_path) == ["out.blend", "work"]


@pytest.mark.parametrize("option", ["--output", "--json"])
def test_a_folder_that_is_removed_during_the_bake_is_an_error(extension, command, blend, tmp_path, monkeypatch, capfd,
                                                              option):
    import shutil

    folder = tmp_path / "gone"
    folder.mkdir()
    replace_simulation(monkeypatch, extension.core, simulate_as(
        extension.core, lambda start, since: (shutil.rmtree(folder, ignore_errors=True), start)[1]))
    name = "out.blend" if option == "--output" else "out.json"
    assert command("bake", option, folder / name) == 1
    said = capfd.readouterr().err
    assert ("could not be saved" in said or "there is no folder" in said) and "Traceback" not in said


@pytest.mark.parametrize("name", ["out.blend", "out.json"])
def test_a_full_disk_at_the_last_moment_keeps_the_earlier_file(extension, command, blend, tmp_path, monkeypatch, capfd,
                                                               name):
    earlier = tmp_path / name
    earlier.write_bytes(b"earlier")
    replace = os.replace

    def full(source, target):
        if Path(target) == earlier:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert command("bake", "--output" if name == "out.blend" else "--json", earlier) == 1
    assert "No space left" in capfd.readouterr().err
    assert earlier.read_bytes() == b"earlier"
    assert [n for n in names(tmp_path) if n.startswith(".")] == []
