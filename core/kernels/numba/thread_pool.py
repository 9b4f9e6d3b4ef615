# SPDX-License-Identifier: GPL-3.0-or-later
"""Share loops over ranges out to threads, which work in compiled code without the interpreter.

A loop's parts wait in one queue, and the next free thread takes the next part (see `parallel_loop`). Numba can share
loops out itself, but then compiles every function below them three times, and each thread has to fetch its part before
the loop can end.

The threads are made by Python, enter a compiled function and stay there. One that has had nothing to do for a while
leaves it and sleeps, until a loop is shared out from Python: to hand a part over to it takes some 100 microseconds, to
a thread that is awake less than one.

Results do not depend on the threads: each number is written in one part, and no sum crosses the end of a part.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from threading import Lock, Thread, get_ident
from time import perf_counter
from typing import Any

import numpy as np

from ...arrays import IntArray
from .kernel_cache import for_kernels, named, njit
from .options import KERNEL
from .parallel_loop import AT, hand_out_address, handed_out, published, raise_again, serve

Loop = Callable[..., Any]

LEAST_SEARCHES = 16
"""Fewest searches in a tree, or items of about a microsecond, that are worth another thread [-]."""
LEAST_ELEMENTS = 64
"""Fewest tangents of groups of elements, or items of some 0.5 microseconds, that are worth another thread [-]."""
LEAST_ROWS = 128
"""Fewest products of rows of blocks, or items of some 30 nanoseconds, that are worth another thread [-]."""
LEAST_VERTICES = 512
"""Fewest sums over the elements of a vertex, or items of some 10 nanoseconds, that are worth another thread [-]."""
LEAST_UPDATES = 24_576
"""Fewest numbers to update, in vectors or in a factor, that are worth another thread [-]."""
LEAST_SUMMANDS = 24_576
"""Fewest numbers to read, for a sum or for a solve with a factor, that are worth another thread [-]."""
PARTS_PER_THREAD = 2
"""Parts of a loop for each thread [-]: the loop waits for its last part, half a part on average."""
LONGEST_SPIN = 5e-4
"""Longest time that a thread stays awake until the next loop starts [s]: loops of a solve follow after a third of
that."""
TURNS = 16
"""Times in `LONGEST_SPIN` at which a waiting thread offers its core to others [-]: where they take it, it waits longer,
but uses no more of the processor."""
TIMED_LOOKS, TIMINGS = 2000, 3
"""Looks of a waiting thread in a measurement of how long they take, and number of measurements [-]."""
LONGEST_END = 1.0
"""Longest time for which `stop` waits for a thread [s]."""

thread_limit: ContextVar[int] = ContextVar("threads", default=1)
"""Threads of the running simulation, the calling one among them: as `thread_count` has chosen."""


class Team:
    """Threads that work on loops together.

    Attributes:
        shared: the numbers by which they communicate, see `parallel_loop`.
        workers: the threads, apart from the calling one.
        calls: number of threads that each thread of Python wants for the loop it has called.
        sleeping: a lock for each thread that sleeps, by its number; the thread wakes up when it is released.
    """

    def __init__(self) -> None:
        self.shared: IntArray = np.zeros(AT.end, dtype=np.int64)
        self.shared[AT.offer], self.shared[AT.turn], self.shared[AT.hand_out] = yield_address(), 1, hand_out_address()
        self.workers: list[Thread] = []
        self.calls: dict[int, int] = {}
        self.sleeping: dict[int, Any] = {}
        self._making = Lock()

    def call(self, helpers: int) -> None:
        """Wake up so many threads, and start those that are missing. They do not keep the process alive."""
        self._wake(helpers)
        while len(self.workers) < helpers:
            self.shared[AT.turn] = looks_per_turn()
            with self._making:
                number = len(self.workers)
                if number < helpers:
                    self.workers.append(Thread(target=self._serve, args=(number,), name="muslin kernels", daemon=True))
                    self.workers[-1].start()

    def _wake(self, most: int) -> None:
        """Wake up the threads with numbers below `most` that sleep."""
        for number in list(self.sleeping) if self.sleeping else ():
            gate = self.sleeping.pop(number, None) if number < most else None
            if gate is not None:
                gate.release()

    def stop(self) -> None:
        """End all threads, after the parts that they work on."""
        self.shared[AT.stopped] = 1
        self._wake(len(self.workers))
        for worker in self.workers:
            worker.join(LONGEST_END)

    def _serve(self, number: int) -> None:
        """Run on a worker thread: work on loops, and sleep where none has started for a while."""
        gate = Lock()
        gate.acquire()
        while True:
            serve(self.shared, number, TURNS)
            if self.shared[AT.stopped]:
                return
            self.sleeping[number] = gate                             # before these looks, see `call` and `stop`
            wanted = self.shared[AT.stopped] or max(list(self.calls.values()), default=0) > number
            if not wanted or self.sleeping.pop(number, None) is None:
                gate.acquire()


def share(loop: Loop, count: int, least: int, *arguments: Any) -> None:
    """Call loop(begin, end, *arguments) for ranges that make up 0..count, on this thread and others.

    Args:
        loop: a function compiled with `njit`.
        least: shortest range of items that is worth another thread, one of the constants above.

    Raises:
        Exception: what the loop raised, after all parts have ended.
    """
    threads = thread_limit.get()
    _run(loop, threads, min(PARTS_PER_THREAD * threads, count // least), count, arguments)


def share_singly(loop: Loop, count: int, *arguments: Any) -> None:
    """Call loop(k, k + 1, *arguments) for each k < count, as `share`."""
    _run(loop, thread_limit.get(), count, count, arguments)


def run_together(kernel: Loop, most: int, *arguments: Any) -> Any:
    """Return kernel(team, threads, *arguments): a compiled function that calls several loops by `share_parts`.

    most: largest number of threads that are worth their time, the calling one among them.
    """
    return _called(kernel, min(thread_limit.get(), most), arguments)


def team() -> Team:
    """Return the threads of this process, made when they are first wanted."""
    global _team
    found = _team
    if found is None:
        with _making:
            found = _team = _team or Team()
    return found


def stop() -> None:
    """End the threads. The next loop makes new ones."""
    global _team
    before, _team = _team, None
    if before is not None:
        before.stop()


def _run(loop: Loop, threads: int, parts: int, count: int, arguments: tuple[Any, ...]) -> None:
    _called(_shared_out(loop), min(threads, parts), (parts, count, *arguments))


def _called(kernel: Loop, threads: int, arguments: tuple[Any, ...]) -> Any:
    """Return kernel(team, threads, *arguments), with that many threads awake."""
    workers = team()
    if threads < 2:
        return kernel(workers.shared, 1, *arguments)
    caller = get_ident()
    try:
        workers.calls[caller] = threads - 1                          # before the look at who sleeps
        workers.call(threads - 1)
        return kernel(workers.shared, threads, *arguments)
    finally:
        workers.calls.pop(caller, None)


@cache
def _shared_out(loop: Loop) -> Loop:
    """Return a compiled function that calls a loop in parts, by the other arguments of `share_parts`."""
    inner = for_kernels(loop)

    @njit(**KERNEL)
    @_named_like(loop)
    def shared_out(team, threads, parts, count, *arguments):  # type: ignore[no-untyped-def]
        code, record = published(inner, arguments)                   # without a function between, to compile less
        raise_again(handed_out(team, threads, parts, count, code, record))

    return shared_out                                                # type: ignore[no-any-return]


def _named_like(loop: Loop) -> Callable[[Loop], Loop]:
    """Return a decorator that names a function after a loop: compiled functions of one name and types are one."""
    code: Any = loop.__code__
    place = f"{loop.__module__.rpartition('.')[2]}.{code.co_qualname}"
    return lambda function: named(function, f"share{code.co_name}", f"share.{place}")


@cache
def yield_address() -> int:
    """Return the address of the system's function by which a thread offers its core to others, 0 if it has none."""
    try:
        if sys.platform == "win32":
            function = ctypes.WinDLL("kernel32").SwitchToThread
        else:
            function = ctypes.CDLL(None).sched_yield
    except (OSError, AttributeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def looks_per_turn() -> int:
    """Return how often a waiting thread looks at a number in a turn."""
    shared, took = np.zeros(AT.end, dtype=np.int64), float("inf")
    shared[AT.turn] = TIMED_LOOKS
    serve(shared, 0, 1)                                              # compile, or load
    for _ in range(TIMINGS):
        start = perf_counter()
        serve(shared, 0, 1)
        took = min(took, perf_counter() - start)
    return max(1, int(LONGEST_SPIN / TURNS / took * TIMED_LOOKS))


def _forget() -> None:
    """Forget the parent's threads in a forked process, which has none of them."""
    global _team, _making
    _team, _making = None, Lock()


def _end() -> None:
    """End the threads with the interpreter: loops then run on their callers."""
    if _team is not None:
        _team.stop()


_team: Team | None = None
_making = Lock()
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
