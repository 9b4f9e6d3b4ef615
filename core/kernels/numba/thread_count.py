# SPDX-License-Identifier: GPL-3.0-or-later
"""Choose the number of threads: up to eight cores while they are free, one thread while other programs use the cores.

Where another program uses a core, a thread on it stops for many milliseconds, and a kernel that waits for this thread
is slower than on one thread. So from time to time a small piece of work is timed on every thread; if that takes longer
than the same work on one thread, the kernels run on one thread for a while. Results do not depend on the choice.

The cores are tested every `FRAMES_PER_TEST` frames, or `FRAMES_PER_EARLY_TEST` while one thread runs, which would leave
free cores idle for longer, or after a frame that took `SLOW_FRAME` times as long as the fastest since the last test.
The durations of frames differ by as much without other programs, and a test takes a part of a frame.

The module globals measure the machine's load. No result depends on them.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numba
import numpy as np

from .kernel_cache import njit
from .options import KERNEL
from .thread_pool import share_singly, thread_limit

TEST_MULTIPLICATIONS = 500_000
"""Multiplications of each thread in a timing [-]: about a millisecond, ten times what a sleeping thread needs to
start."""
SLOW_TIMING = 1.5
"""Duration of the work on all threads above which a timing is slow, over that on one thread [-]."""
TIMINGS_PER_TEST, MOST_SLOW_TIMINGS = 6, 2
"""Timings in a test, and how many of them may be slow where the cores are free [-]."""
FRAMES_PER_TEST, FRAMES_PER_EARLY_TEST = 24, 4
"""Frames from test to test, on all threads and on one [-]."""
SLOW_FRAME = 2.0
"""Duration of a frame above which the cores are tested early, over the fastest frame since the last test [-]."""

MOST_THREADS, MOST_SIBLINGS = 8, 4
"""Largest number of threads by default [-], on cores of their own, and where two may share a core."""

_count = 0                                                           # threads chosen last; 0 before the first test
_frames = 0                                                          # frames since then
_fastest = np.inf                                                    # of these frames [s]
_called = 0.0                                                        # start of the last frame [s]


def settle() -> int:
    """Choose the number of threads of the next frame, and return it."""
    global _count, _frames, _fastest, _called
    now = perf_counter()
    took, _called = now - _called, now
    _frames += 1
    slow = _frames >= FRAMES_PER_EARLY_TEST and took > SLOW_FRAME * _fastest
    if _count == 0 or slow or _frames >= (FRAMES_PER_TEST if _count > 1 else FRAMES_PER_EARLY_TEST):
        _count, _frames, _fastest = _free_threads(), 0, np.inf
        _called = perf_counter()
    else:
        _fastest = min(_fastest, took)
    thread_limit.set(_count)
    return _count


def _free_threads() -> int:
    """Return the number of all threads if they work as fast in parallel as one thread alone, else 1.

    The environment variable NUMBA_NUM_THREADS says how many; without it `_default` does.
    """
    every = int(numba.config.NUMBA_NUM_THREADS)
    if "NUMBA_NUM_THREADS" not in os.environ:
        every = _default(every, _cores())
    if every == 1:
        return 1
    thread_limit.set(every)
    marks = np.ones(every)
    alone, slow, left = np.inf, 0, TIMINGS_PER_TEST
    _multiply(0, 1, marks)                                           # compile, or wake up
    share_singly(_multiply, every, marks)
    while slow <= MOST_SLOW_TIMINGS < slow + left:                   # until the rest cannot change the answer
        left -= 1
        start = perf_counter()
        _multiply(0, 1, marks)
        middle = perf_counter()
        share_singly(_multiply, every, marks)
        alone = min(alone, middle - start)
        slow += perf_counter() - middle > SLOW_TIMING * alone
    return 1 if slow > MOST_SLOW_TIMINGS else every


def _default(processors: int, cores: int) -> int:
    """Return the number of threads on so many processors, as the system counts them, of so many cores."""
    return min(processors, max(min(cores, MOST_THREADS), MOST_SIBLINGS))


@cache
def _cores() -> int:
    """Return the number of cores that this process may use; where the system does not tell, half its processors.

    Two processors are one core on most machines that have more than `MOST_SIBLINGS`.
    """
    try:
        own = {Path(f"/sys/devices/system/cpu/cpu{number}/topology/core_cpus_list").read_text()
               for number in os.sched_getaffinity(0)}
        return len(own)
    except (OSError, AttributeError):
        return (os.cpu_count() or 1) // 2


@njit(**KERNEL)
def _multiply(begin: Any, end: Any, marks: Any) -> None:
    """Do a fixed amount of work for items begin..end - 1; its result in `marks` keeps the compiler from removing it."""
    for k in range(begin, end):
        value = marks[k]
        for _ in range(TEST_MULTIPLICATIONS):
            value = 0.5 * value + 0.5
        marks[k] = value
