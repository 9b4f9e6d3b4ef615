# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors of a bake in Blender's window are reported, and nothing changes."""

from __future__ import annotations

import bpy
import ui_sim as ui
from window_input import Steps, click, messages, no_bake, press, until
from window_scene import make_current, ready, state


def errors() -> Steps:
    """Bake with a missing pin group, and in Edit Mode."""
    sheet = yield from ready(frames=12)
    sheet.muslin.pin_group = "Pinz"
    before = state(sheet)
    yield from click("muslin.bake")
    yield from until(no_bake, "the bake to be refused")
    yield
    assert "'Pinz'" in messages() and "Sheet" in messages(), messages()
    assert state(sheet) == before
    yield from press("ESC")         # closes the message

    sheet.muslin.pin_group = "Pins"
    make_current(sheet)
    with bpy.context.temp_override(window=ui.window(), area=ui.area("VIEW_3D"), region=ui.region(ui.area("VIEW_3D"))):
        bpy.ops.object.mode_set(mode="EDIT")
    yield
    yield from click("muslin.bake")
    yield from until(no_bake, "the bake to be refused")
    yield
    assert "Edit Mode" in messages(), messages()
