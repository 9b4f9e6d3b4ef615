# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting awake: it hears what another thread writes, and it does not wait for ever."""

import threading
import time

import numpy as np
import pytest

from core.kernels import backend

if backend.why_not("numba"):
    pytest.skip("needs Numba", allow_module_level=True)

from core.kernels.numba import thread_pool
from core.kernels.numba.spin_wait import wait

LONG = 20.0


def test_what_another_thread_writes_is_heard():
    bells, heard = np.zeros(2, dtype=np.int64), []
    listener = threading.Thread(target=lambda: heard.append(wait(bells, 1, 0, LONG, 0.0)))
    listener.start()
    time.sleep(0.05)
    bells[0] = 5                                                     # another one's
    time.sleep(0.05)
    assert not heard
    bells[1] = 7
    listener.join(LONG)
    assert heard == [7]


def test_nobody_waits_for_ever():
    bells = np.full(1, 3, dtype=np.int64)
    start = time.perf_counter()
    assert wait(bells, 0, 3, 1e-3, LONG) == 3
    assert time.perf_counter() - start < LONG


def test_threads_that_are_awake_and_threads_that_sleep_do_their_part():
    token = thread_pool.thread_limit.set(3)
    try:
        for pause in (0.0, 0.0, 3.0 * thread_pool.LONGEST_SPIN, 0.0, 100.0 * thread_pool.LONGEST_SPIN):
            time.sleep(pause)
            meeting, seen = threading.Barrier(3, timeout=LONG), []
            parts = [(k, k + 1) for k in range(3)]
            thread_pool.in_parts(lambda begin, end: (meeting.wait(), seen.append(begin)), parts)  # noqa: B023
            assert sorted(seen) == [0, 1, 2]
    finally:
        thread_pool.thread_limit.reset(token)
