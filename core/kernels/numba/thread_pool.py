# SPDX-License-Identifier: GPL-3.0-or-later
"""Loops over ranges, shared out to Python threads: compiled loops let go of the interpreter's lock while they run.

Numba can share a loop out by itself, but then compiles all that is below it three times, and every thread has to come
for its part before the loop ends. Here the parts lie in one place and whoever is free takes the next: a thread that
wakes up late, because another program has its core, finds nothing left to do, and nobody waits for it.

A thread that has worked stays awake for a while (see `bell`). Handing over to it takes ten millionths of a second, to
one that sleeps a hundred.

Which thread works on which part makes no difference to what comes out: each number is written by one part, and no sum
goes over a part's ends.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from itertools import count as counting
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

import numpy as np

from .spin_wait import wait

Loop = Callable[..., Any]

PARTS = 2
"""Parts for each thread: the last one to end is waited for, half a part in the mean."""
AWAKE = 5e-4
"""How long a thread waits awake for the next loop [s]: between two of a solve is a third of that."""
AFTER_CALL, AFTER_END = 1.2e-5, 3e-6
"""How long the interpreter's lock is still taken after a loop was called out, and after one has ended [s]."""
CALLED, ENDED = 0, 8
"""Where in `_bells` the number of the loop called out last is, and that of the one that ended last: on cache lines of
their own."""

lanes: ContextVar[int] = ContextVar("threads", default=1)
"""Threads that the running simulation takes, the calling one among them: what `threads` chose."""
_numbers = counting(1)
_waiting: SimpleQueue[_Job] = SimpleQueue()
_workers: list[Thread] = []
_making = Lock()
_bells = np.zeros(16, dtype=np.int64)


class _Job:
    """A loop whose parts any thread may take."""

    def __init__(self, loop: Loop, ranges: Sequence[tuple[int, int]], arguments: tuple[Any, ...]) -> None:
        self.loop, self.arguments = loop, arguments
        self.number, self._before = next(_numbers), int(_bells[ENDED])
        self._ranges = iter(ranges)                                  # the interpreter's lock keeps `next` whole
        self._ended, self._last = counting(1), len(ranges)
        self.errors: list[BaseException] = []
        self._over = Lock()
        self._over.acquire()

    def work(self) -> None:
        """Take parts until there are none."""
        for begin, end in self._ranges:
            try:
                self.loop(begin, end, *self.arguments)
            except BaseException as error:                           # the caller's to deal with, whoever met it
                self.errors.append(error)
            finally:
                if next(self._ended) == self._last:
                    self._over.release()
                    _bells[ENDED] = self.number

    def wait(self) -> None:
        """Until no part is being worked on."""
        if not self._over.acquire(blocking=False):
            wait(_bells, ENDED, self._before, AWAKE, AFTER_END)
            self._over.acquire()


def share(loop: Loop, count: int, least: int, *arguments: Any) -> None:
    """loop(begin, end, *arguments) for ranges that make up 0..count, `least` long or more: on this thread and others.

    Raises:
        Exception: what the loop raised, after all parts have ended.
    """
    threads = lanes.get()
    parts = min(PARTS * threads, count // least)
    if threads == 1 or parts < 2:
        loop(0, count, *arguments)
    else:
        in_parts(loop, [(count * k // parts, count * (k + 1) // parts) for k in range(parts)], *arguments)


def in_parts(loop: Loop, ranges: Sequence[tuple[int, int]], *arguments: Any) -> None:
    """loop(begin, end, *arguments) for these ranges, as `share`."""
    helpers = min(lanes.get(), len(ranges)) - 1
    if helpers < 1:
        for begin, end in ranges:
            loop(begin, end, *arguments)
        return
    job = _Job(loop, ranges, arguments)
    _hire(helpers)
    for _ in range(helpers):
        _waiting.put(job)
    _bells[CALLED] = job.number
    job.work()
    job.wait()
    if job.errors:
        raise job.errors[0]


def _hire(helpers: int) -> None:
    """Have so many threads that wait for work: as long as the process lives, which they do not keep alive."""
    while len(_workers) < helpers:
        with _making:
            if len(_workers) < helpers:
                _workers.append(Thread(target=_serve, args=(_waiting,), name="muslin kernels", daemon=True))
                _workers[-1].start()


def _serve(waiting: SimpleQueue[_Job]) -> None:
    while True:
        called = int(_bells[CALLED])
        if waiting.empty():
            wait(_bells, CALLED, called, AWAKE, AFTER_CALL)
        job = waiting.get()
        job.work()
        del job                                                      # and what it worked on


def _forget() -> None:
    """A process that was forked has none of its parent's threads."""
    global _waiting, _making
    _waiting, _making = SimpleQueue(), Lock()
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
