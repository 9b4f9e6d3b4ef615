# SPDX-License-Identifier: GPL-3.0-or-later
"""When the cores are tested, and what follows from a test."""

import pytest

from core.kernels.backend import why_not

pytestmark = pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")


def test_the_cores_are_tested_soon_on_one_thread_and_rarely_on_all(monkeypatch):
    from core.kernels.numba import thread_count

    asked, chosen = [], []
    free = iter([1, 1, 2, 2])

    def look():
        asked.append(len(chosen))
        return next(free)

    monkeypatch.setattr(thread_count, "_free_threads", look)
    monkeypatch.setattr(thread_count, "SLOW_FRAME", 1e9)                  # whatever else this machine does
    for name, value in {"_count": 0, "_frames": 0, "_called": 0.0}.items():
        monkeypatch.setattr(thread_count, name, value)
    while len(chosen) < 40:
        chosen.append(thread_count.settle())
    early = thread_count.FRAMES_PER_EARLY_TEST
    assert asked == [0, early, 2 * early, 2 * early + thread_count.FRAMES_PER_TEST]
    assert chosen == [1] * 2 * early + [2] * (40 - 2 * early)


def test_a_slow_frame_causes_an_early_test_but_not_one_after_the_other(monkeypatch):
    from core.kernels.numba import thread_count

    clock, asked = [0.0], []
    monkeypatch.setattr(thread_count, "_free_threads", lambda: asked.append(clock[0]) or 2)
    monkeypatch.setattr(thread_count, "perf_counter", lambda: clock[0])
    for name, value in {"_count": 0, "_frames": 0, "_called": 0.0}.items():
        monkeypatch.setattr(thread_count, name, value)
    for took in [1, 1, 1, 1, 3, 1, 3, 1, 3, 1, 1, 1, 1, 1]:
        clock[0] += took
        thread_count.settle()
    assert asked == [1, 7, 15]                                            # the first, then slow ones


def test_timings_end_when_the_rest_cannot_change_the_answer(monkeypatch):
    from core.kernels.numba import thread_count

    monkeypatch.setattr(thread_count.numba.config, "NUMBA_NUM_THREADS", 2)
    monkeypatch.setattr(thread_count, "_multiply", lambda *_: None)
    monkeypatch.setattr(thread_count, "in_parts", lambda *_: None)

    def count_for(late):
        """Tries, and threads, where these tries are late."""
        tried, times = [], iter(range(10 ** 6))

        def clock():
            at = next(times)
            number, part = divmod(at, 3)
            if part == 0:
                tried.append(number)
            return 100.0 * number + [0.0, 1.0, 2.0 + 5.0 * (number in late)][part]

        monkeypatch.setattr(thread_count, "perf_counter", clock)
        return thread_count._free_threads(), len(tried)

    timings, slow = thread_count.TIMINGS_PER_TEST, thread_count.MOST_SLOW_TIMINGS
    assert count_for(()) == (2, timings - slow)
    assert count_for((0, 1, 2)) == (1, slow + 1) and count_for((0, 3)) == (2, timings)
