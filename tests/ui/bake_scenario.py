# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake in Blender's window: watched, cancelled, undone, deleted; and what happens to one that is interrupted."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import window_hands as window
from window_hands import Steps, baking, click, messages, no_bake, picture, press, turns, until
from window_stage import PINNED, ready, shape_at, state

FROZEN = 0.5            # seconds for which the bake may keep the window from answering


def bake() -> Steps:
    """Bake, watch, Esc; bake again, scrub, undo, redo, delete."""
    sheet = yield from ready(frames=24)
    before = state(sheet)

    yield from click("muslin.bake")
    yield from until(baking(0.1), "the bake to get on")
    running = window.job.current()
    assert running.text().startswith("Baking "), running.text()
    yield from picture("baking")
    yield from press("ESC")
    yield from until(no_bake, "the bake to be cancelled")
    assert running.fraction < 1.0 and not running.finished, "Esc came too late to cancel anything"
    assert state(sheet) == before, "a cancelled bake left something behind"

    with turns() as taken:
        yield from click("muslin.bake")
        yield from until(no_bake, "the bake to end")
    print(f"a bake of 24 frames took {len(taken)} turns, the longest {max(taken):.2f} s")
    assert max(taken) < FROZEN, f"the bake held the window for {max(taken):.2f} s"
    assert window.baked_record.has_bake(sheet) and bpy.context.scene.frame_current == before["frame"]
    assert "Baked 'Sheet', frames 1 to 24" in messages()

    shapes = [shape_at(sheet, frame) for frame in (1, 8, 16, 24)]
    free = [i for i in range(len(sheet.data.vertices)) if i not in PINNED]
    rest = np.frombuffer(before["coordinates"], np.float32).reshape(-1, 3)
    assert np.array_equal(shapes[0], rest), "the bake does not start at the rest shape"
    for early, late in zip(shapes, shapes[1:], strict=False):
        assert np.abs(late - early)[free].max() > 0.01, "scrubbing shows no motion"
        assert np.abs(late - rest)[PINNED].max() < 1e-6, "a pinned vertex moved"
    yield from picture("baked")

    bpy.context.scene.frame_set(before["frame"])
    after = state(sheet)
    yield from press("Z", ctrl=True)
    sheet = bpy.data.objects["Sheet"]
    assert not window.baked_record.has_bake(sheet) and state(sheet) == before, "one undo does not take the bake back"
    yield from press("Z", ctrl=True, shift=True)
    sheet = bpy.data.objects["Sheet"]
    assert state(sheet) == after, "redo does not bring the bake back"

    yield from click("muslin.bake_delete")
    assert state(sheet) == before, "a deleted bake left something behind"


def interruptions() -> Steps:
    """Undo, save, load and removal while a bake runs."""
    sheet = yield from ready(frames=400)
    before = state(sheet)
    sheet.location.x = 1.0
    bpy.ops.ed.undo_push(message="Moved")

    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    yield from press("Z", ctrl=True)
    yield from until(no_bake, "undo to cancel the bake")
    sheet = bpy.data.objects["Sheet"]
    assert sheet.location.x == 0.0 and state(sheet) == before, "undo during a bake"

    file = str(Path(bpy.app.tempdir) / "during.blend")
    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    bpy.ops.wm.save_as_mainfile(filepath=file, check_existing=False)
    here = window.job.current().fraction
    yield from until(baking(here), "the bake to go on after saving")
    bpy.ops.wm.open_mainfile(filepath=file)
    yield from until(no_bake, "loading a file to cancel the bake")
    sheet = bpy.data.objects["Sheet"]
    assert state(sheet) == before, "a file saved during a bake is not as before it"

    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    bpy.data.objects.remove(bpy.data.objects["Sheet"])
    yield from until(no_bake, "the bake to notice that its object is gone")
    assert "Sheet" in messages().splitlines()[-1], messages()
    assert bpy.context.scene.frame_current == before["frame"]
