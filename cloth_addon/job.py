# SPDX-License-Identifier: GPL-3.0-or-later
"""The one bake that runs while the interface stays alive.

A bake is a generator of Progress (see bake.py). Where its next stretch touches no Blender data it is resumed in a
thread of its own, so that a slow frame does not freeze the window; everything else happens in the main thread.
Nothing of this is saved: a job is gone with its Blender.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from typing import Any

SLICE = 0.05    # seconds of bake between two looks at the interface, where the bake needs the main thread


class Job:
    """A bake under way.

    Attributes:
        names: the objects that are baked.
        progress: the newest report of the generator, None before the first.
        stopping: the user has asked to cancel, the frame in hand is not over yet.
        finished: it ran to its end and the result is written.
    """

    def __init__(self, steps: Generator[Any, None, None], names: list[str]) -> None:
        self.names = names
        self.progress: Any = None
        self.stopping = False
        self.finished = False
        self.stopped_because = ""
        self._steps = steps
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def advance(self) -> bool:
        """Gives the bake a little time. True when it is over: finished or stopped. Raises what the bake raises."""
        if self._thread is not None:
            if self._thread.is_alive():
                return False
            self._thread = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if self.stopping:
            self._steps.close()
        if self.finished or self.stopping:
            return True
        end = time.monotonic() + SLICE
        while not self.finished and time.monotonic() < end:
            if self.progress is not None and not self.progress.touches_blender:
                self._thread = threading.Thread(target=self._run, name="Muslin bake", daemon=True)
                self._thread.start()
                return False
            self._resume()
        return self.finished

    def stop(self) -> None:
        """Asks the bake to end after the frame in hand; `advance` then closes it."""
        self.stopping = True

    def abort(self, because: str) -> None:
        """Ends the bake now, waiting for the frame in hand: before undo, loading a file or leaving Blender."""
        self.stopping = True
        self.stopped_because = self.stopped_because or because
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._error = None
        self._steps.close()

    def text(self) -> str:
        """`Baking 43 % - 12 s left`"""
        if self.stopping:
            return "Cancelling"
        if self.progress is None:
            return "Baking"
        left = self.progress.seconds_left
        return f"Baking {self.fraction:.0%}".replace("%", " %") + ("" if left is None else f" - {_duration(left)} left")

    @property
    def fraction(self) -> float:
        """How much is done, 0 to 1."""
        return 0.0 if self.progress is None else min(max(self.progress.fraction, 0.0), 1.0)

    def _resume(self) -> None:
        try:
            self.progress = next(self._steps)
        except StopIteration:
            self.finished = True

    def _run(self) -> None:
        try:
            while not (self.stopping or self.finished or self.progress.touches_blender):
                self._resume()
        except BaseException as error:      # carried to the main thread, which raises it
            self._error = error


def _duration(seconds: float) -> str:
    seconds = max(0, round(seconds))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60} min"


_current: list[Job] = []


def current() -> Job | None:
    """The bake that runs now."""
    return _current[0] if _current else None


def begin(steps: Generator[Any, None, None], names: list[str]) -> Job:
    if _current:
        raise RuntimeError("a bake is running already")
    _current.append(Job(steps, names))
    return _current[0]


def end() -> None:
    _current.clear()


def abort(because: str) -> None:
    """Ends the bake that runs now, if one does."""
    if _current:
        _current[0].abort(because)
