# SPDX-License-Identifier: GPL-3.0-or-later
"""How many threads the kernels take: all while they are free, one while others want the cores.

A kernel of a millisecond ends when its last thread does. Where another program has a core, that thread waits for its
turn, many milliseconds, in every kernel: two threads were seen to be fifty times slower than one. So an empty kernel
is run now and then, and if it does not come back at once, one thread works alone for a while. Results do not depend
on it: no kernel's sums do.
"""

from __future__ import annotations

from time import perf_counter

import numba
import numpy as np
from numba import njit, prange

PROMPT = 2e-4
"""Seconds in which an empty kernel is back where the cores are free; a few millionths is usual [s]."""
TRIES = 6


def settle() -> int:
    """Choose for what comes next, and say how many."""
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    marks = np.zeros(numba.config.NUMBA_NUM_THREADS * 64)
    _touch(marks)                                                # compiled or woken up
    late = 0
    for _ in range(TRIES):
        start = perf_counter()
        _touch(marks)
        late += perf_counter() - start > PROMPT
    count = 1 if late > TRIES // 3 else numba.config.NUMBA_NUM_THREADS
    numba.set_num_threads(count)
    return int(count)


@njit(cache=True, parallel=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _touch(marks):  # type: ignore[no-untyped-def]
    for i in prange(len(marks)):
        marks[i] += 1.0
