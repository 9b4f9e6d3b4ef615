# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare in Blender's window: the window stays responsive, Esc cancels without changes, and the sheet is written."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import bpy
import window_input as window
from window_input import Steps, no_bake, physics_tab, picture, press, until
from window_scene import sheet_and_ball, state

FRAMES = 12
INTEGRATORS = ["implicit_euler", "bdf2"]


def compare() -> Steps:
    """Compare two integrators on the sheet over the ball; cancel once, then run to the end."""
    sheet, ball = sheet_and_ball(FRAMES)
    sheet.muslin.kind, ball.muslin.kind = "CLOTH", "COLLIDER"
    physics_tab()
    yield
    with tempfile.TemporaryDirectory() as folder:
        settings = bpy.context.scene.muslin
        settings.steps_per_frame, settings.compare_folder = 1, folder
        settings.compare_integrators = set(INTEGRATORS)
        before, scenes = state(sheet), len(bpy.data.scenes)

        bpy.ops.muslin.compare("INVOKE_DEFAULT")
        yield from until(lambda: window.bake_job.current() is not None and window.bake_job.current().fraction > 0.1,
                         "the comparison to advance")
        text = window.bake_job.current().text()
        assert text.startswith("1 of 2: baraff_witkin, implicit_euler - Comparing "), text
        assert not bpy.ops.muslin.bake.poll()
        yield from press("ESC")
        yield from until(no_bake, "the comparison to be cancelled")
        assert not (Path(folder) / "compare.html").exists() and not bpy.ops.muslin.compare_open.poll()
        assert (state(sheet), len(bpy.data.scenes)) == (before, scenes)

        bpy.ops.muslin.compare("INVOKE_DEFAULT")
        yield from until(no_bake, "the comparison to end")
        assert (state(sheet), len(bpy.data.scenes)) == (before, scenes)
        runs = json.loads((Path(folder) / "compare.json").read_text())["runs"]
        assert [one["kind"]["integrator"] for one in runs] == INTEGRATORS
        assert all(len(one["frames"]) == FRAMES and len(one["pictures"]) == 3 for one in runs)
        assert bpy.ops.muslin.compare_open.poll()
        yield from picture("compare")
