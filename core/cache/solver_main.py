# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver process: solve the scene in the folder of a take, while another process reads its motion.

The main thread simulates. A small thread reads `control` and interrupts the main thread for a stop or a pause, so that
both act within a long frame. Only simulating, compiling and waiting are interrupted, never the writing of a frame: a
stop is an exception there, by which `bake_frames` ends with a checkpoint of the last frame, and a pause a wait. A pause
becomes a stop when the parent ends, because nothing would end it.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from ..description.motion import MotionWindow
from ..description.scene import Scene
from ..description.settings import Solver
from ..errors import ClothError
from ..kernels import backend
from ..stepping import jit_warmup, simulate
from . import file_lock
from .bake import bake_frames
from .feed import FEED_NAME, FeedLostError, FeedReader
from .process_files import (
    ERROR_NAME,
    LOCK_NAME,
    PARENT_NAME,
    STATE_NAME,
    ProcessState,
    read_control,
    write_error,
    write_state,
)
from .scene_file import SCENE_NAME, load_scene
from .take import Take

DONE, FAILED, IN_USE = 0, 1, 3
"""Exit codes: finished or stopped; failed; another process solves this take."""
CONTROL_POLL = 0.05
"""Time between two looks at `control` [s]."""
HEARTBEAT = 1.0
"""Time between two signs of life on a disk without locks [s]."""
LOCK_WAIT = 2.0
"""Longest wait for a process that is about to end to leave its lock [s]."""
LARGEST_LOG = 1 << 20
"""Size from which on the log is emptied [byte]."""


class _Stop(BaseException):
    """The parent wants the process to stop."""


def main(folder: str | Path, kernels: str, watched: bool) -> None:
    """Solve the take in `folder` from where it is to its end, and exit.

    Args:
        folder: of a take, with scene and feed.
        kernels: folder for compiled kernels.
        watched: whether the parent locks its file, so that a pause ends with the parent.
    """
    folder = Path(folder)
    try:
        lock = _locked(folder / LOCK_NAME)
    except file_lock.LockHeldError:
        _exit(IN_USE)
    process = _Process(folder, has_locks=lock is not None, watched=watched)
    try:
        code = process.run(Path(kernels))
    finally:
        if lock is not None:
            file_lock.release(lock, folder / LOCK_NAME)
    _exit(code)


class _Process:
    """The solver process of a folder.

    Attributes:
        control: what the parent has asked for last.
    """

    def __init__(self, folder: Path, *, has_locks: bool, watched: bool) -> None:
        self._folder, self._has_locks, self._watched = folder, has_locks, watched
        self._state, self._frame = "starting", -1
        self._has_frame = False
        self._pausing = self._abandoned = False
        self._paused = 0.0                              # time of all pauses [s]
        self.control = "run"
        self._interruptible: set[CodeType] = {simulate._frames.__code__, jit_warmup.warm_up.__code__,
                                              FeedReader.read_to.__code__}

    def run(self, kernels: Path) -> int:
        """Solve, leave state and error, and return the exit code."""
        _clean(self._folder)
        self._say("starting")
        signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._watch, name="muslin control", daemon=True).start()
        try:
            self._solve(kernels)
        except _Stop:
            self._say("stopped")
        except BaseException as error:
            self.control = "run"                                        # an end is not interrupted
            if isinstance(error, ClothError):
                print(error, file=sys.stderr)
            else:
                traceback.print_exc()
            write_error(self._folder, error)
            self._say("lost feed" if isinstance(error, FeedLostError) else "failed")
            return FAILED
        else:
            self._say("finished")
        return DONE

    def _solve(self, kernels: Path) -> None:
        scene, solver, window = load_scene(self._folder / SCENE_NAME)
        with Take.resume(self._folder) as take:
            if take.last is not None:
                self._has_frame, self._frame = True, take.last
            if take.is_complete:
                return
            self._prepare(scene, solver, kernels)
            self._bake(take, scene, solver, window)

    def _prepare(self, scene: Scene, solver: Solver, kernels: Path) -> None:
        """Import and compile the kernels."""
        self._say("compiling")
        backend.keep_compiled_in(kernels)
        for _ in jit_warmup.warm_up(solver, sorted({cloth.model for cloth in scene.cloths})):
            self._check_stop()

    def _bake(self, take: Take, scene: Scene, solver: Solver, window: MotionWindow) -> None:
        feed = FeedReader(self._folder / FEED_NAME, window)

        def waiting() -> None:
            self._check_stop()
            self._say("waiting")

        def next_frame(number: int) -> None:
            feed.read_to(number, waiting)
            self._say("solving")

        start = None if take.last is None else take.checkpoint_before(take.last)
        if start is not None:
            feed.read_to(start.frame, waiting)
        self._say("solving")
        for frame in bake_frames(take, scene, solver, window, next_frame, start, self._working_time):
            self._has_frame, self._frame = True, frame.index
            self._say(self._state, anew=True)
            self._check_stop()

    def _working_time(self) -> float:
        """Return a time without that of pauses [s]."""
        return time.perf_counter() - self._paused

    # ------------------------------------------------------------------ control

    def _say(self, state: str, *, anew: bool = False) -> None:
        """Write the state if it has changed, or `anew`."""
        if state != self._state or anew or state == "starting":
            self._state = state
            write_state(self._folder, ProcessState(state, self._frame if self._has_frame else None, self._has_locks))

    def _check_stop(self) -> None:
        if self.control == "stop":
            raise _Stop

    def _watch(self) -> None:
        """Run in a thread of its own: read `control`, and interrupt the main thread where it must stop or pause."""
        beat = time.monotonic()
        while True:
            self.control = "stop" if self._abandoned else read_control(self._folder, self.control)
            if self.control == "stop" or self.control == "pause" and not self._pausing:
                _thread.interrupt_main(signal.SIGINT)
            if time.monotonic() > beat + HEARTBEAT:
                beat = time.monotonic()
                with suppress(OSError):
                    if os.fstat(1).st_size > LARGEST_LOG:
                        os.ftruncate(1, 0)
                    if not self._has_locks:
                        os.utime(self._folder / STATE_NAME)
            time.sleep(CONTROL_POLL)

    def _interrupted(self, _number: int, frame: FrameType | None) -> Any:
        """Stop or pause in the main thread, if it simulates, compiles or waits; else the watch comes again."""
        while frame is not None and frame.f_code not in self._interruptible:
            frame = frame.f_back
        if frame is None or self._pausing:
            return
        if self.control == "pause":
            before, self._pausing, began = self._state, True, time.perf_counter()
            try:
                self._say("paused")
                looked = time.monotonic()
                while self.control == "pause":
                    time.sleep(CONTROL_POLL)
                    if self._watched and time.monotonic() > looked + HEARTBEAT:
                        looked = time.monotonic()
                        if not file_lock.is_locked(self._folder / PARENT_NAME):
                            self._abandoned, self.control = True, "stop"
                self._say(before)
            finally:
                self._pausing = False
                self._paused += time.perf_counter() - began
        self._check_stop()


def _locked(path: Path) -> int | None:
    """Return the descriptor of the locked file. A process that is about to end may still hold it."""
    end = time.monotonic() + LOCK_WAIT
    while True:
        try:
            return file_lock.acquire(path)
        except file_lock.LockHeldError:
            if time.monotonic() > end:
                raise
            time.sleep(CONTROL_POLL)


def _clean(folder: Path) -> None:
    """Delete what an earlier process has left. A take removes its own."""
    with suppress(OSError):
        (folder / ERROR_NAME).unlink(missing_ok=True)
        for path in folder.glob("*.part"):
            path.unlink(missing_ok=True)


def _exit(code: int) -> Any:
    """End the process at once: threads of the kernels may still spin."""
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)
