# SPDX-License-Identifier: GPL-3.0-or-later
"""Which takes are deleted and when, and disks that fail."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import bpy
import pytest

from tests.addon import builders
from tests.addon.saved_files import RESULTS, assert_plays, bake, cloth, reopen, save, shown, used
from tests.addon.scripted import crumple, replace_simulation, simulate_as
from tests.core.cache.faults import faults


@pytest.fixture(autouse=True)
def simulated(extension, scene, monkeypatch, tmp_path):
    """Simulate random motion, and keep the takes of unsaved files in a folder of the test."""
    scene.muslin.backend = "NUMPY"
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    monkeypatch.setattr(extension.takes, "temporary_folder", lambda: tmp_path / "temporary" / "muslin_cache")


@pytest.mark.parametrize("result", RESULTS)
def test_thirty_bakes_keep_the_one_in_use_and_one_for_undo(extension, scene, tmp_path, result):
    cloth(result)
    save(tmp_path / "a.blend")
    for number in range(30):
        bake(extension)
        folders = list((tmp_path / "muslin_cache").iterdir())
        assert len(folders) <= 2, number
        assert used(extension) is not None
    assert len(list((tmp_path / "muslin_cache").iterdir())) == 2
    assert len({folder.name for folder in folders}) == 2 and all(len(folder.name) < 14 for folder in folders)


def test_thirty_cancelled_bakes_stay_bounded_too(extension, scene, tmp_path):
    cloth()
    save(tmp_path / "a.blend")
    bake(extension)
    wanted = used(extension).id
    for _ in range(10):
        steps = extension.bake.bake(scene)
        for progress in steps:
            if progress.done == 3:
                break
        steps.close()
        extension.takes.forget()
        assert used(extension).id == wanted
    assert len(list((tmp_path / "muslin_cache").iterdir())) <= 3
    bake(extension)
    assert len(list((tmp_path / "muslin_cache").iterdir())) <= 2


def test_renamed_cloths_leave_no_takes_behind(extension, scene, tmp_path):
    sheet = cloth()
    save(tmp_path / "a.blend")
    for number in range(8):
        sheet.name = f"Sheet {number}"
        bake(extension)
    assert len(list((tmp_path / "muslin_cache").iterdir())) <= 2


def test_takes_that_other_scenes_and_other_cloths_use_are_kept(extension, scene, tmp_path):
    cloth(name="A")
    cloth(name="B")
    save(tmp_path / "a.blend")
    bake(extension)                                                  # both together
    shared = used(extension, "A").id
    other = bpy.data.scenes.new("Other")
    other.muslin.backend = "NUMPY"
    other.frame_end = 4
    bpy.context.window.scene = other
    third = cloth(name="C")
    for _ in range(4):
        bake(extension, other, third)
    bpy.context.window.scene = scene
    a, b = bpy.data.objects["A"], bpy.data.objects["B"]
    for _ in range(4):
        bake(extension, scene, a)
        assert used(extension, "B").id == shared
        assert used(extension, "C") is not None
    for _ in range(4):
        bake(extension, scene, b)
    names = [extension.takes.read(folder).cloths for folder in (tmp_path / "muslin_cache").iterdir()]
    assert len(names) <= 7
    assert used(extension, "A") and used(extension, "B") and used(extension, "C")


@pytest.mark.parametrize("result", RESULTS)
def test_takes_that_another_file_uses_are_kept(extension, scene, tmp_path, result):
    cloth(result)
    save(tmp_path / "a.blend")
    bake(extension)
    wanted = shown()
    save(tmp_path / "a.blend")
    save(tmp_path / "b.blend")                                       # uses the same take
    for _ in range(3):
        bake(extension)                                              # in b.blend
    save(tmp_path / "b.blend")
    in_b = shown()
    reopen(tmp_path / "a.blend")
    assert_plays(extension, wanted)
    for _ in range(3):
        bake(extension)                                              # in a.blend
    save(tmp_path / "a.blend")
    reopen(tmp_path / "b.blend")
    assert_plays(extension, in_b)


def test_a_take_lists_the_files_that_use_it_beside_the_one_that_has_baked_it(extension, scene, tmp_path):
    cloth()
    save(tmp_path / "a.blend")
    bake(extension)
    for name, users in (("a", []), ("b", ["b"]), ("b", ["b"]), ("c", ["b", "c"])):
        save(tmp_path / f"{name}.blend")
        assert extension.takes.users_of(used(extension)) == [str(tmp_path / f"{user}.blend") for user in users]


def test_the_frames_of_a_bake_that_was_just_stopped_are_found(extension, scene, monkeypatch):
    """Panels that are redrawn at the same moment do not ask the disk again, but for what is new."""
    monkeypatch.setattr(extension.takes, "time", SimpleNamespace(monotonic=lambda: 1e6))
    cloth()
    steps = extension.bake.bake(scene)
    for progress in steps:
        assert not any(take.has_frames for take in extension.takes.takes_of_scene(scene))
        if progress.done == 3:
            break
    steps.close()
    extension.saved_takes.after_bake()
    assert [take.has_frames for take in extension.takes.takes_of_scene(scene)] == [True]


@pytest.mark.parametrize("copy", [False, True])
def test_takes_of_a_file_that_was_saved_under_another_name_are_kept_there(extension, scene, tmp_path, copy):
    cloth()
    save(tmp_path / "a.blend")
    bake(extension)
    wanted = shown()
    save(tmp_path / "a.blend")
    save(tmp_path / "b.blend", copy=copy)
    reopen(tmp_path / "a.blend")
    for _ in range(3):
        bake(extension)                                              # the first take is used by b.blend alone
    save(tmp_path / "a.blend")
    reopen(tmp_path / "b.blend")
    assert_plays(extension, wanted)


def test_a_take_that_a_process_writes_is_not_deleted(extension, scene, tmp_path):
    sheet = cloth()
    save(tmp_path / "a.blend")
    for _ in range(2):
        bake(extension)
    spare = next(take for take in extension.takes.takes_in(tmp_path / "muslin_cache", now=True)
                 if take.id != used(extension).id)
    with extension.apply_take.Take.resume(spare.folder):
        bake(extension)
        bake(extension)
        assert spare.folder.is_dir() and extension.takes.read(spare.folder).id == spare.id
        with pytest.raises(extension.core.ClothError, match="(?s).*;"):
            extension.takes.delete(spare)
    assert used(extension) is not None and sheet.name == "Sheet"


def test_deleting_a_take_keeps_files_that_are_not_its_own(extension, scene, tmp_path):
    cloth("SHAPE_KEYS")
    save(tmp_path / "a.blend")
    bake(extension)
    take = used(extension)
    (take.folder / "mine.txt").write_text("kept")
    extension.takes.delete(take)
    assert [path.name for path in take.folder.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("result", RESULTS)
def test_the_cache_folder_may_change_between_two_bakes(extension, scene, tmp_path, result):
    cloth(result)
    save(tmp_path / "a.blend")
    bake(extension)
    wanted = shown()
    scene.muslin.cache_folder = "//other"
    assert_plays(extension, wanted)
    state = extension.bake_state.state_of(scene, bpy.data.objects["Sheet"])
    assert state.used is not None and state.waiting is None
    bake(extension)
    assert used(extension).folder == tmp_path / "other" / "Sheet"
    assert (tmp_path / "muslin_cache" / "Sheet").is_dir()


# ---------------------------------------------------------------------- disks

def assert_nothing_changed(extension, sheet, before):
    assert builders.state(sheet) == before
    extension.takes.forget()


def test_a_cache_folder_that_is_a_file_is_refused(extension, scene, tmp_path):
    sheet = cloth()
    (tmp_path / "file").write_text("x")
    scene.muslin.cache_folder = str(tmp_path / "file")
    before = builders.state(sheet)
    with pytest.raises(extension.core.ClothError, match="(?s)file.*;"):
        bake(extension)
    assert_nothing_changed(extension, sheet, before)
    assert (tmp_path / "file").read_text() == "x"


@pytest.mark.parametrize("code", ["ENOSPC", "EROFS", "EACCES", "EDQUOT", "EIO"])
@pytest.mark.parametrize("result", RESULTS)
def test_a_disk_that_fails_in_the_middle_of_a_bake_keeps_the_frames(extension, scene, tmp_path, monkeypatch, code,
                                                                    result):
    import errno

    sheet = cloth(result)
    save(tmp_path / "a.blend")
    bake(extension)
    wanted, first = shown(), used(extension)
    before = builders.state(sheet)
    disk_file = extension.core.cache.disk_file.DiskFile
    original, calls = disk_file.write, []

    def fails(self, *arguments):
        calls.append(1)
        if len(calls) > 14:
            raise extension.core.cache.disk_file.cannot(
                self.path, "written", OSError(getattr(errno, code), "cannot"))
        return original(self, *arguments)

    monkeypatch.setattr(disk_file, "write", fails)
    with pytest.raises(extension.core.ClothError, match="(?s)cannot be written.*;"):
        bake(extension)
    monkeypatch.undo()
    assert_nothing_changed(extension, sheet, before)
    assert used(extension).id == first.id
    assert shown() == wanted
    new = extension.takes.unused(scene, sheet, now=True)
    assert new is None or new.reached < 4
    for folder in (tmp_path / "muslin_cache").iterdir():
        assert faults(extension.apply_take.Take.open(folder)) == []


def test_a_cache_folder_that_vanishes_in_the_middle_of_a_bake_is_an_error(extension, scene, tmp_path):
    sheet = cloth()
    save(tmp_path / "a.blend")
    before = builders.state(sheet)
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.done == 2:
            break
    shutil.rmtree(tmp_path / "muslin_cache")
    with pytest.raises(extension.core.ClothError, match="(?s).*;"):
        builders.finish(steps)
    scene.frame_set(1)
    assert_nothing_changed(extension, sheet, before)
    bake(extension)
    assert used(extension).is_complete


def test_a_cache_that_vanishes_before_the_result_is_written_is_an_error(extension, scene, tmp_path):
    for result in RESULTS:
        sheet = cloth(result, result)
        before = builders.state(sheet)
        steps = extension.bake.bake(scene, [sheet])
        for progress in steps:
            if progress.done == 4:
                break
        next(steps)
        shutil.rmtree(Path(extension.takes.cache_folder(scene)))
        with pytest.raises(extension.core.ClothError, match="(?s).*;"):
            builders.finish(steps)
        assert_nothing_changed(extension, sheet, before)
