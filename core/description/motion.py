# SPDX-License-Identifier: GPL-3.0-or-later
"""Known motion of colliders, pins and fields, as arrays at sampled times.

A bake reads the moving objects of a scene frame by frame, and the solver needs them at times in between. The window
holds the samples from one frame to the next, two or more, and interpolates linearly between neighbouring samples. With
samples between the frames, a limb that turns moves along an arc instead of its chord. The values at the first frame are
kept, because a simulation that continues from a checkpoint needs them too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..errors import SceneError
from ..number_text import number_text
from .frame_clock import FrameClock

Values = Mapping[str, FloatArray]
"""Arrays by name, as positions (V, 3) [m] of an object."""


class MotionWindow:
    """Sampled values from one frame to the next.

    Args:
        first: the frame at time 0.
        frame_rate: frames per second of simulated time at speed 1 [1/s].
        values: at the first frame.
        speed: name of an array (1,) among the values: the speed of the frame that ends there, see `FrameClock`. The
            speed is 1 if it is not given.

    Attributes:
        frame: the last frame in the window.
        clock: times of the frames, for `simulate`.

    Raises:
        SceneError: `speed` names no such array.
    """

    def __init__(self, first: int, frame_rate: float, values: Values, speed: str | None = None) -> None:
        if speed is not None and (speed not in values or np.shape(values[speed]) != (1,)):
            raise SceneError(f"speed is {speed!r}, it must be the name of an array (1,) among the values: "
                             f"{', '.join(map(repr, values)) or 'none'}")
        self.first, self.frame_rate, self.speed = first, frame_rate, speed
        self.frame = first
        self._start = dict(values)
        self._speeds: dict[int, float] = {}                 # of the frames so far
        self.clock = FrameClock(first, frame_rate, None if speed is None else self._speed_of)
        self._times: list[float] = [0.0]                    # ascending, since the first frame [frames]
        self._samples: list[Values] = [self._start]

    @property
    def start(self) -> Values:
        """The values at the first frame."""
        return self._start

    def advance(self, samples: Sequence[tuple[float, Values]]) -> None:
        """Move the window on to the next frame.

        Args:
            samples: times [frames] and values, ascending; the last time is the next frame, the others lie between.
        """
        before = self._samples[-1]
        self._times, self._samples = [float(self.frame - self.first)], [before]
        for time, values in samples:
            before = _shared(before, values)
            self._samples.append(before)
            self._times.append(time - self.first)
        self.frame += 1
        if self.speed is not None:
            self._speeds[self.frame] = float(before[self.speed][0])

    def jump(self, frame: int, values: Values) -> None:
        """Set the window to one frame, from which a simulation continues."""
        self.frame, self._times, self._samples = frame, [float(frame - self.first)], [_shared(self._start, values)]

    def at(self, name: str, time: float) -> FloatArray:
        """Return the values called `name` at `time` [s] after the first frame, at which they are always known.

        Values that do not change in the window are returned at all times.

        Raises:
            RuntimeError: the time is outside the window.
        """
        elapsed = self.clock.position(time)
        if elapsed <= 0.0:
            return self._start[name]
        latest = self._samples[-1][name]
        if len(self._samples) > 1 and all(sample[name] is latest for sample in self._samples):
            return latest
        first, last = self._times[0], self._times[-1]
        if not (first <= elapsed <= last or math.isclose(elapsed, first) or math.isclose(elapsed, last)):
            raise RuntimeError(f"time {time} s is outside the frames "
                               f"{number_text(self.first + first, 10)}..{number_text(self.first + last, 10)} of the "
                               "window")
        for index in range(len(self._times) - 1):
            start, end = self._times[index], self._times[index + 1]
            if elapsed < end and not math.isclose(elapsed, end):
                before, after = self._samples[index][name], self._samples[index + 1][name]
                if before is after or elapsed <= start or math.isclose(elapsed, start):
                    return before
                w = (elapsed - start) / (end - start)
                between: FloatArray = (1.0 - w) * before + w * after
                return between
        return latest

    def _speed_of(self, frame: int) -> float:
        """Return the speed of a frame that was in the window."""
        if frame not in self._speeds:
            raise RuntimeError(f"frame {frame} has not been in the window, which is at frame {self.frame}")
        return self._speeds[frame]

    def trajectory(self, name: str) -> Trajectory:
        """Return the function time [s] -> values called `name`."""
        return Trajectory(self, name)


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The function time [s] -> values called `name` of a window."""

    window: MotionWindow
    name: str

    def __call__(self, time: float) -> FloatArray:
        """Return the values at `time` [s]."""
        return self.window.at(self.name, time)


def _shared(before: Values, values: Values) -> Values:
    """Return `values` with the earlier array wherever it is equal, so that `at` need not interpolate."""
    return {name: before[name] if name in before and np.array_equal(before[name], array) else array
            for name, array in values.items()}
