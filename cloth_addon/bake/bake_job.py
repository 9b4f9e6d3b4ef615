# SPDX-License-Identifier: GPL-3.0-or-later
"""The one bake that runs while the interface stays alive.

A bake is a generator of Progress (see bake.py). Where its next stretch touches no Blender data it is resumed in a
thread of its own, so that a slow frame does not freeze the window; everything else happens in the main thread.
Nothing of this is saved: a job is gone with its Blender.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from typing import Any

SLICE = (0.04, 0.25)
"""Time [s] that the interface waits for the bake before it is looked after again, shortest and longest. In between,
the bake gets as long as the interface took for itself: where redrawing is slow, it would starve otherwise."""


class Job:
    """A bake under way.

    Attributes:
        progress: the newest report of the generator, None before the first.
        stopping: it is to end, the frame in hand is not over yet.
        stopped_because: why it was ended before its time, for the user.
        finished: it ran to its end and the result is written; `result` is what the generator returned.
        at_end: gives back what was taken to show the job.
    """

    def __init__(self, steps: Generator[Any, None, Any], verb: str = "Baking") -> None:
        self._verb = verb
        self.progress: Any = None
        self.stopping = False
        self.stopped_because = ""
        self.finished = False
        self.result: Any = None
        self.at_end: Callable[[], None] = lambda: None
        self._steps = steps
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self._stretch = 0.0             # seconds that the thread ran for, last time
        self._left = time.monotonic()   # when the interface was given back its turn

    def advance(self, *, idle: bool = False) -> bool:
        """Gives the bake a little time. True when it is over: finished or stopped. Raises what the bake raises.

        Long frames are waited for only by who is `idle` meanwhile: it would ask again at once, and take Python's lock
        from the bake's thread each time.
        """
        try:
            now = time.monotonic()
            return self._advance(now + min(max(SLICE[0], now - self._left), SLICE[1]), idle)
        finally:
            self._left = time.monotonic()

    def _advance(self, end: float, idle: bool) -> bool:
        while not self.finished:
            if self._thread is None and not self.stopping:
                self._resume()
            if self._thread is not None:
                patient = idle or self._stretch < SLICE[1]
                self._thread.join(max(0.0, end - time.monotonic()) if patient else 0.0)
                if self._thread.is_alive():
                    return False
                self._thread = None
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            if self.stopping:
                self._steps.close()
                return True
            if time.monotonic() > end:
                return self.finished
        return True

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

    @property
    def fraction(self) -> float:
        """How much is done, 0 to 1."""
        return 0.0 if self.progress is None else self.progress.fraction

    def text(self) -> str:
        """`Baking 43 % - 12 s left`, or what is done before the first frame; with the run, where there are several."""
        if self.stopping:
            return "Cancelling"
        run = f"{self.progress.run} - " if self.progress is not None and self.progress.run else ""
        if self.progress is not None and self.progress.stage:
            return f"{run}{self.progress.stage}"
        left = self.progress.seconds_left if self.progress is not None else None
        return f"{run}{self._verb} {100 * self.fraction:.0f} %" + (
            "" if left is None else f" - {duration(left)} left")

    def _resume(self) -> None:
        if self.progress is not None and not self.progress.touches_blender:
            self._thread = threading.Thread(target=self._step_timed, name="Muslin bake", daemon=True)
            self._thread.start()
        else:
            self._step()

    def _step_timed(self) -> None:
        start = time.monotonic()
        self._step()
        self._stretch = time.monotonic() - start

    def _step(self) -> None:
        try:
            self.progress = next(self._steps)
        except StopIteration as end:
            self.result = end.value
            self.finished = True
        except BaseException as error:      # carried to the main thread, where `advance` raises it
            self._error = error


def duration(seconds: float) -> str:
    """`12 s`, `3 min 20 s`, `1 h 5 min`"""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


_current: list[Job] = []


def current() -> Job | None:
    """The bake that runs now."""
    return _current[0] if _current else None


def begin(steps: Generator[Any, None, Any], verb: str = "Baking") -> Job:
    """Start what `verb` names to the user."""
    if _current:
        raise RuntimeError("a bake is running already")
    _current.append(Job(steps, verb))
    return _current[0]


def end() -> None:
    """Of the bake that ran: it is over or aborted. Nothing happens where none ran."""
    while _current:
        _current.pop().at_end()


def abort(because: str) -> None:
    """Ends the bake that runs now, if one does."""
    if _current:
        _current[0].abort(because)
