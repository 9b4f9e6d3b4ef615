# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that compiles kernels beside this one, so that the first simulation need not wait for them.

It has the lowest priority, keeps each kernel on disk as soon as it is compiled, and ends with this process.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..description.settings import Solver
from ..errors import CacheError
from ..kernels import backend
from .solver_process import command_of


class KernelProcess:
    """A process that compiles the kernels for a solver and models with Numba, started at once.

    Raises:
        CacheError: it cannot be started.
    """

    def __init__(self, solver: Solver, models: Sequence[str]) -> None:
        command = command_of("kernel_main", str(backend.cache_folder().parent), {**asdict(solver), "backend": "numba"},
                             list(models))
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.STDOUT, text=True, errors="replace",
                                             cwd=Path(sys.executable or sys.prefix).anchor or None, **_in_background())
        except (OSError, ValueError) as error:
            raise CacheError(f"no process that compiles kernels can be started: {error}; they are compiled by the "
                             "first simulation") from None
        self._words: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._was_stopped = False

    def is_alive(self) -> bool:
        """Return whether it still compiles."""
        return self._process.poll() is None

    def problem(self) -> str:
        """Return why it has failed, in one line; empty if it has not, was stopped, or still runs."""
        if self._was_stopped or self._process.poll() in (None, 0):
            return ""
        self._listener.join()
        return next((line.strip() for line in reversed(self._words) if line.strip()), "it ended without a message")

    def stop(self) -> None:
        """End it. The kernels that are compiled are kept."""
        self._was_stopped = self._was_stopped or self.is_alive()
        self._process.kill()
        self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        self._words += self._process.stdout                              # to the end


def _in_background() -> dict[str, Any]:
    """Return the options of Popen for a process without a window; Windows sets its priority here."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.IDLE_PRIORITY_CLASS}
    return {}
