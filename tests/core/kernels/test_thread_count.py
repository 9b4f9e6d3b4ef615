# SPDX-License-Identifier: GPL-3.0-or-later
"""When it is looked whether the cores are free."""

import pytest

from core.kernels.backend import why_not

pytestmark = pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")


def test_one_thread_is_soon_looked_at_again_and_all_of_them_rarely(monkeypatch):
    from core.kernels.numba import thread_count

    asked, chosen = [], []
    free = iter([1, 1, 2, 2])

    def look():
        asked.append(len(chosen))
        return next(free)

    monkeypatch.setattr(thread_count, "_free", look)
    monkeypatch.setattr(thread_count, "SLOW", 1e9)                        # whatever else this machine does
    for name, value in {"_count": 0, "_frames": 0, "_called": 0.0}.items():
        monkeypatch.setattr(thread_count, name, value)
    while len(chosen) < 40:
        chosen.append(thread_count.settle())
    assert asked == [0, thread_count.SOON, 2 * thread_count.SOON, 2 * thread_count.SOON + thread_count.OFTEN]
    assert chosen == [1] * 2 * thread_count.SOON + [2] * (40 - 2 * thread_count.SOON)


def test_a_slow_frame_is_looked_into_but_not_one_after_the_other(monkeypatch):
    from core.kernels.numba import thread_count

    clock, asked = [0.0], []
    monkeypatch.setattr(thread_count, "_free", lambda: asked.append(clock[0]) or 2)
    monkeypatch.setattr(thread_count, "perf_counter", lambda: clock[0])
    for name, value in {"_count": 0, "_frames": 0, "_called": 0.0}.items():
        monkeypatch.setattr(thread_count, name, value)
    for took in [1, 1, 1, 1, 3, 1, 3, 1, 3, 1, 1, 1, 1, 1]:
        clock[0] += took
        thread_count.settle()
    assert asked == [1, 7, 15]                                            # the first, then slow ones


def test_it_is_tried_until_it_is_clear(monkeypatch):
    from core.kernels.numba import thread_count

    monkeypatch.setattr(thread_count.numba.config, "NUMBA_NUM_THREADS", 2)
    monkeypatch.setattr(thread_count, "_turn", lambda *_: None)
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
        return thread_count._free(), len(tried)

    assert count_for(()) == (2, thread_count.TRIES - thread_count.FEW)
    assert count_for((0, 1, 2)) == (1, thread_count.FEW + 1) and count_for((0, 3)) == (2, thread_count.TRIES)
