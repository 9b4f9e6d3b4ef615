# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of each cloth and keyed settings: typed, clicked and keyed in the panels, and baked by the button."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np
import ui_sim as ui
import window_input as window
from panels_scenario import new_area, opened, panel_classes
from shapes_scenarios import baked, typed
from window_input import Steps, click, messages, no_bake, picture, press, scrolled_to, type_at, until
from window_scene import make_current, mesh_object, ready, shape_at

FRAMES = 14


def keyed() -> Steps:
    """Key the pressure of a ball and the scene's speed by I over their fields, and see the ball swell between the keys.
    """
    yield from ready(frames=FRAMES)
    for name in ("Sheet", "Ball"):
        bpy.data.objects.remove(bpy.data.objects[name])
    bm = bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=3, radius=0.3)
    ball = mesh_object("Balloon", bm)
    scene, muslin = bpy.context.scene, ball.muslin
    scene.muslin.steps_per_frame, scene.use_gravity = 1, False
    muslin.kind, muslin.use_pressure, muslin.model = "CLOTH", True, "baraff_witkin"
    muslin.stretch_warp = muslin.stretch_weft = 200.0
    make_current(ball)
    for panel, name, texts in (("frames", "speed", ("0.5", "1")), ("pressure", "uniform_pressure_force", ("0", "1"))):
        with opened(panel_classes(), only=[f"MUSLIN_PT_{panel}"]) as log, new_area() as area:
            yield
            area.spaces.active.context = "PHYSICS"
            yield
            for frame, text in zip((1, FRAMES - 2), texts, strict=True):
                scene.frame_set(frame)
                x, y = yield from scrolled_to(area, name)
                yield from type_at(x, y, text)
                yield from ui.hover(x, y)
                yield from ui.key("I", x, y)
                yield
            yield from picture("keyed_panel" if panel == "pressure" else "keyed_speed")
            assert not log.errors, log.errors
    for owner, what in ((ball, "pressure"), (scene, "speed")):
        action = owner.animation_data and owner.animation_data.action
        assert action, f"I over the field of the {what} sets no key"
    yield from baked(ball)
    steps = [frame["step_max"] for frame in window.baked_record.load(ball).report["certificates"]]
    assert steps[1] < 0.6 * steps[-1], f"the frames are not as long as the keys of the speed say: {steps}"
    sizes = [float(np.ptp(shape_at(ball, frame)[:, 0])) for frame in (1, FRAMES // 2, FRAMES)]
    assert sizes[0] < sizes[1] - 1e-3 < sizes[2] - 2e-3, f"the ball does not swell with its keys: {sizes}"
    yield from click("muslin.bake_delete")
    scene.animation_data_clear()
    scene.muslin.speed, scene.use_gravity = 1.0, True


def of_each_cloth() -> Steps:
    """Keep two cloths a typed distance apart, and let one of them fall through the solid."""
    lower = yield from ready(frames=30)
    scene = bpy.context.scene
    scene.muslin.steps_per_frame = 1
    lower.muslin.pin_group = ""
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    bm = bmesh.new()
    bmesh.ops.create_cube(bm, size=4.0)
    floor = mesh_object("Floor", bm)
    floor.location.z, floor.muslin.kind = -2.0, "COLLIDER"
    lower.location.z = 0.1
    upper = lower.copy()
    upper.data = lower.data.copy()
    scene.collection.objects.link(upper)
    upper.name, upper.location.z = "Upper", 0.3
    make_current(upper)
    yield
    with opened(panel_classes(), only=["MUSLIN_PT_collisions", "MUSLIN_PT_self_collisions"]) as log, (
            new_area()) as area:
        yield
        area.spaces.active.context = "PHYSICS"
        yield
        yield from type_at(*(yield from scrolled_to(area, "self_distance")), "0.08")
        yield from picture("self_collisions_panel")
        assert not log.errors, log.errors
    assert abs(upper.muslin.self_distance - 0.08) < 1e-6
    yield from baked(upper)
    apart = shape_at(upper, 30)[:, 2].mean() + upper.location.z - shape_at(lower, 30)[:, 2].mean() - lower.location.z
    assert 0.03 < apart < 0.12, f"the cloths lie {apart} m apart"
    window.found.clear()
    yield from click("muslin.bake_delete_all")
    upper.muslin.use_collision = False
    yield from baked(upper)
    height = shape_at(upper, 30)[:, 2].mean() + upper.location.z
    assert height < -0.5, f"it rests on the floor at {height} m with Object Collisions off"
    assert shape_at(lower, 30)[:, 2].min() + lower.location.z > -0.05, "the other cloth falls through the floor, too"
    yield from click("muslin.bake_delete_all")


def not_split() -> Steps:
    """Press Bake with Tearing on and a mesh that is not split: the panel names the button to press."""
    sheet = yield from ready(frames=4)
    sheet.muslin.use_tearing, sheet.muslin.model = True, "baraff_witkin"
    yield
    window.found.clear()
    yield from click("muslin.bake")
    for _ in range(20):
        yield
    yield from until(no_bake, "the bake to be refused", 30.0)
    yield from picture("not_split")
    assert "press Split for Tearing" in messages() and "core." not in messages(), messages()
    yield from press("ESC")                                         # closes the message
    yield from typed("tearing", "tear_strength", "5", buttons=["muslin.tear_split"])
    yield from baked(sheet)
    yield from click("muslin.bake_delete")
