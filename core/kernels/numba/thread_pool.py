# SPDX-License-Identifier: GPL-3.0-or-later
"""Share loops over ranges out to Python threads: compiled loops release the interpreter lock while they run.

Numba can share loops out itself, but then compiles every function below them three times, and each thread has to fetch
its part before the loop can end. Here the parts wait in one queue and the next free thread takes the next part: a
thread that starts late, because another program uses its core, finds the queue empty and delays no other thread.

A thread that has worked spins for a while (see `spin_wait`): to hand a part over to it takes some 10 microseconds, to a
sleeping thread 100.

Results do not depend on the threads: each number is written in one part, and no sum crosses the end of a part.
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

LEAST_SEARCHES = 64
"""Fewest searches in a tree, or items of about a microsecond, that are worth another thread [-]."""
LEAST_ELEMENTS = 256
"""Fewest tangents of groups of elements, or items of some 0.5 microseconds, that are worth another thread [-]."""
LEAST_ROWS = 512
"""Fewest products of rows of blocks, or items of some 30 nanoseconds, that are worth another thread [-]."""
LEAST_VERTICES = 2048
"""Fewest sums over the elements of a vertex, or items of some 10 nanoseconds, that are worth another thread [-]."""
LEAST_UPDATES = 24_576
"""Fewest numbers to update, in vectors or in a factor, that are worth another thread [-]."""
LEAST_SUMMANDS = 98_304
"""Fewest numbers to read, for a sum or for a solve with a factor, that are worth another thread [-]."""
PARTS_PER_THREAD = 2
"""Parts of a loop for each thread [-]: the loop waits for its last part, half a part on average."""
LONGEST_SPIN = 5e-4
"""Longest time that a thread spins until the next loop starts [s]: loops of a solve follow after a third of that."""
LOCK_AFTER_START, LOCK_AFTER_END = 1.2e-5, 3e-6
"""Time for which the interpreter lock is still held after a loop was started, and after one has ended [s]."""
STARTED, ENDED = 0, 8
"""Index in `_signals` of the number of the loop that was started last, and of the one that ended last: on cache lines
of their own."""

thread_limit: ContextVar[int] = ContextVar("threads", default=1)
"""Threads of the running simulation, the calling one among them: as `thread_count` has chosen."""
_numbers = counting(1)
_waiting: SimpleQueue[_Job] = SimpleQueue()
_workers: list[Thread] = []
_making = Lock()
_signals = np.zeros(16, dtype=np.int64)


class _Job:
    """A loop whose parts are taken by any threads."""

    def __init__(self, loop: Loop, ranges: Sequence[tuple[int, int]], arguments: tuple[Any, ...]) -> None:
        self.loop, self.arguments = loop, arguments
        self.number, self._before = next(_numbers), int(_signals[ENDED])
        self._ranges = iter(ranges)                                  # `next` is atomic under the interpreter lock
        self._ended, self._last = counting(1), len(ranges)
        self.errors: list[BaseException] = []
        self._over = Lock()
        self._over.acquire()

    def work(self) -> None:
        """Work on parts until none is left."""
        for begin, end in self._ranges:
            try:
                self.loop(begin, end, *self.arguments)
            except BaseException as error:                           # raised by the calling thread
                self.errors.append(error)
            finally:
                if next(self._ended) == self._last:
                    self._over.release()
                    _signals[ENDED] = self.number

    def wait(self) -> None:
        """Wait until all parts have ended."""
        if not self._over.acquire(blocking=False):
            wait(_signals, ENDED, self._before, LONGEST_SPIN, LOCK_AFTER_END)
            self._over.acquire()


def share(loop: Loop, count: int, least: int, *arguments: Any) -> None:
    """Call loop(begin, end, *arguments) for ranges that make up 0..count, on this thread and others.

    Args:
        least: shortest range of items that is worth another thread, one of the constants above.

    Raises:
        Exception: what the loop raised, after all parts have ended.
    """
    threads = thread_limit.get()
    parts = min(PARTS_PER_THREAD * threads, count // least)
    if threads == 1 or parts < 2:
        loop(0, count, *arguments)
    else:
        in_parts(loop, [(count * k // parts, count * (k + 1) // parts) for k in range(parts)], *arguments)


def in_parts(loop: Loop, ranges: Sequence[tuple[int, int]], *arguments: Any) -> None:
    """Call loop(begin, end, *arguments) for these ranges, as `share`."""
    others = min(thread_limit.get(), len(ranges)) - 1
    if others < 1:
        for begin, end in ranges:
            loop(begin, end, *arguments)
        return
    job = _Job(loop, ranges, arguments)
    _start_workers(others)
    for _ in range(others):
        _waiting.put(job)
    _signals[STARTED] = job.number
    job.work()
    job.wait()
    if job.errors:
        raise job.errors[0]


def _start_workers(count: int) -> None:
    """Start worker threads until there are `count`. They end with the process, and do not keep it alive."""
    while len(_workers) < count:
        with _making:
            if len(_workers) < count:
                _workers.append(Thread(target=_serve, args=(_waiting,), name="muslin kernels", daemon=True))
                _workers[-1].start()


def _serve(waiting: SimpleQueue[_Job]) -> None:
    """Run on a worker thread: take jobs from the queue and work on them, and spin or sleep between them."""
    while True:
        started = int(_signals[STARTED])
        if waiting.empty():
            wait(_signals, STARTED, started, LONGEST_SPIN, LOCK_AFTER_START)
        job = waiting.get()
        job.work()
        del job                                                      # free its arrays


def _forget() -> None:
    """Forget the parent's threads in a forked process, which has none of them."""
    global _waiting, _making
    _waiting, _making = SimpleQueue(), Lock()
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
