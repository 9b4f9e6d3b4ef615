# SPDX-License-Identifier: GPL-3.0-or-later
"""The life of a bake in Blender's window: watch, scrub, pause, cancel, use, resume, save, reopen, switch, and kills."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import window_input as window
from window_input import Steps, click, no_bake, picture, press, until, wheel
from window_scene import make_current, ready, shape_at, state

FRAMES = 40
SLOW = 48               # steps in a frame while the bake must not end
KILLED_FRAMES = 16      # all of them are solved with many steps
HERE = 16               # frame from which the bake goes on with another friction


def bake_cycle() -> Steps:
    """Bake a sheet with everything that a user may do on the way."""
    folder = Path(tempfile.mkdtemp(prefix="muslin-cycle-"))
    try:
        yield from _bake_and_watch(folder)
        yield from _use_and_resume()
        yield from _save_and_switch(folder)
        yield from _undo_after()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bake_and_watch(folder: Path) -> Steps:
    """Bake, see the frames come, scrub back, save, pause and cancel."""
    sheet = yield from ready(FRAMES, cells=24)
    scene = bpy.context.scene
    scene.muslin.steps_per_frame = SLOW                             # does not end before it is cancelled
    sheet.data.shade_smooth()
    window.ui.area("VIEW_3D").spaces.active.region_3d.view_distance = 5.0
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "first.blend"), check_existing=False)
    before = state(sheet)
    yield from click("muslin.bake")
    yield from until(lambda: solved() >= 5, "five frames")
    first = shape_now(sheet)
    reached = solved()
    yield from until(lambda: solved() >= reached + 4 and scene.frame_current > reached, "the view to follow")
    later = shape_now(sheet)
    assert np.abs(later - first).max() > 0.005, "the viewport does not show the frames that come"
    yield from picture("bake_running")

    scene.frame_set(2)
    early = shape_now(sheet)
    reached = solved()
    yield from until(lambda: solved() > reached + 1, "the bake to go on while the user looks at frame 2")
    assert scene.frame_current == 2 and np.array_equal(shape_now(sheet), early), "scrubbing back does not work"
    assert np.abs(early - later).max() > 0.005

    scene.frame_set(before["frame"])
    copy = folder / "copy.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(copy), copy=True)
    yield from until(lambda: "Muslin Preview" in sheet.modifiers, "the view to come back after saving")

    yield from click("muslin.bake_pause")
    yield from until(lambda: window.session.running().is_paused, "the solver to pause")
    found = saved_state(copy)                                       # takes so long that the bake would end meanwhile
    assert found == f"{before['frame']} {before['modifiers']}", f"a file saved while baking has {found}"
    yield from until(lambda: "Paused" in window.bake_job.current().text(), "the progress to say so", 5.0)
    reached = solved()
    sheet.muslin.friction += 0.2
    for _ in range(20):
        yield
    assert solved() <= reached + 1, "a paused bake goes on"
    yield from picture("bake_paused")
    yield from click("muslin.bake_pause")
    yield from until(lambda: solved() >= reached + 2, "the bake to go on after the pause")
    yield from click("muslin.bake_cancel")
    yield from until(no_bake, "the bake to be cancelled")
    assert state(sheet) == before and window.session.message() == ""


def _use_and_resume() -> Steps:
    """Use the partial bake, go on from a frame before its end with another friction, and finish."""
    sheet, scene = bpy.data.objects["Sheet"], bpy.context.scene
    yield from until(lambda: not window.bake_state.solvers_of(scene, sheet), "the solver to end its frame")
    window.takes.forget()
    reached = text_of().partition(" to ")[2].partition(" of ")[0]
    assert text_of() == f"Partial: 1 to {reached} of {FRAMES}" and int(reached) > 8, text_of()
    yield from picture("bake_partial")
    yield from click("muslin.bake_use")
    record = window.baked_record.known(sheet)
    assert (record.first, record.last) == (1, int(reached)) and len(record.keys) == int(reached)
    yield from press_mode("RESUME")
    yield from until(lambda: solved() > HERE + 4, "the bake to go on from where it was")
    yield from click("muslin.bake_cancel")
    yield from until(no_bake, "the bake to be cancelled")

    used = window.baked_record.known(sheet)
    assert used.last == int(reached), "a bake that was cancelled has replaced the one in use"
    sheet.muslin.friction += 0.1
    scene.muslin.steps_per_frame = 8
    scene.frame_set(HERE)
    window.takes.forget()
    place = window.bake_state.state_of(scene, sheet).going_on(HERE, changed=True).kept
    kept = positions(latest(), place)
    yield from press_mode("HERE")
    yield from until(no_bake, "the bake from here to end")
    assert not window.session.message(), window.session.message()
    record = window.baked_record.known(sheet)
    assert record.last == FRAMES and scene.frame_current == HERE
    assert np.array_equal(positions(window.takes.in_use(sheet).folder, place), kept), "an earlier frame has changed"
    mixed = f"to {place} have other settings (Friction, Steps per Frame)"
    yield from until(lambda: text_of().startswith("Frames 1 to ") and text_of().endswith(mixed),
                     "the panel to name the settings that differ", 10.0)
    yield from picture("bake_complete")


def _save_and_switch(folder: Path) -> Steps:
    """Save into another folder, reopen and play; switch the kind of the result, save and reopen again."""
    shapes = {frame: shape_at(bpy.data.objects["Sheet"], frame) for frame in (1, HERE, FRAMES)}
    for number, kind in enumerate(("SHAPE_KEYS", "MESH_CACHE", "SHAPE_KEYS")):
        sheet = bpy.data.objects["Sheet"]
        make_current(sheet)
        if number:
            sheet.muslin.result = kind
            yield
            bpy.ops.muslin.bake_use("INVOKE_DEFAULT")
        assert bool(window.baked_record.known(sheet).modifier) == (kind == "MESH_CACHE")
        place = folder / f"other{number}" / "saved.blend"
        place.parent.mkdir()
        bpy.ops.wm.save_as_mainfile(filepath=str(place), check_existing=False)
        bpy.ops.wm.open_mainfile(filepath=str(place))
        yield
        yield
        sheet = bpy.data.objects["Sheet"]
        for frame, shape in shapes.items():
            assert np.abs(shape_at(sheet, frame) - shape).max() < 1e-6, f"{kind} after reopening, frame {frame}"
        with bpy.context.temp_override(window=window.ui.window()):
            bpy.ops.screen.animation_play()
            bpy.context.scene.frame_set(1)
            yield from until(lambda: bpy.context.scene.frame_current > 2, "the playback to advance")
            bpy.ops.screen.animation_cancel(restore_frame=False)
        window.physics_tab()
        yield


def _undo_after() -> Steps:
    """Bake again, undo and redo it."""
    sheet, scene = bpy.data.objects["Sheet"], bpy.context.scene
    make_current(sheet)
    scene.frame_end = 12
    yield from press("ESC")
    before = window.baked_record.known(sheet).take_id
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.muslin.bake("INVOKE_DEFAULT")
    yield from until(lambda: solved() > 3, "frames")
    sheet.location.x += 1.0                                         # stores the view in the undo history
    bpy.ops.ed.undo_push(message="Moved")
    yield from until(no_bake, "the bake to end")
    record = window.baked_record.known(sheet)
    assert record.last == 12 and record.take_id != before
    for key in ("undo", "undo", "redo", "redo"):
        yield from press("Z", ctrl=True, **({"shift": True} if key == "redo" else {}))
        sheet = bpy.data.objects["Sheet"]
        assert "Muslin Preview" not in sheet.modifiers, f"{key} brings the view back"
    assert window.baked_record.known(bpy.data.objects["Sheet"]).last == 12
    yield from press("Z", ctrl=True)
    yield from press("Z", ctrl=True)
    assert window.baked_record.known(bpy.data.objects["Sheet"]).take_id == before
    shape_at(bpy.data.objects["Sheet"], 5)


def solver_killed() -> Steps:
    """Kill the solver: there is a message, and Resume goes on."""
    sheet = yield from ready(KILLED_FRAMES)
    bpy.context.scene.muslin.steps_per_frame = SLOW
    yield from click("muslin.bake")
    yield from until(lambda: solved() > 6, "frames")
    reached = solved()
    os.kill(solver_of(window.session.running()), signal.SIGKILL)
    yield from until(no_bake, "the bake to end")
    assert "resume" in window.session.message(), window.session.message()
    yield from press("ESC")
    yield from picture("bake_killed")
    yield from click("muslin.bake_message")
    assert text_of().startswith("Partial: 1 to ") and latest_reached() >= reached, text_of()
    yield from press_mode("RESUME")
    yield from until(no_bake, "the resumed bake to end")
    assert window.baked_record.known(sheet).last == KILLED_FRAMES and not window.session.message()


SECOND = """
import os, signal, sys
import bpy
session = sys.modules["{module}.cloth_addon.bake.session"]

def look():
    bake = session.running()
    if bake is None:
        with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
            bpy.ops.muslin.bake("INVOKE_DEFAULT")
        return 0.05
    if not bake.reads and len(bake.certificates) > 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return 0.05

bpy.app.timers.register(look, first_interval=2.0)
"""
"""What a second Blender runs: it bakes, and kills itself after some frames."""


def blender_killed() -> Steps:
    """Kill a Blender that bakes: the solver finishes, and the reopened file offers what it has solved."""
    sheet = yield from ready(FRAMES, cells=16)
    bpy.context.scene.muslin.steps_per_frame = 8
    folder = Path(tempfile.mkdtemp(prefix="muslin-killed-"))
    try:
        file, script = folder / "scene.blend", folder / "second.py"
        script.write_text(SECOND.format(module=window.MODULE))
        bpy.ops.wm.save_as_mainfile(filepath=str(file), check_existing=False)
        second = subprocess.Popen([bpy.app.binary_path, str(file), "--python", str(script)])
        yield from until(lambda: second.poll() is not None, "the second Blender to be killed")
        assert second.returncode == -signal.SIGKILL, second.returncode
        bpy.ops.wm.open_mainfile(filepath=str(file))
        yield
        sheet = bpy.data.objects["Sheet"]
        make_current(sheet)
        window.physics_tab()
        yield
        reached = latest_reached()
        assert 5 <= reached < FRAMES and text_of() == f"Partial: 1 to {reached} of {FRAMES}", text_of()
        yield from until(lambda: text_of() == f"A bake of frames 1 to {FRAMES} is ready", "the solver to finish alone")
        yield from click("muslin.bake_use")
        assert window.baked_record.known(sheet).last == FRAMES
        assert np.abs(shape_at(sheet, FRAMES) - shape_at(sheet, 1)).max() > 0.1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------------- what there is

def solved() -> int:
    """Return the number of the last frame that the running bake has, 0 without one."""
    running = window.session.running()
    return 0 if running is None or running.reads else len(running.certificates)


def shape_now(obj: Any) -> Any:
    """Return the evaluated vertices (V, 3) at the current frame."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    coordinates = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", coordinates)
    return coordinates.reshape(-1, 3)


def text_of() -> str:
    """Return what the Bake panel says of the bake of the sheet."""
    scene, sheet = bpy.context.scene, bpy.data.objects["Sheet"]
    report = window.baked_record.report_of(sheet)
    changed = bool(report and window.bake_changes.changes(scene, sheet, report))
    return str(window.bake_state.state_of(scene, sheet).text(changed))


def latest() -> Path:
    """Return the folder of the take that a bake goes on from."""
    return window.bake_state.state_of(bpy.context.scene, bpy.data.objects["Sheet"]).source.folder


def latest_reached() -> int:
    """Return the last frame of that take."""
    return window.bake_state.state_of(bpy.context.scene, bpy.data.objects["Sheet"]).source.reached


def positions(folder: Path, frame: int) -> Any:
    """Return the positions of the first cloth of a take at a frame."""
    return window.found_take.Take.open(folder).positions(0, frame)


def press_mode(mode: str) -> Steps:
    """Press one of the bake buttons, Resume or Bake from Here, by its operator's property."""
    props = window.physics_tab()
    yield
    yield from wheel(props, 0)
    assert bpy.ops.muslin.bake.poll(), "the button is greyed"
    bpy.ops.muslin.bake("INVOKE_DEFAULT", mode=mode)
    yield


def solver_of(running: Any) -> int:
    """Return the process number of a running bake's solver."""
    return running._process._process.pid


def saved_state(path: Path) -> str:
    """Return frame and modifiers of the sheet in a .blend, as another Blender reads them."""
    script = ("import bpy; sheet = bpy.data.objects['Sheet']; "
              "print('FOUND', bpy.context.scene.frame_current, [m.name for m in sheet.modifiers])")
    ended = subprocess.run([bpy.app.binary_path, "--background", "--factory-startup", str(path), "--python-expr",
                            script], capture_output=True, text=True, timeout=100)
    return next(line for line in ended.stdout.splitlines() if line.startswith("FOUND")).removeprefix("FOUND ")
