# SPDX-License-Identifier: GPL-3.0-or-later
"""Every panel of Muslin in Blender's window, opened, for every kind of object: each is drawn, and none fails.

They are drawn in an area of their own, because Blender remembers of each area which panels the user has opened.
"""

from __future__ import annotations

import importlib
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bmesh
import bpy
import ui_sim as ui
from window_hands import MODULE, Steps, picture, press
from window_stage import make_current, mesh_object, sheet_and_ball

WIDE = 340              # pixels of the area
LOOKS = 6               # turns in which a change is drawn


class Drawn:
    """How often each panel was drawn, and what went wrong."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.errors: list[str] = []

    def watch(self, draw: Any) -> Any:
        def watched(panel: Any, context: Any) -> None:
            self.times[type(panel).__name__] += 1
            try:
                draw(panel, context)
            except Exception:
                self.errors.append(traceback.format_exc())

        return watched


@contextmanager
def opened(classes: Sequence[Any]) -> Iterator[Drawn]:
    """The panels as they are where none starts closed, watched."""
    drawn, before = Drawn(), [(cls.bl_options, cls.draw) for cls in classes]

    def register(options: Sequence[tuple[Any, Any]]) -> None:
        for cls in reversed(classes):
            bpy.utils.unregister_class(cls)
        for cls, (cls.bl_options, cls.draw) in zip(classes, options, strict=True):
            bpy.utils.register_class(cls)

    register([(options - {"DEFAULT_CLOSED"}, drawn.watch(draw)) for options, draw in before])
    try:
        yield drawn
    finally:
        register(before)


@contextmanager
def area_of_its_own() -> Iterator[Any]:
    """A Properties editor beside the 3D view."""
    view, there = ui.area("VIEW_3D"), set(ui.window().screen.areas)
    with bpy.context.temp_override(window=ui.window(), area=view, region=ui.region(view)):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=1.0 - WIDE / view.width)
    made = next(area for area in ui.window().screen.areas if area not in there)
    made.ui_type = "PROPERTIES"
    try:
        yield made
    finally:
        with bpy.context.temp_override(window=ui.window(), screen=ui.window().screen, area=made):
            bpy.ops.screen.area_close()


def panels() -> Steps:
    """All panels of cloth, jelly, particles, projective sheets, colliders and other meshes, and with all that they say
    where something is chosen or missing."""
    names = ("ui.panels", "ui.compare_panel")
    modules = [importlib.import_module(f"{MODULE}.cloth_addon.{name}") for name in names]
    classes = [cls for module in modules for cls in module.classes if issubclass(cls, bpy.types.Panel)]
    yield from press("ESC")
    sheet, ball = sheet_and_ball(frames=12)
    scene = bpy.context.scene.muslin
    bm = bmesh.new()
    for k in range(20):
        bm.verts.new((0.1 * k, 0.0, 1.0))
    points = mesh_object("Points", bm)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(bpy.app.tempdir) / "panels.blend"))       # its folder is known then
    with opened(classes) as drawn, area_of_its_own() as area:
        yield
        area.spaces.active.context = "PHYSICS"

        def shown(name: str, *wanted: str) -> Steps:
            drawn.times.clear()
            for _ in range(LOOKS):
                area.tag_redraw()
                yield
            assert not drawn.errors, f"{name}: {drawn.errors[0]}"
            missing = {f"MUSLIN_PT_{panel}" for panel in wanted} - set(drawn.times)
            assert not missing, f"{name}: not drawn: {sorted(missing)}, but {sorted(drawn.times)}"
            yield from picture(f"panels_{name}")

        of_cloth = ("muslin", "pinning", "garment", "maps", "collisions", "bake", "solver", "compare")
        yield from shown("none", "muslin")
        sheet.muslin.kind, sheet.muslin.pin_group, scene.steps_per_frame = "CLOTH", "Pins", 1
        yield from shown("cloth", "fabric", "damping", *of_cloth)
        for model in ("projective", "jelly"):
            sheet.muslin.model = model
            yield from shown(model, "body", *of_cloth)
        sheet.muslin.jelly_structure = "LATTICE"
        yield from shown("lattice", "body")

        sheet.muslin.model, sheet.muslin.pin_group, sheet.muslin.rest_shape = "baraff_witkin", "Gone", "UV"
        sheet.muslin.grain, sheet.muslin.use_sewing, scene.use_custom_range = "UV", True, True
        scene.integrator, scene.backend = "VERLET", "NUMBA"
        bpy.ops.object.effector_add(type="TURBULENCE")
        make_current(sheet)
        yield from shown("more", "fabric", *of_cloth)
        scene.integrator = "PROJECTIVE_DYNAMICS"
        make_current(points)
        points.muslin.kind = "CLOTH"
        yield from shown("particles", "body", *of_cloth)
        ball.muslin.kind = "COLLIDER"
        make_current(ball)
        yield from shown("solid", "muslin")
        for name in ("integrator", "backend", "use_custom_range"):      # the scene stays for those that come after
            scene.property_unset(name)
