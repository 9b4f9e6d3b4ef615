# SPDX-License-Identifier: GPL-3.0-or-later
"""How a bake beside the window reads the scene: little time a frame, every change noticed."""

from __future__ import annotations

import time

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as
from tests.addon.window_steps import LAST, Driven, latest, moving_scene, stored


@pytest.fixture(autouse=True)
def cached(scene, tmp_path):
    """Keep the takes of the test in a folder of its own, and compile nothing."""
    scene.muslin.cache_folder = str(tmp_path / "cache")
    scene.muslin.backend = "NUMPY"
    scene.frame_end = LAST


def at_frame(extension, scene, sheet, frame):
    """Begin a bake and step until this frame is read."""
    bake = Driven(extension, scene, [sheet])
    assert bake.until(lambda _: bake.progress is not None and bake.progress.frame == frame)
    assert bake.bake.reads
    return bake


def test_weights_and_settings_are_read_once_and_not_at_every_frame(extension, scene, monkeypatch):
    sheet = moving_scene()
    bake = at_frame(extension, scene, sheet, 2)

    def fails(*_):
        raise AssertionError("read again")

    monkeypatch.setattr(extension.fingerprint, "_add_maps", fails)
    monkeypatch.setattr(extension.fingerprint, "settings_of", fails)
    assert bake.until(lambda _: bake.progress.frame == LAST)
    monkeypatch.undo()
    bake.close()


def move_a_vertex(sheet):
    sheet.data.vertices[7].co.x += 0.1


def turn_a_face(sheet):
    polygon = sheet.data.polygons[0]
    corners = [sheet.data.loops[i].vertex_index for i in polygon.loop_indices]
    for i, vertex in zip(polygon.loop_indices, corners[1:] + corners[:1], strict=True):
        sheet.data.loops[i].vertex_index = vertex


def exchange_ends_of_an_edge(sheet):
    first, second = sheet.data.edges[3].vertices
    sheet.data.edges[3].vertices = (second, first)


def add_a_key(sheet):
    sheet.shape_key_add(name="Basis")


def add_a_modifier(sheet):
    sheet.modifiers.new("Wave", "WAVE")


@pytest.mark.parametrize("change", [move_a_vertex, turn_a_face, exchange_ends_of_an_edge, add_a_key, add_a_modifier])
def test_a_change_between_two_frames_is_noticed_while_the_scene_is_read(extension, scene, change):
    sheet = moving_scene()
    bake = at_frame(extension, scene, sheet, 3)
    change(sheet)
    with pytest.raises(extension.core.SceneError, match=r"Sheet: .* while the bake ran \(frame 3\); undo that"):
        next(bake.steps)
    assert bake.bake._process.wait(30.0)


def key_gravity(sheet):
    bpy.context.scene.keyframe_insert("gravity", frame=LAST)


@pytest.mark.parametrize(("change", "named"), [
    (lambda sheet: builders.box(name="Other"), "collider 'Other' was added"),
    (lambda sheet: setattr(sheet, "location", (1.0, 0.0, 0.0)),
     r"Sheet: its object and modifiers \(location\) changed"),
    (lambda sheet: setattr(bpy.data.objects["Box"].muslin, "kind", "NONE"), "collider 'Box' was removed"),
    (key_gravity, "gravity changed")])
def test_a_change_of_the_scene_ends_a_bake_that_reads_it(extension, scene, change, named):
    sheet = moving_scene()
    builders.animate(scene, "gravity", {1: (0.0, 0.0, -9.81), LAST: (0.0, 0.0, -1.0)})
    bake = at_frame(extension, scene, sheet, 3)
    scene.gravity = 0.0, 0.0, -2.0
    change(sheet)
    with pytest.raises(extension.core.SceneError, match=rf"{named} while the bake ran \(frame 3\); undo that"):
        next(bake.steps)
    assert bake.bake._process.wait(30.0)


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_settings_that_change_while_the_scene_is_read_are_those_of_the_next_bake(extension, scene, result):
    sheet = moving_scene(result)
    Driven(extension, scene, [sheet]).until()
    undisturbed = stored(extension, sheet)
    bake = at_frame(extension, scene, sheet, 3)
    scene.gravity = 0.0, 0.0, -1.0
    sheet.muslin.stretch_warp = 123.0
    bpy.data.objects["Box"].muslin.friction = 0.9
    sheet.vertex_groups[0].add([3], 1.0, "REPLACE")
    assert not bake.until()
    assert stored(extension, sheet) == undisturbed
    report = extension.baked_record.load(sheet).report
    assert extension.bake_changes.changes(scene, sheet, report) == [
        "settings (Stretch)", "vertex groups, attributes and UV map", "gravity", "collider 'Box' (its settings)"]


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_edges_and_corners_are_those_of_the_collections(extension, scene, mode):
    loose = builders.mesh_object("Loose", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (2, 2, 2)], [(0, 1, 2)], [(2, 3)])
    for obj in (builders.sheet(4), builders.box(), loose, builders.mesh_object("Points", [(0, 0, 0), (1, 0, 0)]),
                builders.mesh_object("Empty", [])):
        bpy.context.view_layer.objects.active = obj
        bpy.ops.object.mode_set(mode=mode)
        mesh = obj.data
        ends = np.empty(2 * len(mesh.edges), np.int32)
        mesh.edges.foreach_get("vertices", ends)
        vertices = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("vertex_index", vertices)
        assert np.array_equal(extension.mesh_data.edges(mesh), ends.reshape(-1, 2))
        assert np.array_equal(extension.mesh_data.corners(mesh)[0], vertices)
        assert extension.mesh_data.edges(mesh).dtype == np.int32
        bpy.ops.object.mode_set(mode="OBJECT")


@pytest.fixture
def frames_read(extension, monkeypatch):
    """Return a list that receives the number of each frame that is read."""
    found, read = [], extension.preparation.Preparation.read
    monkeypatch.setattr(extension.preparation.Preparation, "read",
                        lambda self, frame: found.append(frame) or read(self, frame))
    return found


def interrupted(extension, scene, sheet, at=None):
    """Cancel a bake at frame `at` of its reading, or while it is solved; return where it goes on."""
    if at is None:
        bake = Driven(extension, scene, [sheet])
        bake.solving(3)
    else:
        bake = at_frame(extension, scene, sheet, at)
        end = time.monotonic() + 60.0
        while (extension.takes.read(bake.bake.folder).reached or 0) < 3:
            assert time.monotonic() < end
            time.sleep(0.01)
    bake.close()
    return extension.preparation.Continuation(latest(extension, scene, sheet).folder)


def read_again(extension, scene, sheet, place, frames_read):
    """Go on with a bake until the scene is read; return the frames that were read, and the bytes of the feed."""
    frames_read.clear()
    bake = Driven(extension, scene, [sheet], place)
    assert bake.until(lambda window: not window.reads)
    bake.close()
    return list(frames_read), (bake.bake.folder / "feed.muslin").read_bytes()


@pytest.fixture
def fluttering(scene):
    """Return a sheet with motion of its own, and 100 frames."""
    sheet = moving_scene(n=12)
    scene.frame_end = 100
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), 100: (0.0, 1.0, 0.0)})
    scene.frame_set(1)
    return sheet


@pytest.mark.parametrize("at", [None, 8])
def test_resume_with_an_unchanged_scene_reads_no_frame_again(extension, scene, frames_read, fluttering, at):
    place = interrupted(extension, scene, fluttering, at)
    there = frames_read[-1]
    assert there == (at or 100)
    frames, feed = read_again(extension, scene, fluttering, place, frames_read)
    assert frames == list(range(there, 101))                        # the last frame of the feed is read to compare it
    frames, whole = read_again(extension, scene, fluttering, None, frames_read)
    assert frames == list(range(2, 101)) and whole == feed


def keyed(scene, sheet):
    builders.animate(sheet, "location", {50: (0.0, 0.0, 0.5)})


def more_friction(scene, sheet):
    sheet.muslin.friction = 0.9


def more_frames(scene, sheet):
    scene.frame_end = 101


def by_a_handler(scene, sheet):
    """Change the motion in a way that no fingerprint has, like the cache of a rigid body simulation."""
    def move(scene, *_):
        scene.objects["Sheet"].delta_location.x = 0.01 * scene.frame_current * (scene.frame_current > 2)

    bpy.app.handlers.frame_change_pre.append(move)


@pytest.mark.parametrize("change", [keyed, more_friction, more_frames, by_a_handler])
@pytest.mark.parametrize("at", [None, pytest.param(8, marks=pytest.mark.once)])
def test_resume_with_a_changed_scene_reads_it_from_its_first_frame(extension, scene, frames_read, fluttering, at,
                                                                    change):
    place = interrupted(extension, scene, fluttering, at)
    change(scene, fluttering)
    scene.frame_set(1)
    try:
        frames, feed = read_again(extension, scene, fluttering, place, frames_read)
        assert set(range(2, scene.frame_end + 1)) <= set(frames)
        assert feed == read_again(extension, scene, fluttering, None, frames_read)[1]
    finally:
        bpy.app.handlers.frame_change_pre.clear()


def test_a_feed_that_another_bake_has_made_out_of_date_is_not_used(extension, scene, frames_read, fluttering):
    place = interrupted(extension, scene, fluttering)
    more_friction(scene, fluttering)
    inline = extension.bake.bake(scene, [fluttering], resume=place)
    for _ in range(4):
        next(inline)
    inline.close()                                                  # the take has other settings now than its feed
    folder = latest(extension, scene, fluttering).folder
    place = extension.preparation.Continuation(folder)
    frames, _ = read_again(extension, scene, fluttering, place, frames_read)
    assert frames[-99:] == list(range(2, 101))


def test_a_script_that_completes_a_bake_of_the_window_leaves_no_feed(extension, scene, fluttering):
    scene.frame_end = 30
    place = interrupted(extension, scene, fluttering)
    assert (place.folder / "feed.muslin").is_file() and (place.folder / "scene.muslin").is_file()
    builders.finish(extension.bake.bake(scene, [fluttering], resume=place))
    used = extension.takes.in_use(fluttering)
    assert used.folder == place.folder and used.is_complete
    assert not {"feed.muslin", "scene.muslin"} & {path.name for path in place.folder.iterdir()}


def test_a_damaged_feed_is_read_again_from_the_first_frame(extension, scene, frames_read, fluttering):
    place = interrupted(extension, scene, fluttering)
    path = place.folder / "feed.muslin"
    whole = path.read_bytes()
    path.write_bytes(whole[:len(whole) // 2])
    frames, feed = read_again(extension, scene, fluttering, place, frames_read)
    assert 2 < frames[0] < 100 and frames == list(range(frames[0], 101)) and feed == whole
    path.write_bytes(b"no feed" * 100)
    frames, feed = read_again(extension, scene, fluttering, place, frames_read)
    assert frames == list(range(2, 101)) and feed == whole


@pytest.mark.parametrize("how", ["script", "window"])
def test_pins_that_are_thrown_are_refused_where_the_scene_is_read(extension, scene, how):
    sheet = moving_scene()
    builders.animate(sheet, "location", {3: (0.0, 0.0, 0.0), 4: (1e5, 0.0, 0.0)})
    scene.frame_set(1)
    with pytest.raises(extension.core.PinError, match=r"Sheet: pinned vertex 0 moves 100000 m from frame 3 to frame 4, "
                                                      "more than 10000 times the size of the cloth .1.41 m.; correct"):
        if how == "script":
            builders.finish(extension.bake.bake(scene))
        else:
            Driven(extension, scene, [sheet]).until()


def test_vertices_without_pins_and_jumps_of_some_metres_are_read(extension, scene, monkeypatch):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))
    sheet = moving_scene()
    builders.animate(sheet, "location", {3: (0.0, 0.0, 0.0), 4: (1e3, 0.0, 0.0)})
    scene.frame_set(1)
    builders.finish(extension.bake.bake(scene))
    sheet.muslin.pin_group = ""
    builders.animate(sheet, "location", {4: (1e5, 0.0, 0.0)})
    builders.finish(extension.bake.bake(scene))
