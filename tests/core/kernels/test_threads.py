# SPDX-License-Identifier: GPL-3.0-or-later
"""When it is looked whether the cores are free."""

import pytest

from core.kernels.backend import why_not

pytestmark = pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")


def test_one_thread_is_soon_looked_at_again_and_all_of_them_rarely(monkeypatch):
    from core.kernels.compiled import threads

    asked, chosen = [], []
    free = iter([1, 1, 2, 2])

    def look():
        asked.append(len(chosen))
        return next(free)

    monkeypatch.setattr(threads, "_free", look)
    monkeypatch.setattr(threads, "SLOW", 1e9)                        # whatever else this machine does
    for name, value in {"_count": 0, "_frames": 0, "_called": 0.0}.items():
        monkeypatch.setattr(threads, name, value)
    while len(chosen) < 40:
        chosen.append(threads.settle())
    assert asked == [0, threads.SOON, 2 * threads.SOON, 2 * threads.SOON + threads.OFTEN]
    assert chosen == [1] * 2 * threads.SOON + [2] * (40 - 2 * threads.SOON)


def test_a_slow_frame_is_looked_into_but_not_one_after_the_other(monkeypatch):
    from core.kernels.compiled import threads

    clock, asked = [0.0], []
    monkeypatch.setattr(threads, "_free", lambda: asked.append(clock[0]) or 2)
    monkeypatch.setattr(threads, "perf_counter", lambda: clock[0])
    for name, value in {"_count": 0, "_frames": 0, "_called": 0.0}.items():
        monkeypatch.setattr(threads, name, value)
    for took in [1, 1, 1, 1, 3, 1, 3, 1, 3, 1, 1, 1, 1, 1]:
        clock[0] += took
        threads.settle()
    assert asked == [1, 7, 15]                                            # the first, then slow ones


def test_it_is_tried_until_it_is_clear(monkeypatch):
    from core.kernels.compiled import threads

    monkeypatch.setattr(threads.numba.config, "NUMBA_NUM_THREADS", 2)
    monkeypatch.setattr(threads, "_turn", lambda *_: None)
    monkeypatch.setattr(threads, "in_parts", lambda *_: None)

    def count_for(late):
        """Tries, and threads, where these tries are late."""
        tried, times = [], iter(range(10 ** 6))

        def clock():
            at = next(times)
            number, part = divmod(at, 3)
            if part == 0:
                tried.append(number)
            return 100.0 * number + [0.0, 1.0, 2.0 + 5.0 * (number in late)][part]

        monkeypatch.setattr(threads, "perf_counter", clock)
        return threads._free(), len(tried)

    assert count_for(()) == (2, threads.TRIES - threads.FEW)
    assert count_for((0, 1, 2)) == (1, threads.FEW + 1) and count_for((0, 3)) == (2, threads.TRIES)
