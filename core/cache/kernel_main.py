# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel process: compile kernels at the lowest priority, and end when the parent does."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..description.settings import Solver
from ..kernels import backend
from ..stepping.jit_warmup import warm_up


def main(kernels: str, solver: dict[str, Any], models: Sequence[str]) -> None:
    """Compile the kernels for a solver and models into a folder.

    Args:
        kernels: the folder for compiled kernels.
        solver: arguments of `Solver`.
    """
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, 0, 19)                  # the lowest, whatever that of the parent is
    threading.Thread(target=_end_with_parent, daemon=True).start()
    backend.keep_compiled_in(Path(kernels))
    for _ in warm_up(Solver(**solver), models):
        pass


def _end_with_parent() -> None:
    """End this process when its input is closed, which the system does if the parent ends in any way."""
    sys.stdin.read()
    os._exit(1)
