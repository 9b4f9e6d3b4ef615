# SPDX-License-Identifier: GPL-3.0-or-later
"""Progress of a bake or comparison, and the time of its stages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ... import core


@dataclass(frozen=True)
class Progress:
    """Progress of a bake or comparison, yielded before each part of its work.

    Attributes:
        frame: the frame of `certificate`; without one, the frame that is computed next.
        done, total: number of finished frames, and of all frames.
        seconds_left: estimated remaining time [s], None before the first estimate.
        certificate: of the last solved frame, None before the first.
        cloths: names of the cloth objects.
        touches_blender: whether the work up to the next `yield` reads or writes Blender's data. If not, the generator
            may be resumed in another thread.
        stage: text for the user on the work before the first frame; empty after that.
        run: text for the user that names the run of a comparison; empty for a bake.
        waits: whether there is nothing to do before something else has happened, so that the turn should end.
    """

    frame: int
    done: int
    total: int
    seconds_left: float | None
    certificate: core.Certificate | None
    cloths: tuple[str, ...]
    touches_blender: bool
    stage: str = ""
    run: str = ""
    waits: bool = False

    @property
    def fraction(self) -> float:
        """Finished part of all frames, 0 to 1."""
        return self.done / self.total


class StageTimer:
    """Measures the time of each stage of a bake, and estimates the remaining time."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._first_frame_start: float | None = None
        self._stages: dict[str, float] = {}
        self._inside = 0.0                      # time of the stages inside the present one

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the `with` block to the stage `name`, without that of stages inside it."""
        start, inside = time.perf_counter(), self._inside
        self._inside = 0.0
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self._stages[name] = self._stages.get(name, 0.0) + spent - self._inside
            self._inside = inside + spent

    def seconds_left(self, done: int, total: int) -> float | None:
        """Return the estimated remaining time [s] at the start of a frame, from the mean time of the `done` frames.

        The first frame is the initial state, which is not solved, and does not count.
        """
        now = time.perf_counter()
        if done <= 1:
            self._first_frame_start = now
            return None
        return (now - self._first_frame_start) / (done - 1) * (total - done)

    def seconds(self) -> dict[str, float]:
        """Return the time of each stage, and the total [s]."""
        return {**{name: round(value, 4) for name, value in self._stages.items()},
                "total": round(time.perf_counter() - self._start, 4)}
