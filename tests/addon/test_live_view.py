# SPDX-License-Identifier: GPL-3.0-or-later
"""What a running bake shows in the viewport, and that nothing of it is left behind."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.addon import builders

FRAMES = 6


@pytest.fixture
def shown(extension, scene, tmp_path):
    """Return a sheet of which a file has `FRAMES` frames, one higher each, and the view of it; the user is at frame 3.
    """
    pc2 = importlib.import_module(f"{extension.core.__name__}.cache.pc2")
    sheet = builders.sheet()
    path, count = tmp_path / "Sheet.pc2", len(sheet.data.vertices)
    file = pc2.Pc2File.create(path, count, 1)
    for frame in range(FRAMES):
        file.append(np.full((count, 3), float(frame + 1), np.float32))
    file.close()
    scene.frame_end = 20
    scene.frame_set(3)
    return sheet, extension.live_view.LiveView(scene, [sheet], [path], 1, 1.0, 3)


def height(sheet):
    import bpy

    return sheet.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices[0].co.z


def test_the_scene_follows_from_the_frame_of_the_user_and_goes_back(extension, scene, shown):
    sheet, view = shown
    view.show(0)
    assert not sheet.modifiers                                      # there is no frame yet
    view.show(5)
    assert scene.frame_current == 5 and height(sheet) == 5.0
    view.hide()
    view.go_home()
    assert scene.frame_current == 3 and not sheet.modifiers
    view._set_at = 0.0
    view.show(6)                                                    # after saving
    assert scene.frame_current == 6 and height(sheet) == 6.0


def test_the_scene_does_not_follow_a_user_who_looks_at_another_frame(extension, scene, shown):
    sheet, view = shown
    view.show(4)
    scene.frame_set(2)
    view._set_at = 0.0
    view.show(6)
    assert scene.frame_current == 2 and height(sheet) == 2.0
    view.go_home()
    assert scene.frame_current == 2


def test_nothing_is_left_on_copies_and_of_earlier_views(extension, scene, shown, tmp_path):
    sheet, view = shown
    view.show(4)
    sheet.modifiers[0].filepath = str(tmp_path / "earlier.pc2")
    view.show(4)
    assert len(sheet.modifiers) == 1 and height(sheet) == 4.0
    copy = sheet.copy()
    scene.collection.objects.link(copy)
    view.hide()
    assert not sheet.modifiers and not copy.modifiers


def test_a_bake_that_a_modifier_plays_has_a_key_for_its_changes(extension, scene):
    scene.muslin.backend = "NUMPY"
    sheet = builders.sheet()
    sheet.muslin.result = "MESH_CACHE"
    builders.finish(extension.bake.bake(scene))
    assert sheet.data.shape_keys is None
    assert extension.bake_changes._key(scene, sheet)[:2] == (scene.name, "Sheet")


def test_a_new_file_has_no_bakes_of_the_one_before(extension, scene):
    import bpy

    scene.muslin.backend = "NUMPY"
    builders.finish(extension.bake.bake(scene, [builders.sheet()]))
    assert extension.takes.of_object(scene, bpy.data.objects["Sheet"], now=True)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert extension.takes.of_object(bpy.context.scene, builders.sheet(), now=True) == []
