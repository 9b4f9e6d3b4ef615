# SPDX-License-Identifier: GPL-3.0-or-later
"""How long Blender's window is blocked while a sheet of 40,000 vertices is read, solved and shown."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import bmesh
import bpy
import numpy as np
import window_input as window
from window_input import Steps, no_bake, until
from window_scene import make_current, mesh_object, ready

SIDE = 200
SAMPLE = 0.005          # time between two looks at the clock [s]
MEDIAN, LONGEST = 0.05, 0.5     # allowed time between two looks while a frame is solved [s]


@contextmanager
def gaps() -> Iterator[list[float]]:
    """Yield a list that receives the time between two calls of a timer that wants to be called every `SAMPLE`."""
    taken: list[float] = []
    last = [time.monotonic()]

    def look() -> float:
        now = time.monotonic()
        taken.append(now - last[0])
        last[0] = now
        return SAMPLE

    bpy.app.timers.register(look)
    try:
        yield taken
    finally:
        bpy.app.timers.unregister(look)


@contextmanager
def costs() -> Iterator[dict[str, list[float]]]:
    """Yield a dict that receives the time of each call of the parts of a bake in the main thread [s]."""
    found: dict[str, list[float]] = {}

    def timed(name: str, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            begin = time.monotonic()
            try:
                return function(*args, **kwargs)
            finally:
                found.setdefault(name, []).append(time.monotonic() - begin)
        return call

    parts = [(window.bake_job.Job, "advance"), (window.window_bake.WindowBake, "_follow"),
             (window.live_view.LiveView, "show"), (window.preparation.Preparation, "read"),
             (window.watch.Watch, "check"), (window.watch.Watch, "set_frame"),
             (window.preparation.FeedWriter, "append"), (window.window_bake, "save_scene"),
             (window.bake_panels, "_draw_running"), (window.quality_panel, "_draw_chart"),
             (window.session, "_redraw"), (window.window_bake.SolverProcess, "state")]
    with ExitStack() as stack:
        for owner, name in parts:
            label = f"{owner.__name__.rpartition('.')[2]}.{name}"
            stack.enter_context(mock.patch.object(owner, name, timed(label, getattr(owner, name))))
        yield found


def figures(taken: list[float]) -> str:
    """Return median, 95 % and largest of times [ms]."""
    return " / ".join(f"{1e3 * value:.0f}" for value in (*np.quantile(taken, (0.5, 0.95)), max(taken)))


def hanging_sheet() -> Any:
    """Add a pinned sheet of SIDE x SIDE vertices, and return it."""
    bm = bmesh.new()
    bmesh.ops.create_grid(bm, x_segments=SIDE - 1, y_segments=SIDE - 1, size=1.0)
    sheet = mesh_object("Large", bm)
    sheet.muslin.kind = "CLOTH"
    group = sheet.vertex_groups.new(name="Pins")
    group.add([0, SIDE - 1], 1.0, "REPLACE")
    sheet.muslin.pin_group = "Pins"
    make_current(sheet)
    return sheet


def bake_fluid() -> Steps:
    """Measure the gaps between two turns of the window: without a bake, while it reads, and while it solves."""
    yield from ready(12)
    bpy.data.batch_remove([*bpy.data.objects])
    sheet = hanging_sheet()
    bpy.context.scene.muslin.steps_per_frame = 1
    bpy.ops.ed.undo_push(message="Large")
    for _ in range(20):
        yield
    with gaps() as idle:
        yield from until(after(4.0), "some seconds")
    with costs() as taken:
        begin = time.monotonic()
        bpy.ops.muslin.bake("INVOKE_DEFAULT")
        started = time.monotonic() - begin
        with gaps() as reading:
            yield from until(lambda: not window.session.running().reads, "the scene to be read")
        with gaps() as solving:
            ended = after(60.0)
            yield from until(lambda: no_bake() or ended(), "frames to be solved", 150.0)
    running = window.session.running()
    print(f"{SIDE ** 2} vertices: start {1e3 * started:.0f} ms; time between two turns of the window [ms], median / "
          f"95 % / largest: idle {figures(idle)}; reading {figures(reading)}; solving {figures(solving)}; "
          f"{'all' if running is None else len(running.certificates)} frames", flush=True)
    ends = np.cumsum(solving)
    print("largest, and after how many seconds: " + ", ".join(
        f"{1e3 * solving[i]:.0f} ms at {ends[i]:.1f} s" for i in np.argsort(solving)[::-1][:6]), flush=True)
    for name, times in sorted(taken.items()):
        print(f"  {name}: {len(times)} calls [ms], median / 95 % / largest {figures(times)}", flush=True)
    if running is not None:
        window.bake_job.current().stop()
    yield from until(no_bake, "the bake to be cancelled")
    with gaps() as playing:                                         # what drawing alone takes on this machine
        for frame in range(1, 9):
            bpy.context.scene.frame_set(frame)
            for _ in range(3):
                yield
    print(f"going through frames of the result without a bake: {figures(playing)}", flush=True)
    bpy.data.objects.remove(sheet)
    assert np.median(solving) < MEDIAN and np.quantile(solving, 0.95) < LONGEST


def after(seconds: float) -> Any:
    """Return the condition that this time has passed [s]."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end
