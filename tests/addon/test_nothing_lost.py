# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on disk that nothing may take away: of the saved file, of stopped bakes, of other files, and half copies."""

from __future__ import annotations

import shutil
import sys
import time

import bpy
import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.fixture
def sheet(extension, scene, monkeypatch):
    """Return a cloth of the scene, whose simulation is replaced."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    scene.muslin.backend = "NUMPY"
    return builders.sheet(4)


def stopped(extension, scene, frames, objects=None):
    """Bake, and stop after this number of frames."""
    steps = extension.bake.bake(scene, objects)
    for progress in steps:
        if progress.done >= frames:
            break
    steps.close()
    extension.takes.forget()


def test_the_take_that_the_saved_file_plays_outlives_later_bakes(extension, scene, sheet, tmp_path):
    sheet.muslin.result = "MESH_CACHE"
    builders.finish(extension.bake.bake(scene))
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)
    saved = extension.baked_record.known(sheet).take_id
    wanted = builders.displayed(sheet, 4)
    for _ in range(4):
        builders.finish(extension.bake.bake(scene))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    again = bpy.data.objects["Sheet"]
    assert extension.takes.in_use(again).id == saved
    assert (builders.displayed(again, 4) == wanted).all()


def test_frames_of_a_stopped_bake_stay_until_a_later_one_is_complete(extension, scene, sheet):
    stopped(extension, scene, 3)
    first = extension.takes.unused(scene, sheet, now=True)
    for _ in range(3):
        stopped(extension, scene, 1)
        assert first.folder.is_dir()
    assert extension.takes.unused(scene, sheet, now=True).has_frames, "a bake that was stopped at once hides the frames"
    for _ in range(3):
        builders.finish(extension.bake.bake(scene))
    assert first.id not in {take.id for take in extension.takes.takes_in(first.folder.parent, now=True)}


def test_a_complete_bake_is_offered_beside_a_later_one_that_was_stopped(extension, scene, sheet, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"), check_existing=False)
    stopped(extension, scene, 4)                                    # solved, and taken by no object
    complete = extension.takes.unused(scene, sheet, now=True)
    assert complete.is_complete
    stopped(extension, scene, 2)
    partial = extension.takes.unused(scene, sheet, now=True)
    assert partial.id != complete.id and not partial.is_complete
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    scene, sheet = bpy.context.scene, bpy.data.objects["Sheet"]
    bpy.context.view_layer.objects.active = sheet
    assert "Use the Complete Bake: 1 to 4" in draw_all(extension, sheet, width=10000).texts
    assert bpy.ops.muslin.bake_use(take_id=complete.id) == {"FINISHED"}
    assert extension.takes.in_use(sheet).id == complete.id
    assert extension.takes.unused(scene, sheet, now=True).id == partial.id
    assert "Use the Complete Bake" not in " ".join(draw_all(extension, sheet, width=10000).texts)
    assert bpy.ops.muslin.bake_use(take_id=complete.id) == {"FINISHED"}                 # pressed once more
    assert extension.takes.in_use(sheet).id == complete.id
    assert bpy.ops.muslin.bake_use() == {"FINISHED"}
    assert extension.takes.in_use(sheet).id == partial.id
    assert "Use the Complete Bake: 1 to 4" in draw_all(extension, sheet, width=10000).texts
    with pytest.raises(RuntimeError, match=r"Sheet.*not on disk any more"):
        bpy.ops.muslin.bake_use(take_id="unknown")


def test_a_complete_bake_is_not_offered_where_it_would_replace_a_later_one_of_other_cloth(extension, scene, sheet):
    other = builders.sheet(4, "Other")
    stopped(extension, scene, 4)
    both = extension.takes.unused(scene, sheet, now=True)
    assert both.is_complete and set(both.cloths) == {"Sheet", "Other"}
    builders.finish(extension.bake.bake(scene, [other]))
    stopped(extension, scene, 2, [sheet])
    waiting = extension.takes.unused(scene, sheet, now=True)
    assert not waiting.is_complete and extension.takes.complete_besides(scene, sheet, waiting) is None
    extension.shape_keys.delete_bake(other)
    assert extension.takes.complete_besides(scene, sheet, waiting).id == both.id


def test_takes_of_another_blender_with_this_file_open_are_never_deleted(extension, scene, sheet):
    """A bake of this session whose notes are removed stands for one of another Blender, which has not saved it yet."""
    builders.finish(extension.bake.bake(scene))
    other = extension.baked_record.known(sheet).take_id
    extension.shape_keys.delete_bake(sheet)
    extension.takes._made.clear()
    extension.takes._earlier.clear()
    for _ in range(4):
        builders.finish(extension.bake.bake(scene))
    assert other in {take.id for take in extension.takes.takes_in(extension.takes.cache_folder(scene), now=True)}


def test_a_bake_stopped_at_its_first_frame_can_be_resumed(extension, scene, sheet):
    stopped(extension, scene, 1)
    extension.found_take.Take.resume(extension.takes.unused(scene, sheet, now=True).folder, 1).close()
    extension.takes.forget()
    state = extension.bake_state.state_of(scene, sheet)
    assert state.can_resume and state.waiting is not None and not state.waiting.has_frames


def test_bakes_of_another_file_with_the_same_names_are_not_offered(extension, scene, sheet, tmp_path):
    for name in ("a.blend", "b.blend"):
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / name), check_existing=False)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    stopped(extension, bpy.context.scene, 3)
    assert extension.takes.unused(bpy.context.scene, bpy.data.objects["Sheet"], now=True) is not None
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "b.blend"))
    assert extension.takes.unused(bpy.context.scene, bpy.data.objects["Sheet"], now=True) is None


def test_a_copy_that_fails_leaves_no_shorter_take(extension, scene, sheet, monkeypatch):
    stopped(extension, scene, 3)
    found = extension.takes.unused(scene, sheet, now=True)
    take = extension.found_take.Take.open(found.folder)

    def full(*_, **__):
        raise extension.core.CacheError("the disk is full; free some space")

    monkeypatch.setattr(sys.modules[type(take._files[0]).__module__].Pc2File, "append", full)
    with pytest.raises(extension.core.CacheError, match="full"):
        take.copy_prefix(found.folder.with_name("Copy"), found.reached - 1)
    assert extension.takes.read(found.folder.with_name("Copy")) is None


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_a_damaged_frame_is_told_before_it_becomes_the_result(extension, scene, sheet, result):
    builders.finish(extension.bake.bake(scene))
    found = extension.takes.in_use(sheet)
    file = found.folder / "Sheet.pc2"
    damaged = bytearray(file.read_bytes())
    damaged[-2 * 16 * 12 + 5] ^= 0x10                               # in the frame before the last
    file.write_bytes(damaged)
    sheet.muslin.result = result
    steps = extension.apply_take.apply_take(scene, bpy.context.view_layer, extension.found_take.Take.open(found.folder),
                                            [sheet], extension.progress.StageTimer())
    with pytest.raises(extension.core.CacheError, match=r"checksum of frame 3 is wrong.*bake again"):
        builders.finish(steps)


def test_a_bake_beside_the_window_ends_when_its_folder_is_gone(extension, scene, sheet):
    running = extension.window_bake.WindowBake(scene, [sheet])
    steps = running.steps()
    for _ in range(3):
        next(steps)
    shutil.rmtree(running.folder)
    steps.close()                                                   # raises nothing
    assert not any(extension.baked_record.is_own(modifier) for modifier in sheet.modifiers)
    end = time.monotonic() + 20.0
    while running._process.is_alive() and time.monotonic() < end:
        time.sleep(0.05)


def test_a_take_is_not_moved_while_a_bake_writes_to_it(extension, scene, sheet, tmp_path):
    steps = extension.bake.bake(scene)
    for _ in range(3):
        next(steps)
    folder = extension.takes.takes_in(extension.takes.temporary_folder(), now=True)[0].folder
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"), copy=True, check_existing=False)
    assert folder.is_dir() and not (tmp_path / "muslin_cache").exists()
    builders.finish(steps)
    assert extension.baked_record.has_bake(sheet)


def test_the_version_of_numba_is_known_without_importing_it(extension, monkeypatch):
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert extension.report.versions(numba=True)["numba"]


def test_an_undo_ends_a_bake_while_the_result_is_made(extension, scene, sheet, monkeypatch):
    class Making:
        reads, writes, view = False, True, None
        certificates: tuple[()] = ()

    ended = []
    monkeypatch.setattr(extension.session._session, "bake", Making())
    monkeypatch.setattr(extension.session, "_abort", ended.append)
    extension.session._before_undo()
    assert ended and "result" in ended[0]
