# SPDX-License-Identifier: GPL-3.0-or-later
"""How a bake beside the window reads the scene: little time a frame, every change noticed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders
from tests.addon.window_steps import LAST, Driven, moving_scene


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


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_edges_and_corners_are_those_of_the_collections(extension, scene, mode):
    import bpy

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
