# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame window: linear interpolation between two frames, each of which is read once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders


@pytest.fixture
def window(extension, scene):
    """Return a window of a box that moves by (1, 0, 0) and then by (0, 0, 2) per frame, and of one at rest."""
    import bpy

    moving, still = builders.box("Moving"), builders.box("Still")
    builders.animate(moving, "location", {1: (0.0, 0.0, 0.0), 2: (1.0, 0.0, 0.0), 3: (1.0, 0.0, 2.0)})
    return extension.frame_window.FrameWindow(
        scene, bpy.context.view_layer, {moving: None, still: None}, first=1, frame_rate=10.0, metres_per_unit=0.5)


def centre(window, time):
    return window.at("Moving", time).mean(axis=0)


def test_times_between_frames_are_interpolated_in_metres(window):
    assert np.allclose(centre(window, 0.0), (0.0, 0.0, 0.0))
    window.read(2)
    assert np.allclose(centre(window, 0.0), (0.0, 0.0, 0.0))
    assert np.allclose(centre(window, 0.05), (0.25, 0.0, 0.0))
    assert np.allclose(centre(window, 0.1), (0.5, 0.0, 0.0))
    window.read(3)
    assert np.allclose(centre(window, 0.175), (0.5, 0.0, 0.75))


def test_a_time_outside_the_window_is_an_error_except_for_rounding(window):
    window.read(2)
    window.read(3)
    for time in (0.05, 0.25):
        with pytest.raises(RuntimeError, match="outside the frames 2..3"):
            centre(window, time)
    assert np.allclose(centre(window, 0.1 - 1e-12), (0.5, 0.0, 0.0))
    assert np.allclose(centre(window, 0.2 + 1e-12), (0.5, 0.0, 1.0))


def test_an_object_at_rest_has_the_same_array_at_all_times(window):
    before = window.at("Still", 0.0)
    window.read(2)
    assert window.at("Still", 0.03) is before
    assert window.at("Moving", 0.03) is not window.at("Moving", 0.0)


def test_matrices_of_cloths_are_read_with_the_positions(extension, scene):
    import bpy

    sheet = builders.sheet(3)
    builders.box()
    sheet.scale = 2.0, 3.0, -4.0
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), 2: (1.0, 2.0, 4.0)})
    scene.unit_settings.scale_length = 0.01
    inputs = extension.read_scene.read_scene(
        scene, extension.settings.scene_settings_of(scene), None, bpy.context.view_layer)
    sample, = inputs.window.read(2)
    time, values = sample
    matrix = values[extension.frame_window.matrix_name("Sheet")]
    assert time == 2.0 and matrix.dtype == np.float64 and set(values) == {"Sheet", "Box", "matrix Sheet"}
    assert np.allclose(matrix, [[0.02, 0, 0, 0.01], [0, 0.03, 0, 0.02], [0, 0, -0.04, 0.04], [0, 0, 0, 1]])
    local = np.array([vertex.co for vertex in sheet.data.vertices])
    assert np.allclose(local @ matrix[:3, :3].T + matrix[:3, 3], values["Sheet"])


def test_a_bake_sets_each_frame_once_and_the_first_twice(extension, scene):
    import bpy

    builders.sheet(3)
    builders.box().location.z = -2.0
    frames = []
    handler = lambda scene, *_: frames.append(scene.frame_current)      # noqa: E731
    bpy.app.handlers.frame_change_post.append(handler)
    try:
        scene.frame_set(3)
        frames.clear()
        builders.finish(extension.bake.bake(scene))
    finally:
        bpy.app.handlers.frame_change_post.remove(handler)
    assert frames == [1, 1, 2, 3, 4, 3]                     # at the first one it decides what is read
