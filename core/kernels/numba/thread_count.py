# SPDX-License-Identifier: GPL-3.0-or-later
"""How many threads the kernels take: all while they are free, one while others want the cores.

Where another program has a core, a thread that works there stops for many milliseconds, and a kernel that waits for it
is slower than on one thread. So now and then a bit of work is done for every thread, and if that takes longer than the
same bit on one, the kernels take one thread for a while. Results do not depend on it: no kernel's sums do.

It is tried every `OFTEN` frames; after `SOON` already while one thread works, which would waste free cores longer, or
when a frame took `SLOW` times as long as the quickest since: frames of their own differ as much, where cloth meets what
it falls on, and trying takes as long as a part of one.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numba
import numpy as np
from numba import njit

from .options import KERNEL
from .thread_pool import in_parts, lanes

TURNS = 500_000
"""Multiplications in a bit of work: about a millisecond, beside which it is little that a thread which sleeps, on a
core that sleeps, too, begins a tenth of one late."""
LATE = 1.5
"""How long bits side by side may take where the cores are free, over one alone [-]."""
TRIES, FEW = 6, 2
"""How often they are tried, and how often they may be late."""
OFTEN, SOON = 24, 4
SLOW = 2.0

_count = 0                                                           # threads chosen last; 0: never
_frames = 0                                                          # since then
_quickest = np.inf                                                   # of these [s]
_called = 0.0                                                        # when a frame began last [s]


def settle() -> int:
    """Choose for the frame that comes next, and say how many."""
    global _count, _frames, _quickest, _called
    now = perf_counter()
    took, _called = now - _called, now
    _frames += 1
    slow = _frames >= SOON and took > SLOW * _quickest
    if _count == 0 or slow or _frames >= (OFTEN if _count > 1 else SOON):
        _count, _frames, _quickest = _free(), 0, np.inf
        _called = perf_counter()
    else:
        _quickest = min(_quickest, took)
    lanes.set(_count)
    return _count


def _free() -> int:
    """All threads if they are as quick side by side as one alone, else one."""
    every = int(numba.config.NUMBA_NUM_THREADS)
    if every == 1:
        return 1
    lanes.set(every)
    marks = np.ones(every)
    alone, late, left = np.inf, 0, TRIES
    _turn(0, 1, marks)                                               # compiled or woken up
    in_parts(_turn, [(k, k + 1) for k in range(every)], marks)
    while late <= FEW < late + left:                                 # until it is clear
        left -= 1
        start = perf_counter()
        _turn(0, 1, marks)
        middle = perf_counter()
        in_parts(_turn, [(k, k + 1) for k in range(every)], marks)
        alone = min(alone, middle - start)
        late += perf_counter() - middle > LATE * alone
    return 1 if late > FEW else every


@njit(**KERNEL)
def _turn(begin: Any, end: Any, marks: Any) -> None:
    for k in range(begin, end):
        value = marks[k]
        for _ in range(TURNS):
            value = 0.5 * value + 0.5
        marks[k] = value
