# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting awake for a number that another thread writes, without the interpreter's lock.

A thread that sleeps begins a tenth of a millisecond after it is called, which is as long as many loops take. So threads
stay awake for a while after they have worked, and look at a number again and again. Whoever rings has the interpreter's
lock then and lets go of it some microseconds later; who hears it waits that long, because to ask for a lock that is
taken is to go to sleep after all.
"""

from __future__ import annotations

from functools import cache
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from ...arrays import IntArray
from .options import KERNEL

LOOKS, TRIES = 100_000, 3
"""How many looks are timed, and how often."""


@intrinsic
def _look(_: Any, bells: Any, place: Any) -> Any:
    """What is in the memory at bells[place], and not what was there before."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(builder.gep(array.data, [arguments[1]]), "acquire", 8)

    return types.int64(bells, types.intp), generate


def wait(bells: IntArray, place: int, last: int, most: float, after: float) -> int:
    """What bells[place] is once it is no longer `last`, and `after` [s] later; or as it is after `most` [s]."""
    return int(_hear(bells, place, last, int(most * _looks()), int(after * _looks())))


@cache
def _looks() -> float:
    """How often a thread looks in a second."""
    bells, rate = np.zeros(1, dtype=np.int64), 0.0
    _hear(bells, 0, 0, 1, 1)
    for _ in range(TRIES):
        start = perf_counter()
        _hear(bells, 0, 0, LOOKS, 0)
        rate = max(rate, LOOKS / (perf_counter() - start))
    return rate


@njit(**KERNEL)
def _hear(bells: Any, place: Any, last: Any, most: Any, after: Any) -> Any:
    """What bells[place] is once it is no longer `last`, and `after` looks later; or as it is after `most` looks."""
    value = _look(bells, place)
    for _ in range(most):
        if value != last:
            break
        value = _look(bells, place)
    if value != last:
        for _ in range(after):
            _look(bells, place)
    return value
