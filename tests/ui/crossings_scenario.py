# SPDX-License-Identifier: GPL-3.0-or-later
"""Show Crossings in Blender's window: red pixels exactly where cloth crosses cloth."""

from __future__ import annotations

import importlib
import time
from typing import Any

import bmesh
import bpy
import gpu
import numpy as np
import ui_sim as ui
import window_input as window
from window_input import MODULE, Steps, baking, click, no_bake, physics_tab, picture, press, until
from window_scene import CELLS, make_current, mesh_object


def crossings() -> Steps:
    """Show the crossings of two sheets; move, undo, hide and bake them, and switch the overlay off."""
    overlay = importlib.import_module(f"{MODULE}.cloth_addon.ui.crossings_overlay")
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.meshes, *bpy.data.actions])
    for name, turn in (("Flat", 0.0), ("Upright", 1.4)):
        bm = bmesh.new()
        bmesh.ops.create_grid(bm, x_segments=2 * CELLS, y_segments=2 * CELLS, size=1.0)
        sheet = mesh_object(name, bm)
        sheet.rotation_euler, sheet.location = (turn, 0.1 * turn, 0.0), (0.03 * turn, 0.02 * turn, 0.0)
        sheet.muslin.kind = "CLOTH"
    make_current(sheet)
    sheet.select_set(False)         # the outline of a selected object has bright pixels, too
    bpy.context.scene.muslin.resolve_start = False           # the bake is to show crossings
    bpy.ops.ed.undo_push(message="Sheets")
    yield
    yield       # the Properties editor sees the new active object
    physics_tab()
    yield
    manager = bpy.context.window_manager
    assert not manager.muslin_show_crossings
    assert (yield from marked()) == (0, 0)

    yield from click("muslin_show_crossings")
    assert manager.muslin_show_crossings
    red, bright = yield from marked()
    yield from press("ESC")         # closes the tooltip
    yield from picture("crossings")
    (line,) = overlay.lines(bpy.context.scene, bpy.context.view_layer)
    print(f"{line}; {red} red pixels, {bright} bright ones")
    assert line.endswith("edges cross") and red > 300 and bright > 300, (line, red, bright)

    bpy.data.objects["Upright"].location.z = 5.0
    bpy.ops.ed.undo_push(message="Moved")
    assert (yield from marked()) == (0, 0)
    assert "nothing" in overlay.lines(bpy.context.scene, bpy.context.view_layer)[0]
    yield from press("Z", ctrl=True)
    assert (yield from marked()) == (red, bright)
    assert overlay.lines(bpy.context.scene, bpy.context.view_layer) == [line]
    bpy.data.objects["Upright"].hide_set(True)
    assert (yield from marked()) == (0, 0)
    bpy.data.objects["Upright"].hide_set(False)
    assert (yield from marked()) == (red, bright)

    bpy.context.scene.frame_end = 3
    bpy.context.scene.frame_set(2)
    window.found.pop("muslin.bake", None)       # a single cloth has its button elsewhere
    yield from click("muslin.bake")                               # all cloth together
    yield from until(baking(), "the bake to advance")
    assert overlay.lines(bpy.context.scene, bpy.context.view_layer) == ["Waits for the solver"]
    yield from until(no_bake, "the bake to end")
    assert not window.session.message(), window.session.message()
    assert (yield from marked())[0] > 300
    count = window.baked_record.report_of(bpy.data.objects["Flat"])["certificates"][1]["crossings"]
    assert overlay.lines(bpy.context.scene, bpy.context.view_layer) == [f"At this frame: {count} edges cross"]
    props = physics_tab()
    x, y = props.x + props.width // 2, props.y + props.height // 2
    yield from ui.hover(x, y)
    for _ in range(12):
        ui.send("WHEELDOWNMOUSE", "PRESS", x, y)
        yield
    yield from press("ESC")
    yield from picture("certificate")

    manager.muslin_show_crossings = False
    assert (yield from marked()) == (0, 0)


def marked() -> Steps:
    """Return the numbers of red and of bright yellow pixels in the 3D viewport, without other objects of these colours.
    """
    view = ui.area("VIEW_3D")
    shown = view.spaces.active.overlay
    shown.show_axis_x = shown.show_axis_y = shown.show_object_origins = shown.show_cursor = False
    view.spaces.active.show_gizmo = False
    view.spaces.active.region_3d.view_distance = 4.0
    region = ui.region(view)
    read: list[Any] = []

    def pixels() -> None:
        buffer = gpu.state.active_framebuffer_get().read_color(0, 0, region.width, region.height, 4, 0, "FLOAT")
        read.append(np.array(buffer.to_list()).reshape(-1, 4)[:, :3])

    begin = time.monotonic()
    yield from until(lambda: time.monotonic() - begin > 1.0, "the delayed search")
    handler = bpy.types.SpaceView3D.draw_handler_add(pixels, (), "WINDOW", "POST_PIXEL")
    view.tag_redraw()
    yield from until(lambda: bool(read), "the 3D viewport to be drawn")
    bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
    r, g, b = read[0].T
    return int(((r > 0.5) & (g < 0.35) & (b < 0.35)).sum()), int(((r > 0.8) & (g > 0.7) & (b < 0.4)).sum())
