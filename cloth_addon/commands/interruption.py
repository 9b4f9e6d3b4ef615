# SPDX-License-Identifier: GPL-3.0-or-later
"""End a command when a signal comes, by KeyboardInterrupt; the frames that it has solved are kept.

A signal that comes while a result is saved, or when all work is done, is too late to interrupt that: it is held, and
ends the command before its next bake, if there is one.

Numba's compiler calls Python from C, and exceptions that are raised there are lost. If the signal comes while it runs,
KeyboardInterrupt is raised when the compiler returns.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = "SIGTERM", "SIGHUP", "SIGINT"
"""Signals by which a render farm, a closed terminal or Ctrl-C ends a command."""
COMPILERS = frozenset(("numba", "llvmlite"))
"""Packages in whose code no exception is raised."""


class _Signals:
    """Store the state of the handlers: `held`, signals do not interrupt now; `came`, one has come meanwhile."""

    held = False
    came = False


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Let the signals that end a command interrupt what is done in this context; those that are ignored stay so."""
    _Signals.held = _Signals.came = False
    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, None):
                before[number] = signal.signal(number, _interrupt)
    try:
        yield
    finally:
        _Signals.held = True
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def hold() -> None:
    """Let no signal interrupt what follows, until `go_on`: it must not be left half done."""
    _Signals.held = True


def go_on() -> None:
    """Let signals interrupt again.

    Raises:
        KeyboardInterrupt: one came while they were held.
    """
    _Signals.held = False
    if _Signals.came:
        raise KeyboardInterrupt


def _interrupt(_number: int, frame: FrameType | None) -> None:
    if _Signals.held:
        _Signals.came = True
        return
    caller = _caller_of_compiler(frame)
    if caller is None:
        raise KeyboardInterrupt

    def returned(_frame: FrameType, _event: str, _argument: Any) -> None:
        sys.settrace(None)
        raise KeyboardInterrupt

    caller.f_trace = returned
    sys.settrace(lambda *_: None)


def _caller_of_compiler(frame: FrameType | None) -> FrameType | None:
    """Return the frame that has called the compiler in which `frame` runs; None outside of it."""
    found = None
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in COMPILERS:
            found = frame.f_back
        frame = frame.f_back
    return found
