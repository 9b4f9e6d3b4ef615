# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes after a bake, in Blender's window: the panel names them, and *Bake Again* makes the certificate right."""

from __future__ import annotations

import importlib

import bpy
from window_input import MODULE, Steps, click, found, no_bake, picture, type_value, until
from window_scene import make_current, ready


def changes() -> Steps:
    """Bake, type another weight, move the ball, play, and bake again."""
    module = importlib.import_module(f"{MODULE}.cloth_addon.ui.bake_changes")
    baked_record = importlib.import_module(f"{MODULE}.cloth_addon.properties.baked_record")

    def told() -> list[str]:
        """Return what the panel of the sheet shows as changed."""
        sheet = bpy.data.objects["Sheet"]
        return module._known.found.get(module._key(bpy.context.scene, sheet), ["not known yet"])

    sheet = yield from ready(frames=6)
    yield from click("muslin.bake")
    yield from until(no_bake, "the bake to end")
    yield from until(lambda: told() == [], "the panel to know that nothing has changed", 10.0)

    yield from type_value("areal_density", "0.25")
    yield from until(lambda: told() == ["settings (Weight)"], "the typed weight to be noticed", 10.0)
    bpy.data.objects["Ball"].location.x += 1.0
    wanted = {"settings (Weight)", "collider 'Ball' (location)"}
    yield from until(lambda: {*told()} == wanted, "the ball's place to be noticed", 10.0)
    bpy.context.scene.frame_end = 9
    yield from until(lambda: "frame range (now 1 to 9)" in told(), "the frame range to be noticed", 10.0)
    yield from picture("changed")
    ball = bpy.data.objects["Ball"]
    make_current(ball)
    yield
    ball.muslin.friction = 0.9
    ball.location.x -= 1.0
    bpy.context.scene.frame_end = 6
    make_current(sheet)
    yield from until(lambda: "collider 'Ball' (its settings)" in told(), "the ball's friction to be noticed", 10.0)
    found.pop("muslin.bake", None)                                  # Bake from Here is where Bake was
    yield from click("muslin.bake")
    yield from until(no_bake, "the second bake to end")
    assert baked_record.report_of(sheet)["settings"]["cloths"]["Sheet"]["areal_density"] == sheet.muslin.areal_density
    yield from until(lambda: told() == [], "the panel to know that the bake is new", 10.0)
    yield from picture("baked_again")
    yield from click("muslin.bake_delete")
