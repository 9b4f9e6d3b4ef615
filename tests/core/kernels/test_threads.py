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
