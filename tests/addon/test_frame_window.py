# SPDX-License-Identifier: GPL-3.0-or-later
"""Between two frames everything moves straight; each frame is read once."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))
import builders


@pytest.fixture
def window(extension, scene):
    """A box that moves by (1, 0, 0) and then by (0, 0, 2) a frame, and one that stands still."""
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


def test_a_time_that_is_not_held_is_an_error_and_rounding_is_not(window):
    window.read(2)
    window.read(3)
    for time in (0.05, 0.25):
        with pytest.raises(RuntimeError, match="outside the frames 2..3"):
            centre(window, time)
    assert np.allclose(centre(window, 0.1 - 1e-9), (0.5, 0.0, 0.0))
    assert np.allclose(centre(window, 0.2 + 1e-9), (0.5, 0.0, 1.0))


def test_what_stands_still_is_the_same_array_at_all_times(window):
    before = window.at("Still", 0.0)
    window.read(2)
    assert window.at("Still", 0.03) is before
    assert window.at("Moving", 0.03) is not window.at("Moving", 0.0)


def test_a_bake_sets_each_frame_once(extension, scene):
    import bpy

    builders.sheet(3)
    builders.box()
    frames = []
    handler = lambda scene, *_: frames.append(scene.frame_current)      # noqa: E731
    bpy.app.handlers.frame_change_post.append(handler)
    try:
        scene.frame_set(3)
        frames.clear()
        builders.finish(extension.bake.bake(scene))
    finally:
        bpy.app.handlers.frame_change_post.remove(handler)
    assert frames == [1, 2, 3, 4, 3]
