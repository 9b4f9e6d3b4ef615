# SPDX-License-Identifier: GPL-3.0-or-later
"""Every panel of Muslin in Blender's window, open, for every type of object: each is drawn without an error.

The panels are drawn in a new area, because Blender stores for each area which panels are open.
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
from window_input import MODULE, Steps, picture
from window_scene import make_current, mesh_object, sheet_and_ball

MODULES = ("panels", "export", "compare_panel")
"""Modules with panels, in the order of registration."""
WIDTH = 340             # width of the area [pixels]
REDRAWS = 6             # redraws after which a change is displayed


class DrawLog:
    """The number of times that each panel was drawn, and the errors."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.errors: list[str] = []

    def logged(self, draw: Any) -> Any:
        """Return a panel's `draw` that is logged."""
        def logged_draw(panel: Any, context: Any) -> None:
            self.times[type(panel).__name__] += 1
            try:
                draw(panel, context)
            except Exception:
                self.errors.append(traceback.format_exc())

        return logged_draw


def panel_classes() -> list[Any]:
    """Return all panels of Muslin. They are registered anew together, because a panel refers to its parent."""
    modules = [importlib.import_module(f"{MODULE}.cloth_addon.ui.{name}") for name in MODULES]
    return [cls for module in modules for cls in module.classes if issubclass(cls, bpy.types.Panel)]


@contextmanager
def opened(classes: Sequence[Any], only: Sequence[str] = ()) -> Iterator[DrawLog]:
    """Register the panels as open and logged, and yield the log; restore them at the end.

    With `only`, the panels with these names are open, and the others as they were.
    """
    log, before = DrawLog(), [(cls.bl_options, cls.draw) for cls in classes]

    def register(options: Sequence[tuple[Any, Any]]) -> None:
        for cls in reversed(classes):
            bpy.utils.unregister_class(cls)
        for cls, (cls.bl_options, cls.draw) in zip(classes, options, strict=True):
            bpy.utils.register_class(cls)

    register([(options if only and cls.__name__ not in only else options - {"DEFAULT_CLOSED"}, log.logged(draw))
              for cls, (options, draw) in zip(classes, before, strict=True)])
    try:
        yield log
    finally:
        register(before)


@contextmanager
def new_area() -> Iterator[Any]:
    """Yield a new Properties editor beside the 3D view; close it at the end."""
    view, before = ui.area("VIEW_3D"), set(ui.window().screen.areas)
    with bpy.context.temp_override(window=ui.window(), area=view, region=ui.region(view)):
        bpy.ops.screen.area_split(direction="VERTICAL", factor=1.0 - WIDTH / view.width)
    created = next(area for area in ui.window().screen.areas if area not in before)
    created.ui_type = "PROPERTIES"
    try:
        yield created
    finally:
        with bpy.context.temp_override(window=ui.window(), screen=ui.window().screen, area=created):
            bpy.ops.screen.area_close()


def panels() -> Steps:
    """Draw all panels of cloth, jelly, particles, projective sheets, colliders and other meshes, with messages."""
    classes = panel_classes()
    sheet, ball = sheet_and_ball(frames=12)
    scene = bpy.context.scene.muslin
    bm = bmesh.new()
    for k in range(20):
        bm.verts.new((0.1 * k, 0.0, 1.0))
    points = mesh_object("Points", bm)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(bpy.app.tempdir) / "panels.blend"))  # for Compare's folder
    with opened(classes) as log, new_area() as area:
        yield
        area.spaces.active.context = "PHYSICS"

        def shown(name: str, *wanted: str) -> Steps:
            log.times.clear()
            for _ in range(REDRAWS):
                area.tag_redraw()
                yield
            assert not log.errors, f"{name}: {log.errors[0]}"
            missing = {f"MUSLIN_PT_{panel}" for panel in wanted} - set(log.times)
            assert not missing, f"{name}: not drawn: {sorted(missing)}, but {sorted(log.times)}"
            yield from picture(f"panels_{name}")

        of_cloth = ("muslin", "pinning", "garment", "rest_shape", "maps", "frames", "collisions", "bake", "cache",
                    "solver", "compare")
        yield from shown("none", "muslin")
        sheet.muslin.kind, sheet.muslin.pin_group, scene.steps_per_frame = "CLOTH", "Pins", 1
        yield from shown("cloth", "fabric", "stiffness", "damping", *of_cloth)
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
        for name in ("integrator", "backend", "use_custom_range"):      # the next scenarios use the same scene
            scene.property_unset(name)
