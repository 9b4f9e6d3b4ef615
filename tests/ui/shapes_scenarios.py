# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure, pins, rest shapes and tearing: typed into the panels and baked by the button, they do what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bmesh
import bpy
import numpy as np
import ui_sim as ui
import window_input as window
from panels_scenario import new_area, opened, panel_classes
from window_input import Steps, click, no_bake, picture, scrolled_to, type_at, until
from window_scene import make_current, mesh_object, ready, shape_at


def typed(panel: str, name: str, text: str, shown: str = "", buttons: Sequence[str] = ()) -> Steps:
    """Type a value into a field of a panel, which is opened for it, and click the buttons of operators there.

    `shown`: name of a picture that is taken between both, "" for none.
    """
    with opened(panel_classes(), only=[f"MUSLIN_PT_{panel}"]) as log, new_area() as area:
        yield
        area.spaces.active.context = "PHYSICS"
        yield
        x, y = yield from scrolled_to(area, name)
        yield from ui.hover(x, y)
        yield from type_at(x, y, text)
        yield
        if shown:
            yield from picture(shown)
        for operator in buttons:
            yield from ui.click_operator(area, operator)
        assert log.times[f"MUSLIN_PT_{panel}"] and not log.errors, log.errors


def baked(obj: Any) -> Steps:
    """Bake the object by the button."""
    make_current(obj)
    yield
    window.found.clear()
    yield from click("muslin.bake")
    yield from until(no_bake, "the bake to end", 150.0)
    assert window.baked_record.has_bake(obj) and not window.session.message(), window.session.message()


def pressure() -> Steps:
    """Blow up a flat pillow over a ball, with a pressure that is typed into its panel."""
    yield from ready(frames=10)
    bm = bmesh.new()
    bmesh.ops.create_uvsphere(bm, u_segments=16, v_segments=8, radius=0.5)
    bmesh.ops.scale(bm, vec=(1.0, 1.0, 0.12), verts=bm.verts)
    bpy.data.objects.remove(bpy.data.objects["Sheet"])
    pillow = mesh_object("Pillow", bm)
    pillow.location.z = 0.6
    bpy.context.scene.muslin.steps_per_frame = 1
    pillow.muslin.kind, pillow.muslin.use_pressure, pillow.muslin.use_pressure_volume = "CLOTH", True, True
    make_current(pillow)
    yield from typed("pressure", "uniform_pressure_force", "0.2", "pressure_panel")
    assert abs(pillow.muslin.uniform_pressure_force - 0.2) < 1e-6
    yield from baked(pillow)
    heights = [np.ptp(shape_at(pillow, frame)[:, 2]) for frame in (1, 10)]
    assert heights[1] > 3.0 * heights[0], f"the pillow stays thin: {heights}"
    yield from picture("pressure")
    yield from click("muslin.bake_delete")


def pins() -> Steps:
    """Pin a tube to a moving body by its waist, and release a flag by keys of a Vertex Weight modifier.

    One corner of the flag has a small weight, which holds it softly.
    """
    flag = yield from ready(frames=20)
    soft = len(flag.data.vertices) - 1
    flag.vertex_groups["Pins"].add([soft], 0.1, "REPLACE")
    scene = bpy.context.scene
    scene.muslin.steps_per_frame = 1
    body = bpy.data.objects["Ball"]
    for frame, x in ((1, 0.0), (20, 1.0)):
        body.location.x = x
        body.keyframe_insert("location", frame=frame)
    flag.location.z = 1.5
    modifier = flag.modifiers.new("Release", "VERTEX_WEIGHT_MIX")
    modifier.vertex_group_a, modifier.mix_mode, modifier.mix_set, modifier.default_weight_b = "Pins", "SET", "A", 0.0
    for frame, mask in ((8, 0.0), (10, 1.0)):
        modifier.mask_constant = mask
        modifier.keyframe_insert("mask_constant", frame=frame)
    bm = bmesh.new()
    bmesh.ops.create_cone(bm, segments=20, radius1=0.6, radius2=0.42, depth=0.5, cap_ends=False)
    bmesh.ops.subdivide_edges(bm, edges=[edge for edge in bm.edges
                                         if abs(edge.verts[0].co.z - edge.verts[1].co.z) > 0.1], cuts=4)
    skirt = mesh_object("Skirt", bm)
    top = [vertex.index for vertex in skirt.data.vertices if vertex.co.z > 0.24]
    skirt.vertex_groups.new(name="Waist").add(top, 1.0, "REPLACE")
    skirt.muslin.kind, skirt.muslin.pin_group, skirt.muslin.pin_target = "CLOTH", "Waist", body
    make_current(skirt)
    yield from typed("pinning", "pin_stiffness", "2", "pins_panel")
    assert abs(skirt.muslin.pin_stiffness - 2.0) < 1e-6
    yield from baked(skirt)
    assert window.baked_record.has_bake(flag), "both cloths are baked together"
    waist = [shape_at(skirt, frame)[top, 0].mean() for frame in (1, 20)]
    assert abs(waist[1] - waist[0] - 1.0) < 0.01, f"the waist is left behind: {waist}"
    held, loose = np.array([_pinned(flag, frame)[:, 2] for frame in (1, 8, 20)]).T
    assert abs(held[1] - held[0]) < 1e-4 and held[2] < held[0] - 0.3, f"the flag is not released: {held}"
    assert 0.005 < loose[0] - loose[1] < 0.3, f"a weight of 0.1 holds too hard or not at all: {loose}"
    yield from picture("pins")
    yield from click("muslin.bake_delete_all")


def _pinned(flag: Any, frame: int) -> Any:
    """Return the pinned vertices of the sheet at a frame."""
    side = round(len(flag.data.vertices) ** 0.5)
    return shape_at(flag, frame)[[side - 1, side * side - 1]]


def rest() -> Steps:
    """Shrink a sheet to its rest shape key, let it stretch for good with a yield that is typed in, and then tear."""
    frames = 32                                                     # the sheet falls and springs back in the first 20
    sheet = yield from ready(frames=frames, cells=8)
    bpy.context.scene.muslin.steps_per_frame = 1
    bpy.data.objects.remove(bpy.data.objects["Ball"])
    sheet.shape_key_add(name="Basis")
    small = sheet.shape_key_add(name="Small")
    small.value = 0.0                                               # Blender 5.2 adds keys at 1
    for point in small.data:
        point.co.y *= 0.7
    sheet.muslin.rest_shape_key, sheet.muslin.stretch_warp, sheet.muslin.stretch_weft = "Small", 60.0, 60.0
    sheet.muslin.shear = 20.0

    def length() -> float:
        x = shape_at(sheet, frames).astype(float)
        edges = np.array([tuple(edge.vertices) for edge in sheet.data.edges])
        return float(np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1).sum())

    before = length()
    yield from baked(sheet)
    elastic = length()
    assert elastic < 0.95 * before, f"the sheet does not shrink: {elastic} of {before}"
    sheet.muslin.use_plasticity = True
    yield from typed("plasticity", "stretch_yield", "1", "plasticity_panel")
    assert abs(sheet.muslin.stretch_yield - 1.0) < 1e-6
    yield from baked(sheet)
    assert length() > 1.02 * elastic, f"nothing stays of the stretch: {length()} and {elastic}"
    yield from picture("rest")
    yield from click("muslin.bake_delete")
    yield from tearing(sheet)


def tearing(sheet: Any) -> Steps:
    """Split the mesh of a sheet by the button, tear it with a strength that is typed in, and join it again."""
    count = len(sheet.data.vertices)
    sheet.muslin.use_plasticity, sheet.muslin.use_tearing = False, True
    yield from typed("tearing", "tear_strength", "5", "tearing_panel", ["muslin.tear_split"])
    assert abs(sheet.muslin.tear_strength - 5.0) < 1e-6
    corners = len(sheet.data.loops)
    assert len(sheet.data.vertices) == corners > count, f"the mesh is not split: {len(sheet.data.vertices)} vertices"
    yield from baked(sheet)
    torn = window.baked_record.report_of(sheet)["summary"]["torn_edges"]
    assert torn > 0, "nothing tears"
    yield from picture("tearing")
    yield from click("muslin.bake_delete")
    yield from typed("tearing", "tear_strength", "50", buttons=["muslin.tear_join"])
    assert len(sheet.data.vertices) == count, f"the mesh is not joined: {len(sheet.data.vertices)} vertices"
