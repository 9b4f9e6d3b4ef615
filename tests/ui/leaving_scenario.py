# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension is switched off, and Blender is left, while a bake runs."""

from __future__ import annotations

import bpy
from window_hands import MODULE, Steps, baking, click, load_modules, no_bake, until
from window_stage import ready, state


def leaving() -> Steps:
    """The extension is switched off, and Blender is left, while a bake runs. Nothing comes after this scenario."""
    sheet = yield from ready(frames=400)
    before = state(sheet)
    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    bpy.ops.preferences.addon_disable(module=MODULE)
    yield
    yield
    assert no_bake() and not hasattr(bpy.types.Object, "muslin")
    assert state(sheet) == before, "switching the extension off during a bake left something behind"
    assert not [handler for name in ("undo_pre", "redo_pre", "load_pre", "save_pre")
                for handler in getattr(bpy.app.handlers, name) if "muslin" in handler.__module__]

    bpy.ops.preferences.addon_enable(module=MODULE)
    load_modules()
    yield
    yield
    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    print("window test: leaving Blender while a bake runs", flush=True)
    bpy.ops.wm.quit_blender()
    yield from until(lambda: False, "Blender to end")
