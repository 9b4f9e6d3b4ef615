# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes in Blender's window: progress, cancelling, undo, Delete Bake, and interruptions."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import window_input as window
from window_input import Steps, baking, click, no_bake, picture, press, turns, until
from window_scene import PINNED, ready, shape_at, state

LONGEST_TURN = 0.5      # longest time for which the bake may block the window [s]


def bake() -> Steps:
    """Bake and cancel by the button; bake again, change the frame, undo, redo, and delete the bake."""
    sheet = yield from ready(frames=24)
    before = state(sheet)

    bpy.context.scene.frame_end = 2500                              # does not end before it is cancelled
    yield from click("muslin.bake")
    yield from until(solving, "the bake to advance")
    running = window.bake_job.current()
    assert running.text().startswith("Baking "), running.text()
    yield from press("ESC")
    assert window.bake_job.current() is running and not running.stopping, "Esc cancels the bake"
    yield from picture("baking")
    yield from click("muslin.bake_cancel")
    yield from until(no_bake, "the bake to be cancelled")
    assert running.fraction < 1.0 and not running.finished, "Cancel came too late to cancel anything"
    assert state(sheet) == before, "a cancelled bake left something behind in the file"
    bpy.context.scene.frame_end = 24

    with turns() as taken:
        yield from click("muslin.bake")
        yield from until(no_bake, "the bake to end")
    print(f"a bake of 24 frames took {len(taken)} turns, the longest {max(taken):.2f} s")
    assert max(taken) < LONGEST_TURN, f"the bake blocked the window for {max(taken):.2f} s"
    assert window.baked_record.has_bake(sheet) and bpy.context.scene.frame_current == before["frame"]
    assert window.session.message() == ""

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
    assert not window.baked_record.has_bake(sheet) and state(sheet) == before, "one undo does not remove the bake"
    yield from press("Z", ctrl=True, shift=True)
    sheet = bpy.data.objects["Sheet"]
    assert state(sheet) == after, "redo does not restore the bake"

    yield from click("muslin.bake_delete")
    assert state(sheet) == before, "a deleted bake left something behind"


def interruptions() -> Steps:
    """Undo while a bake reads and while it solves, save, load a file, and remove the object while a bake runs."""
    sheet = yield from ready(frames=400)
    before = state(sheet)
    sheet.location.x = 1.0
    bpy.ops.ed.undo_push(message="Moved")

    bpy.ops.muslin.bake("INVOKE_DEFAULT")
    assert window.session.running().reads
    yield from press("Z", ctrl=True)
    assert no_bake() and "undone" in window.session.message(), window.session.message()
    sheet = bpy.data.objects["Sheet"]
    assert sheet.location.x == 0.0 and state(sheet) == before, "undo while a bake reads"
    yield from picture("interrupted")
    yield from click("muslin.bake_message")
    assert window.session.message() == ""

    sheet.location.x = 1.0
    bpy.ops.ed.undo_push(message="Moved")
    yield from click("muslin.bake")
    yield from until(solving, "the scene to be read")
    fraction = window.bake_job.current().fraction
    yield from press("Z", ctrl=True)
    sheet = bpy.data.objects["Sheet"]
    assert sheet.location.x == 0.0
    yield from until(baking(fraction), "the bake to go on after an undo")
    yield from press("Z", ctrl=True, shift=True)
    assert bpy.data.objects["Sheet"].location.x == 1.0
    fraction = window.bake_job.current().fraction
    yield from until(baking(fraction), "the bake to go on after a redo")
    yield from press("Z", ctrl=True)

    file = str(Path(bpy.app.tempdir) / "during.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file, check_existing=False)
    fraction = window.bake_job.current().fraction
    yield from until(baking(fraction), "the bake to continue after saving")
    bpy.ops.wm.open_mainfile(filepath=file)
    yield from until(no_bake, "loading a file to end the bake")
    sheet = bpy.data.objects["Sheet"]
    assert state(sheet) == before, "a file saved during a bake differs from the state before"
    assert window.session.message() == ""

    yield from click("muslin.bake")
    yield from until(solving, "the scene to be read")
    bpy.data.objects.remove(bpy.data.objects["Sheet"])
    window.bake_job.current().stop()
    yield from until(no_bake, "the bake to be cancelled")


def solving() -> bool:
    """Return whether the bake beside the window no longer reads the scene, and has solved something."""
    running = window.session.running()
    return running is not None and not running.reads and len(running.certificates) > 2
