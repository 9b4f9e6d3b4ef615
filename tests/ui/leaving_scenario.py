# SPDX-License-Identifier: GPL-3.0-or-later
"""Disabling the extension, and quitting Blender, while a bake runs."""

from __future__ import annotations

import bpy
from window_input import MODULE, Steps, baking, click, load_modules, no_bake, until
from window_scene import ready, state


def leaving() -> Steps:
    """Disable the extension, and then quit Blender, while a bake runs. No scenario can follow this one."""
    sheet = yield from ready(frames=400)
    before = state(sheet)
    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to advance")
    bpy.ops.preferences.addon_disable(module=MODULE)
    yield
    yield
    assert no_bake() and not hasattr(bpy.types.Object, "muslin")
    assert state(sheet) == before, "disabling the extension during a bake left something behind"
    assert not [handler for name in ("undo_pre", "redo_pre", "load_pre", "save_pre")
                for handler in getattr(bpy.app.handlers, name) if "muslin" in handler.__module__]

    bpy.ops.preferences.addon_enable(module=MODULE)
    load_modules()
    yield
    yield
    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to advance")
    print("window test: quitting Blender while a bake runs", flush=True)
    bpy.ops.wm.quit_blender()
    yield from until(lambda: False, "Blender to end")
