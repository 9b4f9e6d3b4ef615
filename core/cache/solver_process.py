# SPDX-License-Identifier: GPL-3.0-or-later
"""A solver process, seen from its parent: start it, watch it, pause and stop it.

The process solves the scene in the folder of a take (`Take`, `save_scene`, `FeedWriter`) on its own and needs the
parent only for the feed. It lives on if the parent ends, unless it is paused. Another parent finds it by its lock, and
all that both say to each other is in small files (process_files.py), so that nothing depends on pipes or signals.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import CacheError
from ..kernels import backend
from . import file_lock, solver_start
from .process_files import (
    CONTROL_NAME,
    END_STATES,
    ERROR_NAME,
    LOCK_NAME,
    PARENT_NAME,
    SOLVER_LOG,
    STATE_NAME,
    read_error,
    read_state,
    write_control,
)
from .solver_main import HEARTBEAT, IN_USE
from .solver_main import main as main

PACKAGES = ("numpy", "numba", "llvmlite")
"""Packages that the process needs, if they are there."""
PRODUCT_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Variables for the number of threads of NumPy's matrix products, by the library that it was built with."""
MISSED_BEATS = 5.0
"""Time without a sign of life after which a process on a disk without locks counts as dead, over `HEARTBEAT` [-]."""
LOG_END = 2000
"""Number of characters of the log's end in a message."""


class SolverProcess:
    """The solver process of a take, whoever has started it.

    Args:
        folder: of the take.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self._process: subprocess.Popen[bytes] | None = None
        self._parent_lock: int | None = None
        self._was_refused = False

    def start(self) -> None:
        """Start the process; return at once. It uses the folder for compiled kernels of this process.

        Raises:
            CacheError: a process solves this take already, or none can be started.
        """
        if self.is_alive() and not self._has_ended():
            raise self._in_use()
        for name in (STATE_NAME, ERROR_NAME, CONTROL_NAME):
            with suppress(OSError):
                (self.folder / name).unlink(missing_ok=True)
        self._was_refused = False
        if self._parent_lock is None:
            with suppress(file_lock.LockHeldError):
                self._parent_lock = file_lock.acquire(self.folder / PARENT_NAME)
        command = command_of("solver_main", str(self.folder.absolute()), str(backend.cache_folder().parent),
                             self._parent_lock is not None)
        try:
            with open(self.folder / SOLVER_LOG, "wb"):
                pass
            with open(self.folder / SOLVER_LOG, "ab") as log:
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                 cwd=Path(sys.executable or sys.prefix).anchor or None,
                                                 env=_environment(), **_apart())
        except (OSError, ValueError) as error:
            self.give_up()
            raise CacheError(f"no solver process can be started in {self.folder}: {error}; check that the folder can "
                             "be written to, or bake without a process of its own") from None

    def state(self) -> str:
        """Return what the process does, or how it has ended: one of `STATES`; "stopped" if there has been none."""
        found = read_state(self.folder)
        if found is not None and found.state in END_STATES:
            return found.state
        if self.is_alive():
            return "starting" if found is None else found.state
        found = read_state(self.folder)                                 # written just before its end
        if found is not None:
            return found.state if found.state in END_STATES else "lost"
        return "lost" if (self.folder / SOLVER_LOG).exists() else "stopped"

    def frame(self) -> int | None:
        """Return the last frame that the process has put on the disk, None if it has said of none."""
        found = read_state(self.folder)
        return None if found is None else found.frame

    def is_alive(self) -> bool:
        """Return whether the process runs."""
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return True
            self._process, self._was_refused = None, code == IN_USE
            self.give_up()
        if file_lock.is_locked(self.folder / LOCK_NAME):
            return True
        found = read_state(self.folder)
        if found is None or found.locks or found.state in END_STATES:
            return False
        with suppress(OSError):
            return time.time() - os.stat(self.folder / STATE_NAME).st_mtime < MISSED_BEATS * HEARTBEAT
        return False

    def pause(self) -> None:
        """Let the process wait, also within a frame."""
        write_control(self.folder, "pause")

    def go_on(self) -> None:
        """Let a paused process go on."""
        write_control(self.folder, "run")

    def stop(self) -> None:
        """Let the process end, also within a frame, with a checkpoint of the last frame."""
        write_control(self.folder, "stop")

    def give_up(self) -> None:
        """No longer be the parent that the process was started by: it goes on alone, or ends if it is paused."""
        lock, self._parent_lock = self._parent_lock, None
        if lock is not None:
            file_lock.release(lock, self.folder / PARENT_NAME)

    def has_parent(self) -> bool:
        """Return whether the parent by which the process was started lives and has not given it up."""
        return file_lock.is_locked(self.folder / PARENT_NAME)

    def wait(self, seconds: float) -> bool:
        """Wait until the process has ended, `seconds` at most. Return whether it has."""
        end = time.monotonic() + seconds
        while self.is_alive():
            if time.monotonic() > end:
                return False
            time.sleep(0.01)
        return True

    def error(self) -> None:
        """Raise the error by which the process has failed, if it has.

        Raises:
            ClothError: of the class that the simulation raised.
            CacheError: another process solves this take; or the process was killed, and its frames are kept.
        """
        if self._was_refused:
            raise self._in_use()
        state = self.state()
        if state in ("failed", "lost feed"):
            found = read_error(self.folder)
            raise found or CacheError("the solver process failed without a message; its frames are kept; resume"
                                      + self._last_words())
        if state == "lost":
            raise CacheError(f"the solver process in {self.folder} has ended without a message, perhaps for lack of "
                             f"memory or disk space; its frames are kept; resume{self._last_words()}")

    def _has_ended(self) -> bool:
        """Return whether the process has said so: it may still have to give up its lock."""
        found = read_state(self.folder)
        return found is not None and found.state in END_STATES

    def _in_use(self) -> CacheError:
        return CacheError(f"a process is solving {self.folder} already; wait for its end, stop it, or choose another "
                          "folder")

    def _last_words(self) -> str:
        try:
            text = (self.folder / SOLVER_LOG).read_bytes()[-LOG_END:].decode("utf-8", "replace").strip()
        except OSError:
            return ""
        return f" (its log ends with: {text})" if text else ""


def command_of(module: str, *arguments: Any) -> list[str]:
    """Return the command that calls `main` of a module of this package with JSON arguments in another process.

    Raises:
        CacheError: there is no Python for it.
    """
    given = {"name": __package__.rpartition(".")[0], "core": str(Path(__file__).resolve().parents[1]),
             "paths": _package_folders(), "main": module, "arguments": arguments}
    return [python_path(), "-I", solver_start.__file__, json.dumps(given)]


def python_path() -> str:
    """Return the path of this Python; Blender's own, where it is embedded.

    Raises:
        CacheError: it cannot be found.
    """
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    found = Path(sys.executable or "")
    candidates = [found] if found.name.lower().startswith(("python", "pypy")) else []
    for prefix in (Path(sys.prefix), Path(sys.base_prefix)):
        candidates += [prefix / "bin" / version, prefix / "bin" / "python3", prefix / "python.exe",
                       prefix / "bin" / "python.exe"]
    for path in candidates:
        if path.is_file():
            return str(path)
    raise CacheError(f"the Python {sys.version_info.major}.{sys.version_info.minor} of this program is not in "
                     f"{sys.prefix}, so that no solver process can be started; bake without a process of its own")


def _package_folders() -> list[str]:
    """Return the folders from which this process imports the packages that the solver needs."""
    folders = []
    for name in PACKAGES:
        with suppress(ImportError, ValueError):
            spec = find_spec(name)
            if spec is not None and spec.origin:
                folders.append(str(Path(spec.origin).resolve().parents[1]))
    return list(dict.fromkeys(folders))


def _environment() -> dict[str, str]:
    """Return this process's environment, with one thread for NumPy's products where it does not say how many.

    The products of a solve are small: more threads wait for each other, and cost up to five times the processor time
    where cores are busy.
    """
    return {**dict.fromkeys(PRODUCT_THREADS, "1"), **os.environ}


def _apart() -> dict[str, Any]:
    """Return the options of Popen by which the process survives this one, without a window of its own."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}
