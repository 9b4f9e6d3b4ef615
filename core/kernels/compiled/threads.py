# SPDX-License-Identifier: GPL-3.0-or-later
"""How many threads the kernels take: all while they are free, one while others want the cores.

A kernel of a millisecond ends when its last thread does. Where another program has a core, that thread waits for its
turn, many milliseconds, in every kernel: two threads were seen to be fifty times slower than one. So an empty kernel
is run now and then, and if it does not come back at once, one thread works alone for a while. Results do not depend
on it: no kernel's sums do.

Where the cores are taken the empty kernel is slow itself, so it is run every `OFTEN` frames, or when a frame took
`SLOW` times as long as the quickest since.
"""

from __future__ import annotations

from time import perf_counter

import numba
import numpy as np
from numba import njit, prange

PROMPT = 2e-4
"""Seconds in which an empty kernel is back where the cores are free; a few millionths is usual [s]."""
TRIES, FEW = 6, 2
"""How often the empty kernel is run, and how often it may be late."""
OFTEN = 24
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
    if _count == 0 or _frames >= OFTEN or took > SLOW * _quickest:
        _count, _frames, _quickest = _free(), 0, np.inf
        _called = perf_counter()
    else:
        _quickest = min(_quickest, took)
    numba.set_num_threads(_count)                                    # it is each Python thread's own
    return _count


def _free() -> int:
    """All threads if an empty kernel comes back from them at once, else one."""
    every = int(numba.config.NUMBA_NUM_THREADS)
    numba.set_num_threads(every)
    marks = np.zeros(every * 64)
    _touch(marks)                                                    # compiled or woken up
    late = 0
    for _ in range(TRIES):
        start = perf_counter()
        _touch(marks)
        late += perf_counter() - start > PROMPT
        if late > FEW:
            return 1
    return every


@njit(cache=True, parallel=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _touch(marks):  # type: ignore[no-untyped-def]
    for i in prange(len(marks)):
        marks[i] += 1.0
