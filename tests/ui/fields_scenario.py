# SPDX-License-Identifier: GPL-3.0-or-later
"""A flag in a force field and in turbulence: weights are typed into the panel, and the bake looks like cloth."""

from __future__ import annotations

import math

import bpy
import numpy as np
import ui_sim as ui
import window_input as window
from panels_scenario import new_area, opened, panel_classes
from window_input import Steps, click, no_bake, picture, scrolled_to, type_at, until, wheel
from window_scene import make_current, ready, shape_at

FRAMES = 48
CELLS = 16
DOWN = 10               # turns of the mouse wheel before the first look for a field


def fields() -> Steps:
    """Bake a flag that is held at one edge, with a field weight typed into the panel, and delete the bake."""
    flag = yield from ready(FRAMES, CELLS)
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    bpy.context.scene.muslin.steps_per_frame = 1
    flag.rotation_euler.x = 0.5 * math.pi
    group = flag.vertex_groups["Pins"]
    group.remove(range(len(flag.data.vertices)))
    held = [vertex.index for vertex in flag.data.vertices if vertex.co.x < -0.99]
    group.add(held, 1.0, "REPLACE")
    for kind, strength in (("FORCE", 6.0), ("TURBULENCE", 8.0)):
        bpy.ops.object.effector_add(type=kind)
        field = bpy.context.object
        field.field.strength = strength
        field.location.x = -3.0
        field.name = kind.title()
    whirls = bpy.data.objects["Turbulence"]
    whirls.field.size = 0.8
    for frame, x in ((1, 0.0), (FRAMES, 6.0)):                      # they move along the flag
        whirls.location.x = x
        whirls.keyframe_insert("location", frame=frame)
    make_current(flag)
    bpy.ops.ed.undo_push(message="Fields set")

    with opened(panel_classes(), only=["MUSLIN_PT_field_weights"]) as log, new_area() as area:
        yield
        area.spaces.active.context = "PHYSICS"
        yield from wheel(area, DOWN)
        x, y = yield from scrolled_to(area, "weight_force")
        yield from picture("fields_panel")
        yield from ui.hover(x, y)
        yield from type_at(x, y, "0.75")
        assert math.isclose(flag.muslin.weight_force, 0.75), flag.muslin.weight_force
        assert log.times["MUSLIN_PT_field_weights"] and not log.errors, log.errors
    yield from click("muslin.bake")
    yield from until(lambda: not no_bake() or window.baked_record.has_bake(flag), "the bake to begin", 30.0)
    yield from until(no_bake, "the bake to end", 150.0)
    assert window.baked_record.has_bake(flag), window.session.message()
    report = window.baked_record.report_of(flag)
    print("the worst frame of the flag:", {name: report["summary"][name] for name in ("stretch_max", "not_converged")})
    blown = [shape_at(flag, frame) for frame in (1, 12, 30, FRAMES)]
    assert np.abs(blown[0] - blown[1])[held].max() < 1e-6
    free = np.setdiff1d(np.arange(len(flag.data.vertices)), held)
    for early, late in zip(blown, blown[1:], strict=False):
        assert np.abs(late - early)[free].max() > 0.02, "the fields do not move the flag"
    assert blown[-1][free, 0].mean() > -0.6, "the flag hangs as if there was no field"
    bpy.context.scene.frame_set(30)
    view = ui.area("VIEW_3D")
    with bpy.context.temp_override(window=ui.window(), area=view, region=ui.region(view)):
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_orbit(angle=0.6, type="ORBITLEFT")
        bpy.ops.view3d.view_selected()
    for _ in range(20):                                             # the view turns smoothly
        yield
    yield from picture("fields")
    yield from click("muslin.bake_delete")
