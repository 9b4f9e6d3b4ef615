# SPDX-License-Identifier: GPL-3.0-or-later
"""Frame ranges: where a bake starts, at which frame rate, and with which Time Stretching, does not change it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders

FRAMES = 10


def straight(obj):
    """Make the object's curves straight from key to key."""
    for curve in [curve for layer in obj.animation_data.action.layers for strip in layer.strips
                  for bag in strip.channelbags for curve in bag.fcurves]:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"


def once(*values):
    """Return values of a parameter that are tested in one version of Blender alone."""
    return [pytest.param(*(value if isinstance(value, tuple) else [value]), marks=pytest.mark.once) for value in values]


@pytest.fixture
def build(extension, scene):
    """Return a function that builds and bakes a pinned cloth and a collider, both moved by keys from `first` on.

    There are straight lines from frame to frame, because Blender computes other curves in single precision of the time.
    """
    def build(first, *, fps=24, base=1.0, old=100, new=100, preroll=0, own_keys=False):
        scene.render.fps, scene.render.fps_base = fps, base
        scene.render.frame_map_old, scene.render.frame_map_new = old, new
        for obj in list(scene.objects):
            if obj.type == "MESH":
                obj.data.name = "Old"
            scene.collection.objects.unlink(obj)
            obj.name = "Old"
        sheet, box = builders.sheet(5, height=0.12), builders.box(size=0.2)
        if own_keys:
            sheet.shape_key_add(name="Basis")
            sheet.shape_key_add(name="Own")
        builders.pin(sheet, {0: 1.0, 4: 1.0})
        rng = np.random.default_rng(7)
        for n in range(FRAMES):
            for obj in (sheet, box):
                obj.location = 0.05 * rng.normal(size=3)
                obj.keyframe_insert("location", frame=(first + n) * old / new)
        for obj in (sheet, box):
            straight(obj)
        muslin = scene.muslin
        muslin.backend, muslin.motion_samples, muslin.preroll = "NUMPY", 2, preroll
        muslin.use_custom_range, muslin.frame_start, muslin.frame_end = True, first + preroll, first + FRAMES - 1
        report = builders.finish(extension.bake.bake(scene))
        names = [f"Muslin {frame:04d}" for frame in range(first + preroll, first + FRAMES)]
        assert [key.name for key in sheet.data.shape_keys.key_blocks][-len(names):] == names
        assert (report.first, report.last) == (first + preroll, first + FRAMES - 1)
        blocks = [sheet.data.shape_keys.key_blocks[name] for name in names]
        keys = np.array([[tuple(point.co) for point in block.points] for block in blocks])
        return keys, [builders.displayed(sheet, frame) for frame in range(first + preroll, first + FRAMES)]

    return build


@pytest.mark.parametrize("first", [*once(0, -7, -1001), 1001, 100000])
def test_a_bake_of_other_frames_is_the_same_to_the_byte(build, first):
    keys, shown = build(1)
    others, shown_there = build(first)
    assert np.array_equal(keys, others)
    assert np.abs(keys[-1] - keys[0]).max() > 0.05
    for here, there in zip(shown, shown_there, strict=True):
        assert np.abs(here - there).max() < 1e-5


@pytest.mark.parametrize(("options", "first"), [
    ({"fps": 24, "base": 1.001}, 1001), ({"fps": 30, "base": 1.001}, -6), ({"fps": 25, "base": 2.0}, 1001),
    *once(({"fps": 1, "base": 3.0}, 1001)), ({"old": 100, "new": 200}, -6), ({"old": 200, "new": 100}, 1001),
    ({"fps": 24, "base": 1.001, "old": 100, "new": 400}, -6), *once(
        ({"fps": 24, "base": 1.001}, -6), ({"old": 100, "new": 200}, 1001))])
def test_frame_rates_and_time_stretching_count_alike_at_all_frames(build, options, first):
    keys, shown = build(1, **options)
    others, shown_there = build(first, **options)
    assert np.array_equal(keys, others)
    for here, there in zip(shown, shown_there, strict=True):
        assert np.abs(here - there).max() < 1e-5


@pytest.mark.parametrize("own_keys", [False, True])
@pytest.mark.parametrize("first", [*once(-4, 0), 1001])
def test_frames_of_a_pre_roll_are_the_first_frames_of_a_longer_range(build, first, own_keys):
    keys, shown = build(first, own_keys=own_keys)
    late, shown_late = build(first, preroll=4, own_keys=own_keys)
    assert np.array_equal(keys[4:], late)
    for here, there in zip(shown[4:], shown_late, strict=True):
        assert np.abs(here - there).max() < 1e-5


@pytest.mark.parametrize("frame", [-1048574, -1001, -7, 0, 1, 1001, 1048574])
def test_keys_of_all_frames_are_recognised_when_they_are_left(extension, scene, frame):
    sheet = builders.sheet(3)
    sheet.shape_key_add(name=extension.baked_record.key_name(frame))
    assert extension.baked_record.left_keys(sheet) == "1 shape key of an earlier bake is left"
