# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake job: steps a bake or comparison while Blender's window stays responsive.

A bake is a generator of Progress. If its work up to the next `yield` does not touch Blender's data, it is resumed in
another thread, so that a slow frame does not block the window. Everything else runs in the main thread. There is at
most one job; its state is not saved.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import Any

TURN = (0.04, 0.25)
"""Shortest and longest turn of the bake before the window gets the next one [s]. In between, a turn takes as long as
the last one of the window, so that the bake gets half of the time where redrawing is slow."""


class Job:
    """A bake or comparison that runs.

    Attributes:
        progress: the last Progress of the generator, None before the first.
        stopping: whether it ends after the current frame.
        stopped_because: the reason why it was aborted, for the user; empty if it was not.
        finished: whether it has run to its end and written the result.
        result: return value of the generator.
    """

    def __init__(self, steps: Generator[Any, None, Any], verb: str = "Baking") -> None:
        self.progress: Any = None
        self.stopping = False
        self.stopped_because = ""
        self.finished = False
        self.result: Any = None
        self._verb = verb
        self._steps = steps
        self._end_callbacks: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._thread_seconds = 0.0              # time of the last step that ran in the thread
        self._turn_end = time.monotonic()       # end of the last turn

    def call_at_end(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the job is removed by `end`."""
        self._end_callbacks.append(callback)

    def close(self) -> None:
        """Call the callbacks of `call_at_end`."""
        while self._end_callbacks:
            self._end_callbacks.pop()()

    def advance(self, *, idle: bool = False) -> bool:
        """Run the bake for one turn. Return whether it has ended, finished or stopped. Raise the errors of the bake.

        During a long frame `advance` returns at once, so that the window is not blocked. With `idle`, for callers that
        have nothing else to do, it waits to the end of the turn: calling it in a loop would take Python's lock from
        the thread of the bake.
        """
        try:
            now = time.monotonic()
            return self._advance(now + min(max(TURN[0], now - self._turn_end), TURN[1]), idle)
        finally:
            self._turn_end = time.monotonic()

    def _advance(self, end: float, idle: bool) -> bool:
        """Run the bake up to the time `end` [s]."""
        while not self.finished:
            if self._thread is None and not self.stopping:
                self._resume()
            if self._thread is not None:
                waits = idle or self._thread_seconds < TURN[1]
                self._thread.join(max(0.0, end - time.monotonic()) if waits else 0.0)
                if self._thread.is_alive():
                    return False
                self._thread = None
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self.stopping:
                self._steps.close()
                return True
            if self.progress is not None and self.progress.waits and not idle:
                return self.finished
            if time.monotonic() > end:
                return self.finished
        return True

    def stop(self) -> None:
        """End the bake after the current frame; `advance` then closes the generator."""
        self.stopping = True

    def abort(self, because: str) -> None:
        """Wait for the current frame and end the bake: before undo, loading a file or leaving Blender."""
        self.stopping = True
        self.stopped_because = self.stopped_because or because
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._error = None
        self._steps.close()

    @property
    def fraction(self) -> float:
        """Finished part of all frames, 0 to 1."""
        return 0.0 if self.progress is None else self.progress.fraction

    def text(self) -> str:
        """Return the status for the user: `Baking 43 % - 12 s left`, or the stage before the first frame."""
        if self.stopping:
            return "Cancelling"
        run = f"{self.progress.run} - " if self.progress is not None and self.progress.run else ""
        if self.progress is not None and self.progress.stage:
            return f"{run}{self.progress.stage}"
        left = self.progress.seconds_left if self.progress is not None else None
        return f"{run}{self._verb} {100 * self.fraction:.0f} %" + (
            "" if left is None else f" - {duration(left)} left")

    def _resume(self) -> None:
        """Resume the generator, in a thread if it does not touch Blender's data."""
        if self.progress is not None and not self.progress.touches_blender:
            self._thread = threading.Thread(target=self._step_timed, name="Muslin bake", daemon=True)
            self._thread.start()
        else:
            self._step()

    def _step_timed(self) -> None:
        start = time.monotonic()
        self._step()
        self._thread_seconds = time.monotonic() - start

    def _step(self) -> None:
        """Run the generator to its next `yield`, and keep its progress, result or error."""
        try:
            self.progress = next(self._steps)
        except StopIteration as end:
            self.result = end.value
            self.finished = True
        except BaseException as error:      # `advance` raises it in the main thread
            self._error = error


def duration(seconds: float) -> str:
    """Return a time for the user: `12 s`, `3 min 20 s` or `1 h 5 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


_current: list[Job] = []


def current() -> Job | None:
    """Return the job that runs now, None without one."""
    return _current[0] if _current else None


def begin(steps: Generator[Any, None, Any], verb: str = "Baking") -> Job:
    """Begin a job and return it. `verb` names its work to the user.

    Raises:
        RuntimeError: another job runs.
    """
    if _current:
        raise RuntimeError("a bake is running already")
    _current.append(Job(steps, verb))
    return _current[0]


def end() -> None:
    """Remove the job, which has ended or was aborted. Without a job nothing happens."""
    while _current:
        _current.pop().close()


def abort(because: str) -> None:
    """Abort the job that runs now, if there is one."""
    if _current:
        _current[0].abort(because)
