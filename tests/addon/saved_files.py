# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of a small cloth in files that are saved and opened again."""

from __future__ import annotations

import bpy

from tests.addon import builders

RESULTS = ["SHAPE_KEYS", "MESH_CACHE"]


def bake(extension, scene=None, *objects):
    scene = scene or bpy.context.scene
    report = builders.finish(extension.bake.bake(scene, list(objects) or None))
    extension.takes.forget()
    return report


def cloth(result="MESH_CACHE", name="Sheet"):
    sheet = builders.sheet(4, name)
    sheet.muslin.result = result
    return sheet


def shown(name="Sheet"):
    """Return the displayed positions of all frames, as bytes."""
    return [builders.displayed(bpy.data.objects[name], frame).tobytes() for frame in range(1, 5)]


def save(path, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False, **options)


def reopen(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return bpy.context.scene


def used(extension, name="Sheet"):
    extension.takes.forget()
    return extension.takes.in_use(bpy.data.objects[name])


def assert_plays(extension, wanted, name="Sheet"):
    """Check that a bake plays, that its take is found, and that Delete Bake restores the mesh."""
    assert shown(name) == wanted
    take = used(extension, name)
    assert take is not None and take.is_complete
    assert extension.baked_record.lacks_keys(bpy.data.objects[name]) is False
