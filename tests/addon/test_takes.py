# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes on disk and the files that use them: saved, moved, copied, and saved in vain."""

from __future__ import annotations

import os
import shutil

import bpy
import pytest

from tests.addon.drawing import draw_all
from tests.addon.saved_files import RESULTS, assert_plays, bake, cloth, reopen, save, shown, used
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.fixture(autouse=True)
def simulated(extension, scene, monkeypatch, tmp_path):
    """Simulate random motion, and keep the takes of unsaved files in a folder of the test."""
    scene.muslin.backend = "NUMPY"
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    monkeypatch.setattr(extension.takes, "temporary_folder", lambda: tmp_path / "temporary" / "muslin_cache")


@pytest.mark.parametrize("result", RESULTS)
def test_the_first_save_moves_the_takes_beside_the_file(extension, scene, tmp_path, result):
    cloth(result)
    bake(extension)
    wanted = shown()
    assert (tmp_path / "temporary" / "muslin_cache" / "Sheet").is_dir()
    save(tmp_path / "shot" / "a.blend")
    assert (tmp_path / "shot" / "muslin_cache" / "Sheet" / "frames.muslin").is_file()
    assert list((tmp_path / "temporary" / "muslin_cache").iterdir()) == []
    assert_plays(extension, wanted)
    reopen(tmp_path / "shot" / "a.blend")
    assert_plays(extension, wanted)
    obj = bpy.data.objects["Sheet"]
    record = extension.baked_record.load(obj)
    assert record.take == "//muslin_cache/Sheet"
    if result == "MESH_CACHE":
        assert obj.modifiers[record.modifier].filepath == "//muslin_cache/Sheet/Sheet.pc2"
    assert used(extension).owner in ("", str(tmp_path / "shot" / "a.blend"))
    assert extension.takes.is_mine(used(extension))


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("full", [False, True])
def test_a_copy_of_a_file_that_was_never_saved_leaves_it_its_frames(extension, scene, tmp_path, monkeypatch, result,
                                                                    full):
    cloth(result)
    bake(extension)
    wanted, own = shown(), tmp_path / "temporary" / "muslin_cache" / "Sheet"
    beside = tmp_path / "shot" / "muslin_cache" / "Sheet"
    if full:
        monkeypatch.setattr(shutil, "copytree", no_room)
    save(tmp_path / "shot" / "copy.blend", copy=True)
    assert used(extension).folder == (beside if full else own) and used(extension).folder.is_dir()
    assert extension.takes.users_of(used(extension)) == ([str(tmp_path / "shot" / "copy.blend")] if full else [])
    assert_plays(extension, wanted)
    reopen(tmp_path / "shot" / "copy.blend")
    assert used(extension).folder == beside
    assert_plays(extension, wanted)


def no_room(*_, **__):
    raise OSError("no space left on device")


@pytest.mark.parametrize("copy", [False, True])
def test_a_bake_that_was_stopped_goes_on_after_the_first_save_or_a_copy(extension, scene, tmp_path, copy):
    sheet = cloth()
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.done == 2:
            break
    steps.close()
    save(tmp_path / "shot" / "a.blend", copy=copy)
    extension.takes.forget()
    state = extension.bake_state.state_of(scene, sheet)
    assert state.can_resume and state.source.reached >= 1


@pytest.mark.parametrize("result", RESULTS)
def test_takes_that_were_cancelled_are_moved_by_the_first_save_too(extension, scene, tmp_path, result):
    cloth(result)
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.done == 1:
            break
    steps.close()
    save(tmp_path / "shot" / "a.blend")
    scene = reopen(tmp_path / "shot" / "a.blend")
    extension.takes.forget()
    state = extension.bake_state.state_of(scene, bpy.data.objects["Sheet"])
    assert state.can_resume and state.source.reached >= 1


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("remap", [True, False])
def test_a_file_saved_in_another_folder_plays_there_and_here(extension, scene, tmp_path, result, copy, remap):
    cloth(result)
    save(tmp_path / "one" / "a.blend")
    bake(extension)
    wanted = shown()
    save(tmp_path / "one" / "a.blend")
    save(tmp_path / "two" / "deep" / "b.blend", copy=copy, relative_remap=remap)
    if remap or result == "SHAPE_KEYS":
        assert_plays(extension, wanted)
    for path in (tmp_path / "one" / "a.blend", tmp_path / "two" / "deep" / "b.blend"):
        reopen(path)
        if remap or path.name == "a.blend":
            assert_plays(extension, wanted)
        else:
            assert result == "MESH_CACHE" or shown() == wanted


@pytest.mark.parametrize("result", RESULTS)
def test_a_file_that_was_moved_with_its_cache_plays(extension, scene, tmp_path, result):
    cloth(result)
    save(tmp_path / "one" / "a.blend")
    bake(extension)
    wanted = shown()
    save(tmp_path / "one" / "a.blend")
    shutil.move(tmp_path / "one", tmp_path / "elsewhere")
    reopen(tmp_path / "elsewhere" / "a.blend")
    assert_plays(extension, wanted)
    assert extension.takes.is_mine(used(extension))


@pytest.mark.parametrize("result", RESULTS)
def test_a_file_that_was_moved_without_its_cache_says_so(extension, scene, tmp_path, result):
    cloth(result)
    save(tmp_path / "one" / "a.blend")
    bake(extension)
    wanted = shown()
    save(tmp_path / "one" / "a.blend")
    (tmp_path / "elsewhere").mkdir()
    shutil.move(tmp_path / "one" / "a.blend", tmp_path / "elsewhere" / "a.blend")
    scene = reopen(tmp_path / "elsewhere" / "a.blend")
    sheet = bpy.data.objects["Sheet"]
    assert used(extension) is None
    state = extension.bake_state.state_of(scene, sheet)
    assert state.source is None and not state.can_resume
    if result == "SHAPE_KEYS":
        assert shown() == wanted
        assert extension.mesh_cache.missing_file(sheet) == ""
    else:
        assert "Sheet.pc2" in extension.mesh_cache.missing_file(sheet)
    assert extension.shape_keys.delete_bake(sheet)
    bake(extension)
    assert used(extension).is_complete


@pytest.mark.parametrize("result", RESULTS)
def test_paths_made_absolute_and_relative_keep_the_bake(extension, scene, tmp_path, result):
    cloth(result)
    save(tmp_path / "one" / "a.blend")
    bake(extension)
    wanted = shown()
    bpy.ops.file.make_paths_absolute()
    assert_plays(extension, wanted)
    save(tmp_path / "one" / "a.blend")
    reopen(tmp_path / "one" / "a.blend")
    assert_plays(extension, wanted)
    bpy.ops.file.make_paths_relative()
    save(tmp_path / "two" / "b.blend")
    reopen(tmp_path / "two" / "b.blend")
    assert_plays(extension, wanted)


@pytest.mark.parametrize("result", RESULTS)
def test_a_first_save_that_fails_loses_nothing(extension, scene, tmp_path, result):
    cloth(result)
    bake(extension)
    wanted = shown()
    (tmp_path / "one" / "a.blend").mkdir(parents=True)               # a folder of that name: it cannot be written
    with pytest.raises(RuntimeError):
        save(tmp_path / "one" / "a.blend")
    assert not bpy.data.filepath
    assert_plays(extension, wanted)
    found = extension.takes.of_object(scene, bpy.data.objects["Sheet"], now=True)
    assert [take.id for take in found] == [used(extension).id]
    save(tmp_path / "two" / "b.blend")
    assert_plays(extension, wanted)
    reopen(tmp_path / "two" / "b.blend")
    assert_plays(extension, wanted)
    assert (tmp_path / "two" / "muslin_cache" / "Sheet").is_dir()


@pytest.mark.parametrize("result", RESULTS)
def test_a_save_as_that_fails_loses_nothing(extension, scene, tmp_path, result):
    cloth(result)
    save(tmp_path / "one" / "a.blend")
    bake(extension)
    wanted = shown()
    (tmp_path / "two" / "b.blend").mkdir(parents=True)
    with pytest.raises(RuntimeError):
        save(tmp_path / "two" / "b.blend")
    assert_plays(extension, wanted)
    save(tmp_path / "one" / "a.blend")
    reopen(tmp_path / "one" / "a.blend")
    assert_plays(extension, wanted)


@pytest.mark.parametrize("result", RESULTS)
def test_an_undo_after_the_first_save_finds_the_takes_that_it_has_moved(extension, scene, tmp_path, result):
    cloth(result)
    bake(extension)
    wanted = shown()
    bpy.ops.ed.undo_push(message="Bake Cloth")
    bpy.data.objects["Sheet"].location.x = 3.0
    bpy.ops.ed.undo_push(message="Move")
    save(tmp_path / "shot" / "a.blend")
    bpy.ops.ed.undo()
    assert_plays(extension, wanted)
    bpy.ops.ed.redo()
    assert used(extension) is not None


@pytest.mark.parametrize("result", RESULTS)
def test_a_disk_that_is_full_at_the_first_save_keeps_the_takes_where_they_are(extension, scene, tmp_path, monkeypatch,
                                                                              result):
    cloth(result)
    bake(extension)
    wanted = shown()

    def full(source, target):
        shutil.copytree(source, target)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as replaced:
        replaced.setattr(shutil, "move", full)
        save(tmp_path / "shot" / "a.blend")
    assert_plays(extension, wanted)
    assert not (tmp_path / "shot" / "muslin_cache" / "Sheet").exists()
    save(tmp_path / "shot" / "a.blend")                              # tried again
    assert (tmp_path / "shot" / "muslin_cache" / "Sheet").is_dir()
    assert_plays(extension, wanted)
    reopen(tmp_path / "shot" / "a.blend")
    assert_plays(extension, wanted)


def stopped_at(extension, frames):
    """Begin a bake and stop it after this number of frames."""
    steps = extension.bake.bake(bpy.context.scene)
    for progress in steps:
        if progress.done >= frames:
            break
    steps.close()
    extension.takes.forget()


def waiting(extension, name="Sheet"):
    extension.takes.forget()
    return extension.takes.unused(bpy.context.scene, bpy.data.objects[name], now=True)


@pytest.mark.parametrize("result", RESULTS)
def test_a_cache_that_was_moved_is_found_beside_the_file_or_where_the_user_says(extension, scene, tmp_path, result):
    cloth(result)
    save(tmp_path / "a" / "a.blend")
    bake(extension)
    wanted, take = shown(), used(extension)
    save(tmp_path / "b" / "b.blend")                                 # plays the frames that are in a
    shutil.move(tmp_path / "a" / "muslin_cache", tmp_path / "b" / "muslin_cache")
    reopen(tmp_path / "b" / "b.blend")                               # found by itself
    assert_plays(extension, wanted)
    save(tmp_path / "b" / "b.blend")
    (tmp_path / "c").mkdir()
    shutil.move(tmp_path / "b" / "muslin_cache", tmp_path / "c" / "frames of b")
    other = extension.found_take.Take.create(tmp_path / "b" / "muslin_cache" / "Sheet", extension.found_take.Take.open(
        tmp_path / "c" / "frames of b" / take.folder.name).header)   # another one of the same name
    other.close()
    reopen(tmp_path / "b" / "b.blend")
    sheet = bpy.context.view_layer.objects.active = bpy.data.objects["Sheet"]
    texts = " ".join(draw_all(extension, sheet, width=10000).texts)
    if result == "MESH_CACHE":
        assert "are not those of the bake" in texts and "Find Cache" in texts and "Up to date" not in texts
    with pytest.raises(RuntimeError, match="choose the folder of caches"):
        bpy.ops.muslin.cache_find(directory=str(tmp_path / "a"))
    for folder in (tmp_path / "c" / "frames of b", tmp_path / "c" / "frames of b" / take.folder.name):
        reopen(tmp_path / "b" / "b.blend")
        bpy.context.view_layer.objects.active = bpy.data.objects["Sheet"]
        assert bpy.ops.muslin.cache_find(directory=str(folder)) == {"FINISHED"}
        assert_plays(extension, wanted)
        assert "gone" not in " ".join(draw_all(extension, bpy.data.objects["Sheet"], width=10000).texts)
    save(tmp_path / "b" / "b.blend")
    reopen(tmp_path / "b" / "b.blend")
    assert_plays(extension, wanted)


def test_what_a_file_bakes_hides_no_bake_of_its_copy(extension, scene, tmp_path):
    cloth()
    bake(extension)
    save(tmp_path / "copy.blend", copy=True)
    save(tmp_path / "a.blend")                                       # its take stands beside that of the copy
    own = used(extension)
    os.utime(own.folder / "frames.muslin", (own.changed + 60.0, own.changed + 60.0))
    reopen(tmp_path / "copy.blend")
    assert used(extension).folder != own.folder and used(extension).id == own.id
    assert waiting(extension) is None
    stopped_at(extension, 3)
    assert waiting(extension) is not None and waiting(extension).changed < own.changed + 60.0


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("place", ["same", "elsewhere/deep"])
def test_a_stopped_bake_is_found_from_where_the_file_is_saved(extension, scene, tmp_path, place, copy):
    cloth()
    first, second = tmp_path / "same" / "a.blend", tmp_path / place / "b.blend"
    save(first)
    stopped_at(extension, 3)
    wanted = waiting(extension)
    save(second, copy=copy)
    assert waiting(extension).id == wanted.id                        # without opening it again
    assert wanted.folder.parent == tmp_path / "same" / "muslin_cache"
    for path in (first, second, first):
        reopen(path)
        assert waiting(extension).id == wanted.id, path
    save(first)
    reopen(second)
    save(second)
    reopen(second)
    bpy.context.view_layer.objects.active = bpy.data.objects["Sheet"]
    assert waiting(extension).id == wanted.id and not extension.takes.is_mine(wanted)
    assert bpy.ops.muslin.bake_use() == {"FINISHED"}
    assert used(extension).id == wanted.id
    save(second)
    reopen(second)
    assert used(extension).id == wanted.id
    reopen(first)
    assert waiting(extension).id == wanted.id


def test_a_file_saved_elsewhere_while_it_bakes_finds_the_frames(extension, scene, tmp_path):
    cloth()
    save(tmp_path / "a" / "a.blend")
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.done >= 3:
            break
    folder, = (tmp_path / "a" / "muslin_cache").iterdir()
    extension.saved_takes.before_save(str(tmp_path / "b" / "b.blend"), moves=False, running=folder)
    assert extension.takes.read(folder).id in extension.saved_takes._wanted
    save(tmp_path / "b" / "b.blend")
    steps.close()
    reopen(tmp_path / "b" / "b.blend")
    assert waiting(extension).folder == folder


@pytest.mark.parametrize("saved", [False, True])
def test_a_cloth_that_was_renamed_finds_frames_that_are_not_in_use(extension, scene, tmp_path, saved):
    sheet, second = cloth(), cloth(name="Second")
    save(tmp_path / "a.blend")
    stopped_at(extension, 3)
    wanted = waiting(extension)
    reopen(tmp_path / "a.blend")                                     # the names are read from the file
    sheet, second = bpy.data.objects["Sheet"], bpy.data.objects["Second"]
    sheet.name = "Old"
    second.name = "Sheet"                                            # takes the name of the other
    cloth(name="Second")
    if saved:
        save(tmp_path / "b" / "b.blend")
        reopen(tmp_path / "b" / "b.blend")
    scene = bpy.context.scene
    assert waiting(extension, "Old").id == waiting(extension, "Sheet").id == wanted.id
    assert waiting(extension, "Second") is None
    assert [obj.name for obj in extension.apply_take.objects_of(wanted, scene)] == [
        {"Sheet": "Old", "Second": "Sheet"}[name] for name in wanted.cloths]


@pytest.mark.parametrize("saved", [False, True])
def test_a_new_cloth_with_the_name_of_a_deleted_one_gets_none_of_its_frames(extension, scene, tmp_path, saved):
    sheet = cloth()
    save(tmp_path / "a.blend")
    stopped_at(extension, 3)
    assert waiting(extension) is not None
    bpy.data.objects.remove(sheet)
    if saved:
        save(tmp_path / "a.blend")
        reopen(tmp_path / "a.blend")
    cloth()
    assert waiting(extension) is None
    assert extension.takes.of_object(bpy.context.scene, bpy.data.objects["Sheet"]) == []


def test_after_a_deletion_no_older_bake_is_offered_than_the_deleted_one(extension, scene, tmp_path):
    sheet = cloth()
    save(tmp_path / "a.blend")
    bake(extension)
    bake(extension)                                                  # the first one is kept for undo
    deleted = used(extension)
    twin = sheet.copy()                                              # plays the same bake
    scene.collection.objects.link(twin)
    bpy.context.view_layer.objects.active = sheet
    assert bpy.ops.muslin.bake_delete() == {"FINISHED"}
    assert waiting(extension).id == deleted.id
