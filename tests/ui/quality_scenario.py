# SPDX-License-Identifier: GPL-3.0-or-later
"""The Quality panel and the bar in the timeline: curves of a bake, a click on its worst frame, and a later change."""

from __future__ import annotations

import importlib
from typing import Any

import bpy
import ui_sim as ui
from panels_scenario import new_area, opened, panel_classes
from window_input import MODULE, Steps, click, no_bake, picture, until
from window_scene import ready

FRAMES = 40
TURNS = 40              # turns of the mouse wheel down to the last panels; only those of the bake are open


def quality() -> Steps:
    """Bake, look at all curves, click on the frame of most stretch, and change the friction."""
    module, bar = (importlib.import_module(f"{MODULE}.cloth_addon.ui.{name}")
                   for name in ("quality_panel", "timeline_bar"))
    sheet = yield from ready(FRAMES)
    bpy.context.scene.muslin.steps_per_frame = 2
    yield from click("muslin.bake")
    grown = set()
    while not no_bake():
        grown |= {last for _, last, state in bar.baked_frames(sheet) if state == bar.PARTIAL}
        yield
    assert len(grown) > 2, f"the bar did not grow with the bake: {grown}"
    assert bar.baked_frames(sheet)[0] == (1, FRAMES, bar.BAKED)

    drawn = []
    draw = bpy.types.SpaceDopeSheetEditor.draw_handler_add(lambda: drawn.append(1), (), "WINDOW", "POST_PIXEL")
    with opened(panel_classes(), ("MUSLIN_PT_bake", "MUSLIN_PT_quality")) as log, new_area() as area:
        yield
        area.spaces.active.context = "PHYSICS"
        yield from _to_the_end(area)
        for name in module.CHARTS:
            setattr(bpy.context.window_manager, module.PROPERTY, name)
            area.tag_redraw()
            for _ in range(3):
                yield
        setattr(bpy.context.window_manager, module.PROPERTY, "STRETCH")
        area.tag_redraw()
        yield
        yield from picture("quality")
        yield from ui.click_operator(area, "muslin.frame_go")
        assert bpy.context.scene.frame_current == module.worst_frames(module.statistics_of(sheet))[0][1] != 3
        sheet.muslin.friction += 0.1
        yield from until(lambda: bar.baked_frames(sheet)[0][2] == bar.OUTDATED, "the change to be noticed", 10.0)
        yield from picture("outdated")
        assert not log.errors, log.errors[0]
        assert log.times["MUSLIN_PT_quality"] > len(module.CHARTS)
    bpy.types.SpaceDopeSheetEditor.draw_handler_remove(draw, "WINDOW")
    assert drawn
    yield from click("muslin.bake_delete")
    assert bar.BAKED not in [state for *_, state in bar.baked_frames(sheet)]         # its take is kept for undo


def _to_the_end(area: Any) -> Steps:
    """Scroll to the last panel."""
    x, y = area.x + area.width // 2, area.y + area.height // 2
    yield from ui.hover(x, y)
    for _ in range(TURNS):
        ui.send("WHEELDOWNMOUSE", "PRESS", x, y)
        yield
