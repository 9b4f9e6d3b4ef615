# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake beside the window, stepped without one: the bytes of a bake inline, and whatever happens while it runs."""

from __future__ import annotations

import os
import shutil
import signal

import bpy
import pytest

from tests.addon import builders
from tests.addon.window_steps import LAST, Driven, latest, long_bake, moving_scene, stored


@pytest.fixture(autouse=True)
def cached(scene, tmp_path):
    """Keep the takes of the test in a folder of its own, and compile nothing."""
    scene.muslin.cache_folder = str(tmp_path / "cache")
    scene.muslin.backend = "NUMPY"
    scene.frame_end = LAST


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_a_bake_beside_the_window_has_the_bytes_of_one_inline(extension, scene, result):
    sheet = moving_scene(result)
    builders.finish(extension.bake.bake(scene))
    wanted, shown = stored(extension, sheet), [builders.displayed(sheet, n).tobytes() for n in range(1, LAST + 1)]
    extension.shape_keys.delete_bake(sheet)
    scene.frame_set(3)
    before = extension.takes.takes_in(extension.takes.cache_folder(scene), now=True)
    bake = Driven(extension, scene, [sheet])
    bake.until()
    assert bake.report is not None and scene.frame_current == 3
    assert stored(extension, sheet) == wanted
    assert [builders.displayed(sheet, n).tobytes() for n in range(1, LAST + 1)] == shown
    assert len(before) == 1 and [m.name for m in sheet.modifiers] == (
        [] if result == "SHAPE_KEYS" else [extension.mesh_cache.RESULT])
    assert extension.bake_state.state_of(scene, sheet).text(changed=False) == "Up to date"


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_objects_may_swap_their_names_while_the_scene_is_read(extension, scene, result):
    sheet, box = moving_scene(result), bpy.data.objects["Box"]
    builders.finish(extension.bake.bake(scene))
    wanted = stored(extension, sheet)
    bake = Driven(extension, scene, [sheet])
    next(bake.steps)
    sheet.name, box.name, sheet.name = "Third", "Sheet", "Box"
    bake.until()
    assert stored(extension, sheet) == wanted and bake.report.cloths == ["Box"]
    assert extension.bake_state.state_of(scene, sheet).text(changed=False) == "Up to date"


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_a_bake_that_is_cancelled_keeps_the_old_result_and_goes_on_later(extension, scene, result):
    sheet = moving_scene(result)
    scene.frame_end = 20
    builders.finish(extension.bake.bake(scene))
    wanted, used = stored(extension, sheet), extension.takes.in_use(sheet)
    scene.frame_set(1)
    before = builders.state(sheet)
    bake = Driven(extension, scene, [sheet])
    bake.solving(3)
    bake.close()
    scene.frame_set(1)
    assert builders.state(sheet) == before
    assert extension.takes.in_use(sheet).id == used.id
    take = latest(extension, scene, sheet)
    assert take.id != used.id and take.reached >= 3
    again = Driven(extension, scene, [sheet], extension.preparation.Continuation(take.folder))
    again.until()
    assert extension.takes.in_use(sheet).id == take.id
    assert stored(extension, sheet) == wanted


def test_a_bake_of_the_window_goes_on_inline_and_with_other_settings(extension, scene):
    sheet = moving_scene()
    scene.frame_end = 20
    bake = Driven(extension, scene, [sheet])
    bake.solving(3)
    bake.close()
    take = latest(extension, scene, sheet)
    sheet.muslin.friction = 0.9
    scene.frame_end = 22
    bake = Driven(extension, scene, [sheet], extension.preparation.Continuation(take.folder))
    bake.until()
    assert bake.report.as_dict()["settings"]["cloths"]["Sheet"]["friction"] == pytest.approx(0.9)
    assert extension.takes.in_use(sheet).is_complete and extension.baked_record.load(sheet).last == 22


def test_an_error_while_the_scene_is_read_stops_the_solver_and_changes_nothing(extension, scene):
    sheet = moving_scene()
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), 4: (0.0, 0.0, 0.0), 5: (1e10, 0.0, 0.0)})
    scene.frame_set(1)
    before = builders.state(sheet)
    bake = Driven(extension, scene, [sheet])
    with pytest.raises(extension.core.ClothError) as error:
        bake.until()
    assert ";" in str(error.value)
    assert "Sheet: " in str(error.value) and "frame 4.5" in str(error.value) or "frame 5" in str(error.value)
    assert bake.bake._process.wait(30.0)
    assert builders.state(sheet) == before


def test_a_solver_that_is_killed_is_told_and_its_frames_go_on(extension, scene):
    sheet, bake = long_bake(extension, scene, 14)
    os.kill(bake.bake._process._process.pid, signal.SIGKILL)
    with pytest.raises(extension.core.ClothError, match="its frames are kept[;:] resume"):
        bake.until()
    take = latest(extension, scene, sheet)
    assert take.reached >= 2 and not sheet.modifiers
    reader = extension.apply_take.Take.open(take.folder)
    kept = [reader.positions(0, n).tobytes() for n in range(1, take.reached + 1)]
    again = Driven(extension, scene, [sheet], extension.preparation.Continuation(take.folder))
    again.until()
    reader = extension.apply_take.Take.open(extension.takes.in_use(sheet).folder)
    now = [reader.positions(0, n).tobytes() for n in range(1, reader.last + 1)]
    same = min(len(kept), len(now))
    assert now[:same] == kept[:same] and reader.is_complete


def test_a_cloth_that_is_renamed_while_it_is_solved_gets_its_bake(extension, scene):
    sheet = moving_scene()
    bake = Driven(extension, scene, [sheet])
    bake.solving()
    sheet.name = "Other"
    builders.sheet(3, "Sheet")                                       # another one of the old name
    bake.until()
    assert extension.baked_record.report_of(sheet)["cloths"] == ["Other"]
    assert not extension.baked_record.has_bake(bpy.data.objects["Sheet"])
    take = extension.takes.in_use(sheet)
    assert extension.apply_take.objects_of(take, scene) == [sheet]


def test_a_cloth_that_is_deleted_while_it_is_solved_is_an_error_and_its_frames_are_kept(extension, scene):
    sheet, bake = long_bake(extension, scene)
    scene.frame_end = 5
    bpy.data.objects.remove(sheet)
    bake.bake._process.stop()
    with pytest.raises(extension.core.ClothError, match="frames are"):
        bake.until()
    assert extension.takes.read(bake.bake.folder).reached >= 2


def test_a_mesh_that_is_edited_while_it_is_solved_is_an_error_and_the_frames_are_kept(extension, scene):
    sheet = moving_scene()
    bake = Driven(extension, scene, [sheet])
    bake.solving()
    sheet.data.from_pydata([(0, 0, 0)], [], []) if not len(sheet.data.vertices) else sheet.data.vertices.add(1)
    with pytest.raises(extension.core.ClothError, match="has 26 vertices, and 25 when it was baked; undo"):
        bake.until()
    assert not extension.baked_record.has_bake(sheet) and not sheet.modifiers
    assert extension.takes.read(bake.bake.folder).is_complete


def test_an_undo_while_it_is_solved_does_not_end_it(extension, scene):
    sheet = moving_scene()
    bpy.ops.ed.undo_push(message="Begin")
    bpy.data.objects["Box"].location.x = 5.0
    bpy.ops.ed.undo_push(message="Move")
    bake = Driven(extension, scene, [sheet])
    bake.solving()
    bpy.ops.ed.undo()
    sheet = bpy.data.objects["Sheet"]
    bake.until()
    assert bake.report is not None and extension.baked_record.has_bake(bpy.data.objects["Sheet"])
    assert [m.name for m in bpy.data.objects["Sheet"].modifiers] == []


def test_the_scene_may_be_switched_while_it_is_solved(extension, scene):
    sheet = moving_scene()
    bake = Driven(extension, scene, [sheet])
    bake.solving()
    other = bpy.data.scenes.new("Other")
    bpy.context.window.scene = other
    bake.until()
    assert extension.baked_record.has_bake(sheet)
    bpy.context.window.scene = scene
    assert builders.displayed(sheet, LAST).tobytes() != builders.displayed(sheet, 1).tobytes()


def test_the_scene_of_a_bake_may_be_deleted(extension, scene):
    sheet = moving_scene()
    bake = Driven(extension, scene, [sheet])
    bake.solving()
    other = bpy.data.scenes.new("Other")
    bpy.context.window.scene = other
    bpy.data.scenes.remove(scene)
    with pytest.raises(extension.core.ClothError, match="removed"):
        bake.until()


def test_a_file_that_is_saved_while_it_is_solved_has_no_trace_of_the_bake(extension, scene, tmp_path):
    sheet = moving_scene("MESH_CACHE")
    scene.muslin.cache_folder = "//muslin_cache"
    bake = Driven(extension, scene, [sheet])
    bake.solving()
    extension.session._session.bake = bake.bake                      # as a bake that was begun by a button
    try:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    finally:
        extension.session._session.bake = None
    bake.until()
    shown = builders.displayed(sheet, LAST).tobytes()
    shutil.copy(tmp_path / "a.blend", tmp_path / "b.blend")
    with bpy.data.libraries.load(str(tmp_path / "b.blend")) as (there, here):
        here.objects = ["Sheet"]
    assert [m.name for m in here.objects[0].modifiers] == []
    bpy.data.objects.remove(here.objects[0])
    bpy.ops.wm.save_mainfile()                                       # moves the take beside the file
    assert builders.displayed(sheet, LAST).tobytes() == shown
    assert (tmp_path / "muslin_cache" / "Sheet").is_dir()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "a.blend"))
    assert builders.displayed(bpy.data.objects["Sheet"], LAST).tobytes() == shown
