# SPDX-License-Identifier: GPL-3.0-or-later
"""End a command when a signal comes, by KeyboardInterrupt; the frames that it has solved are kept.

Numba's compiler calls Python from C, and exceptions that are raised there are lost. If the signal comes while it runs,
KeyboardInterrupt is raised when the compiler returns.
"""

from __future__ import annotations

import signal
import sys
import threading
from types import FrameType
from typing import Any

SIGNALS = "SIGTERM", "SIGHUP", "SIGINT"
"""Signals by which a render farm, a closed terminal or Ctrl-C ends a command."""
COMPILERS = frozenset(("numba", "llvmlite"))
"""Packages in whose code no exception is raised."""


def interrupt_by_signals() -> None:
    """Let the signals that end a command interrupt it; those that are ignored stay so."""
    if threading.current_thread() is not threading.main_thread():
        return
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler, None):
            signal.signal(number, _interrupt)


def _interrupt(_number: int, frame: FrameType | None) -> None:
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
