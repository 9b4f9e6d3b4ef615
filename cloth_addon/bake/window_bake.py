# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake beside Blender's window: a process of its own solves, and Blender only reads, shows and writes.

    reading    Blender moves the scene through all frames and stores what moves in a file; the solver follows at once
    solving    Blender is free: undo, edit, save, play; the frames that are there are shown
    writing    the take becomes the result in the file

After the reading, the solver needs Blender no longer: it goes on if Blender ends unexpectedly.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

import bpy

from ... import core
from ...core.cache.scene_file import SCENE_NAME, save_scene
from ...core.cache.solver_process import SolverProcess
from ...core.cache.take import Take
from ...core.cache.take_entries import read_header
from ..write.report import Report
from . import backends, first_compile, takes
from .apply_take import apply_take
from .bake import frame_kept, view_layer_of
from .live_view import LiveView, by_uid
from .preparation import Continuation, Preparation
from .progress import Progress, StageTimer
from .watch import Watch

STAGES = {"starting": "Starting the solver", "paused": "Paused"}
"""Texts for the user on the states of a solver process."""


class WindowBake:
    """A bake of `objects` that runs beside Blender's window.

    Attributes:
        reads, writes: whether it still reads the scene, or makes the result: an undo ends it then.
        folder: of its take, None before it is created.
        view: what it shows, None before there is anything.
        certificates: of the frames that are there, from `start` on.
        uids: identities of the cloths.
        start, first: first simulated frame, and first frame of the result.
    """

    def __init__(self, scene: bpy.types.Scene, objects: Sequence[bpy.types.Object],
                 resume: Continuation | None = None) -> None:
        self._scene, self._objects, self._resume = scene, list(objects), resume
        self._frame = scene.frame_current
        self._process: SolverProcess | None = None
        self._reader: Take | None = None
        self.reads, self.writes = True, False
        self.folder: Any = None
        self.view: LiveView | None = None
        self.certificates: list[dict[str, Any]] = []
        self.uids = {obj.session_uid for obj in objects}
        self.start = self.first = 0
        self._stages = dict(STAGES)

    def pause(self) -> None:
        """Let the solver wait after the step that it computes."""
        if self._process is not None:
            self._process.pause()

    def go_on(self) -> None:
        """Let the solver go on."""
        if self._process is not None:
            self._process.go_on()

    @property
    def is_paused(self) -> bool:
        """Return whether the solver is paused."""
        return self._process is not None and self._process.state() == "paused"

    def steps(self) -> Generator[Progress, None, Report]:
        """Bake. Yields Progress and returns the Report; closing it stops the solver, and the frames stay on disk.

        Raises:
            core.ClothError: something cannot be baked.
        """
        watch = Watch(self._scene, ignores_settings=True)
        with watch.errors_named():
            try:
                yield from self._take_over()
                prepared = yield from self._read(watch)
                timer, uids, scene_uid = prepared.timer, [obj.session_uid for obj in self._objects], (
                    self._scene.session_uid)
                del prepared, self._scene                           # an undo makes all objects invalid
                self._objects.clear()
                yield from self._solve(timer)
            finally:
                self._end()
        scene = by_uid(bpy.data.scenes, scene_uid)
        objects = [by_uid(bpy.data.objects, uid) for uid in uids]
        if scene is None or None in objects:
            raise core.SceneError("the scene or a cloth of the bake was removed while it ran; its frames are in "
                                  f"{self.folder}. Undo the removal and press Use")
        layer = view_layer_of(scene, None)
        take = Take.open(self.folder)
        self.writes = True
        with frame_kept(scene):
            report = yield from apply_take(scene, layer, take, objects, timer)
        takes.delete_input(self.folder)
        takes.delete_older(scene, objects, {take.header.take})
        return report

    def _take_over(self) -> Generator[Progress, None, None]:
        """Stop the solver of the take that is continued, if it still runs: of a bake that was cancelled, or of a
        Blender that has ended unexpectedly."""
        solver = None if self._resume is None else SolverProcess(self._resume.folder)
        if solver is None or not solver.is_alive():
            return
        if solver.has_parent():
            raise core.CacheError(f"another Blender bakes into {solver.folder}; let it finish, cancel it there, or "
                                  "press Stop the Solver, and resume then")
        solver.stop()
        while solver.is_alive():
            yield Progress(0, 0, 1, None, None, (), touches_blender=True,
                           stage="Waiting for the earlier solver to stop", waits=True)
        takes.forget()

    def _read(self, watch: Watch) -> Generator[Progress, None, Preparation]:
        """Read the frames that the feed of the solver process lacks, while the process starts."""
        scene = self._scene
        with frame_kept(scene):
            prepared = Preparation(scene, self._objects, None, view_layer_of(scene, None), None, watch)
            settings, names = prepared.settings, prepared.names
            self._objects = prepared.objects
            take, _ = prepared.take(self._resume)
            self.folder, self.start, self.first = take.folder, settings.start, settings.first
            self.uids = {obj.session_uid for obj in prepared.objects}
            with take:
                self.view = LiveView(scene, prepared.objects,
                                     [take.folder / cloth.file for cloth in take.header.cloths], settings.start,
                                     settings.time_ratio, self._frame)
            window = prepared.inputs.window
            save_scene(take.folder / SCENE_NAME, prepared.inputs.scene, settings.solver(), window.motion)
            with prepared.feed(take) as feed:
                first_compile.stop()
                backends.keep_compiled()
                self._stages["compiling"] = STAGES["starting"]
                if settings.backend != "numpy" and backends.is_installed():
                    self._stages["compiling"] = backends.preparing_text(settings.solver(), prepared.models)
                self._process = SolverProcess(take.folder)
                self._process.start()
                total = settings.last - settings.start + 1
                for frame in range(feed.frame + 1, settings.last + 1):
                    watch.check()
                    feed.append(frame, prepared.read(frame))
                    self._follow()
                    done = len(self.certificates)
                    yield Progress(frame, done, total, None, None, names, touches_blender=True, stage=(
                        f"{100 * done / total:.0f} % - reading frame {frame} of {settings.last}"))
                    self._process.error()
                feed.finish()
        self.reads = False
        return prepared

    def _solve(self, timer: StageTimer) -> Generator[Progress, None, None]:
        """Wait for the solver, and show its frames."""
        assert self._process is not None and self.view is not None
        header = read_header(self.folder)
        names = tuple(cloth.name for cloth in header.cloths)
        total = Take.open(self.folder).end - header.start + 1       # the end may have been moved since
        begun, done_before = time.monotonic(), len(self.certificates)
        with timer.stage("solve"):
            while True:
                self._follow()
                done = len(self.certificates)
                state = self._process.state()
                now = time.monotonic()
                left = (now - begun) / (done - done_before) * (total - done) if done > done_before else None
                if state == "paused":
                    begun, done_before, left = now, done, None
                stage = self._stages.get(state, "") if state == "paused" or not done else ""
                stage += f" at {100 * done / total:.0f} %" if state == "paused" else ""
                last = header.start + done - 1
                self.view.show(last)
                yield Progress(last, done, total, left, None, names, touches_blender=True, stage=stage, waits=True)
                self._process.error()
                if state == "finished":
                    return
                if state == "stopped":
                    raise core.CacheError(f"the solver in {self.folder} was stopped by another program; its frames are "
                                          "kept: resume")

    def _follow(self) -> None:
        """Take in the frames that the solver has added."""
        with suppress(core.ClothError):
            if self._reader is None:
                self._reader = Take.open(self.folder)
            for frame in self._reader.poll():
                del self.certificates[frame - self.start:]          # baked again
            last = self._reader.last
            if last is not None and len(self.certificates) <= last - self.start:
                self.certificates += self._reader.certificates(self.start + len(self.certificates))

    def _end(self) -> None:
        """Stop the solver, close the take and take the view away."""
        with suppress(core.ClothError):                             # the folder may be gone, or the disk full
            if self._process is not None:
                self._process.stop()
        if self._process is not None:
            self._process.give_up()
        if self.view is not None:
            self.view.hide()
            self.view.go_home()
