# SPDX-License-Identifier: GPL-3.0-or-later
"""Spin until another thread writes a number, without holding the interpreter lock.

A sleeping thread starts a tenth of a millisecond after it is called, which is as long as many loops take. So threads
spin for a while after they have worked: they read a number again and again. The thread that writes it holds the
interpreter lock then, and releases it some microseconds later. The spinning thread waits that long, because a thread
that requests a lock while it is held goes to sleep.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from ...arrays import IntArray
from .kernel_cache import njit
from .options import KERNEL

TIMED_READS, TIMINGS = 100_000, 3
"""Reads in one measurement of how many a thread makes in a second, and number of measurements [-]."""


@intrinsic
def _read(_: Any, signals: Any, place: Any) -> Any:
    """Return signals[place] as it is in memory now, never a value that the compiler kept in a register."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(builder.gep(array.data, [arguments[1]]), "acquire", 8)

    return types.int64(signals, types.intp), generate


def wait(signals: IntArray, place: int, last: int, most: float, after: float) -> int:
    """Return signals[place] once it is no longer `last`, `after` [s] later; or as it is after `most` [s]."""
    return int(_spin(signals, place, last, int(most * _read_rate()), int(after * _read_rate())))


@cache
def _read_rate() -> float:
    """Return how many reads a thread makes in a second [1/s]."""
    signals, rate = np.zeros(1, dtype=np.int64), 0.0
    _spin(signals, 0, 0, 1, 1)
    for _ in range(TIMINGS):
        start = perf_counter()
        _spin(signals, 0, 0, TIMED_READS, 0)
        rate = max(rate, TIMED_READS / (perf_counter() - start))
    return rate


@njit(**KERNEL)
def _spin(signals: Any, place: Any, last: Any, most: Any, after: Any) -> Any:
    """Return signals[place] once it is no longer `last`, `after` reads later; or as it is after `most` reads."""
    value = _read(signals, place)
    for _ in range(most):
        if value != last:
            break
        value = _read(signals, place)
    if value != last:
        for _ in range(after):
            _read(signals, place)
    return value
