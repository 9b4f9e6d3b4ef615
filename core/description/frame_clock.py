# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated time of frames, which passes at another speed in each frame where it is told so.

    T(first) = 0,      T(f) = T(f - 1) + speed(f) / frame_rate        [s]

Everything that moves by keyframes belongs to frames, everything that moves by forces to the simulated time. Within a
frame the time passes evenly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..arrays import LARGEST, is_number, is_whole, takes
from ..did_you_mean import names_arguments_of
from ..errors import SceneError

Speed = Callable[[int], float]
"""The function frame -> simulated time that passes in it, over the length of a frame at speed 1 [-]."""


@dataclass(frozen=True)
class FrameSpan:
    """The time from one frame to the next, in equal ticks.

    Attributes:
        start: time of the frame before [s].
        length: [s].
        tick: length of a tick [s].
        count: number of ticks.
        end: time of the frame [s], None for the sum of the ticks.
    """

    start: float
    length: float
    tick: float
    count: int
    end: float | None = None

    def at(self, done: int) -> float:
        """Return the time after `done` ticks [s]: of counts, so that no error adds up over a long simulation."""
        return self.start + done * self.tick if self.end is None or done < self.count else self.end


@names_arguments_of(SceneError)
class FrameClock:
    """Times of the frames of one simulation.

        clock = FrameClock(1, 24.0, lambda frame: 0.5 if frame > 20 else 1.0)          # slow motion from frame 21 on
        simulate(scene, Solver(frame_rate=24.0), range(1, 51), clock=clock)

    Args:
        first: the frame at time 0.
        frame_rate: frames per second of simulated time at speed 1 [1/s].
        speed: speed of each frame; 1 in all of them if it is not given. A frame is asked for when the simulation
            reaches it.

    Raises:
        SceneError: an argument is out of range.
    """

    def __init__(self, first: int = 1, frame_rate: float = 24.0, speed: Speed | None = None) -> None:
        if not is_whole(first, -2 ** 31):
            raise SceneError(f"first is {first!r}, it must be a whole number, the frame at time 0")
        if not (is_number(frame_rate) and frame_rate > 0.0):
            raise SceneError(f"frame_rate is {frame_rate!r}, it must be a number above 0, such as 24")
        if not (speed is None or callable(speed) and takes(speed, 1)):
            raise SceneError(f"speed is {speed!r}, it must be a function of the frame alone, such as lambda frame: 0.5")
        self.first, self.frame_rate = int(first), float(frame_rate)
        self._speed = speed
        self._begin, self._times = self.first, [0.0]            # the frame of the first of these times, ascending [s]
        self._lengths = [0.0]                                   # of the frames that end at these times [s]

    @property
    def is_uniform(self) -> bool:
        """Return whether all frames have the same length; their times are exact multiples of it then."""
        return self._speed is None

    def begin(self, frame: int, time: float) -> None:
        """Let the simulation begin at a frame, at `time` [s]: 0 at the first frame, else that of its checkpoint.

        The frames from there on count from that time, also where the speed was another one before.
        """
        if self.is_uniform:
            if math.isclose(time * self.frame_rate, frame - self.first):
                return
            self._speed = _one
        self._begin, self._times, self._lengths = frame, [float(time)], [0.0]

    def time(self, frame: int) -> float:
        """Return the time of a frame [s].

        Raises:
            SceneError: a speed on the way to it is no number above 0.
            RuntimeError: the frame is before that at which the simulation began.
        """
        if self._speed is None:
            return (frame - self.first) / self.frame_rate
        if frame < self._begin:
            raise RuntimeError(f"frame {frame} is before frame {self._begin}, at which the simulation began")
        while len(self._times) <= frame - self._begin:
            self._lengths.append(self._length(self._begin + len(self._times)))
            self._times.append(self._times[-1] + self._lengths[-1])
        return self._times[frame - self._begin]

    def span(self, frame: int, count: int) -> FrameSpan:
        """Return the time from the frame before to `frame` in `count` ticks."""
        if self._speed is None:
            return FrameSpan(self.time(frame - 1), 1.0 / self.frame_rate, 1.0 / (self.frame_rate * count), count)
        end, length = self.time(frame), self._lengths[frame - self._begin]
        return FrameSpan(self.time(frame - 1), length, length / count, count, end)

    def position(self, time: float) -> float:
        """Return the place of a time [s] among the frames, counted from the first one [frames].

        Times before the frame at which the simulation began are known at the first frame only.
        """
        if self._speed is None or time <= 0.0:
            return time * self.frame_rate
        while time > self._times[-1] and not math.isclose(time, self._times[-1]):       # beyond rounding
            self.time(self._begin + len(self._times))
        later = len(self._times) - 1
        while later > 0 and time <= self._times[later - 1]:                             # the last frame but rarely
            later -= 1
        place = float(self._begin - self.first + later)
        if later == 0 or time >= self._times[later]:
            return place
        return place - (self._times[later] - time) / self._lengths[later]

    def _length(self, frame: int) -> float:
        """Return the length of the time from the frame before to `frame` [s]."""
        assert self._speed is not None
        speed: Any = self._speed(frame)
        if not (is_number(speed) and 0.0 < speed <= LARGEST):
            raise SceneError(f"the speed is {speed!r} at frame {frame}, it must be a number above 0; correct its "
                             "keyframes or driver")
        return float(speed) / self.frame_rate


def _one(frame: int) -> float:
    """Return the speed at which the frames have their own length."""
    return 1.0
