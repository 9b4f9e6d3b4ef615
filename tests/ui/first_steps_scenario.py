# SPDX-License-Identifier: GPL-3.0-or-later
"""The first steps in the panel: cloth, preset, value, undo, pin group and collider."""

from __future__ import annotations

import importlib
from typing import Any
from unittest import mock

import bpy
import ui_sim as ui
from window_input import MODULE, Steps, at, click, physics_tab, picture, press, type_value
from window_scene import make_current, sheet_and_ball

MENU_ABOVE = 31         # distance from the first value of the fabric up to the button that opens the presets [pixels]
SEARCH_BELOW = 43       # distance from that button down to the search [pixels]
FIRST_FOUND = -307, 39  # way from that button to the name of the first fabric, where few are shown [pixels]


def first_steps() -> Steps:
    """Make a mesh a pinned cloth of silk over a collider, by the panel alone."""
    assert MODULE in bpy.context.preferences.addons, "the extension is not enabled"
    sheet, ball = sheet_and_ball(frames=12)
    physics_tab()
    yield from picture("empty")
    yield from click("muslin.cloth_add")
    assert sheet.muslin.kind == "CLOTH" and sheet.muslin.fabric == "cotton"

    x, y = yield from at("areal_density")
    yield from choose_silk(x, y + MENU_ABOVE)
    assert sheet.muslin.fabric == "silk", sheet.muslin.fabric
    light = sheet.muslin.areal_density
    yield from type_value("areal_density", "0.25")
    yield
    assert abs(sheet.muslin.areal_density - 0.25) < 1e-6 and sheet.muslin.fabric == "CUSTOM"
    yield from press("Z", ctrl=True)
    sheet, ball = bpy.data.objects["Sheet"], bpy.data.objects["Ball"]
    assert sheet.muslin.fabric == "silk" and sheet.muslin.areal_density == light

    x, y = yield from at("pin_group")
    yield from ui.click(x, y)
    yield from ui.text("pin", x, y)
    yield from ui.key("RET", x, y)
    yield
    assert sheet.muslin.pin_group == "Pins"
    yield from picture("cloth")

    make_current(ball)
    yield
    yield from click("muslin.collider_add")
    assert ball.muslin.kind == "COLLIDER"
    yield from picture("collider")
    yield from click("muslin.remove")
    assert ball.muslin.kind == "NONE"


def choose_silk(x: int, y: int) -> Steps:
    """Open the pictures of fabrics by their button, search for a use, and click the one that is found.

    Every fabric has a picture.
    """
    choice = importlib.import_module(f"{MODULE}.cloth_addon.ui.fabric_choice")
    manager: Any = bpy.context.window_manager
    icons: dict[str, int] = {}
    picture_of = choice.picture_of

    def recorded(preset: Any) -> int:
        icons[preset.name] = picture_of(preset)
        return icons[preset.name]

    with mock.patch.object(choice, "picture_of", recorded):
        yield from ui.click(x, y)
        for _ in range(5):
            yield
        known = {preset.name for preset in choice.presets().presets}
        assert set(icons) == known and all(icon > 0 for icon in icons.values()), icons
        yield from picture("fabrics")
        yield from ui.click(x, y - SEARCH_BELOW)
        yield from ui.text("blouse", x, y - SEARCH_BELOW)
        yield from ui.key("RET", x, y - SEARCH_BELOW)
        yield
        assert manager.muslin_fabric_search == "blouse", manager.muslin_fabric_search
        yield from ui.key("ESC", x, y - SEARCH_BELOW)
        icons.clear()
        yield from ui.click(x, y)
        for _ in range(5):
            yield
        assert set(icons) == {"silk"}, icons
        yield from picture("fabrics_found")
        yield from ui.click(x + FIRST_FOUND[0], y + FIRST_FOUND[1])
        yield
        manager.muslin_fabric_search = ""
        yield from ui.key("ESC", x, y)
        yield from ui.hover(x - 300, y)
