# SPDX-License-Identifier: GPL-3.0-or-later
"""Small files in the folder of a take by which a solver process and its parent talk.

    lock           locked by the process as long as it lives
    parent         locked by the parent as long as it lives and has not given the process up
    state.json     {"state", "frame", "locks"}, by the process
    control        "run", "pause" or "stop", by the parent
    error.json     {"type", "message", "values"}, by a process that failed
    solver.log     what the process prints, of bounded size

A file is replaced as a whole, so that a reader sees the old or the new text. None is needed after a crash: they are not
synced.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import errors
from ..errors import CacheError, ClothError
from ..parsed import Anything, Fields, Flag, Kind, Number, ParsedError, TableOf, Text, from_json

LOCK_NAME, PARENT_NAME, STATE_NAME, CONTROL_NAME, ERROR_NAME, SOLVER_LOG = (
    "lock", "parent", "state.json", "control", "error.json", "solver.log")
STATES = ("starting", "compiling", "solving", "waiting", "paused", "stopped", "finished", "failed", "lost feed", "lost")
"""What a solver process does, or how it has ended; "lost" if it was killed or crashed."""
END_STATES = frozenset(("stopped", "finished", "failed", "lost feed"))
"""States that a process leaves at its end."""
CONTROLS = ("run", "pause", "stop")
LONGEST_FILE = 1 << 16
"""Largest file that is read [byte]."""
REPLACE_ATTEMPTS = 20
"""Number of attempts to replace a file, which fails on Windows while another process reads it."""
STATE: Kind = Fields({"state": Text(16), "locks": Flag(), "frame": Number(whole=True, or_none=True)}, {})
ERROR: Kind = Fields({"type": Text(64), "message": Text(LONGEST_FILE), "values": TableOf(Anything(), 64)}, {})


@dataclass(frozen=True)
class ProcessState:
    """What a solver process says about itself.

    Attributes:
        state: one of `STATES`.
        frame: the last frame on the disk, None if there is none.
        locks: whether the disk has locks, by which others see that the process is alive.
    """

    state: str
    frame: int | None
    locks: bool


def replace_text(path: Path, text: str) -> None:
    """Replace a small file as a whole.

    Raises:
        OSError: it cannot be written.
    """
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    for attempt in range(REPLACE_ATTEMPTS):
        try:
            part.write_text(text, encoding="utf-8")
            os.replace(part, path)
            return
        except PermissionError:
            if attempt == REPLACE_ATTEMPTS - 1:
                part.unlink(missing_ok=True)
                raise
            time.sleep(0.005)
        except OSError:
            part.unlink(missing_ok=True)
            raise


def write_state(folder: Path, state: ProcessState) -> None:
    """Replace the state. A disk that is full or gone is left to the files of the take, which say so."""
    with suppress(OSError):
        replace_text(folder / STATE_NAME, json.dumps(asdict(state)))


def read_state(folder: Path) -> ProcessState | None:
    """Return the state; None if there is none."""
    try:
        values = _read(folder / STATE_NAME, STATE)
    except (OSError, ParsedError):
        return None
    return ProcessState(values["state"], values["frame"], values["locks"]) if values["state"] in STATES else None


def write_control(folder: Path, control: str) -> None:
    """Tell the process what to do.

    Raises:
        CacheError: the file cannot be written.
    """
    try:
        replace_text(folder / CONTROL_NAME, control)
    except OSError as error:
        raise CacheError(f"{folder / CONTROL_NAME} cannot be written: {error.strerror or error}; check that the folder "
                         "is there and can be written to") from None


def read_control(folder: Path, before: str = "run") -> str:
    """Return what the process must do: "run" if nothing is said, `before` if the file cannot be read just now."""
    try:
        text = (folder / CONTROL_NAME).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return "run"
    except (OSError, ValueError):
        return before
    return text if text in CONTROLS else before


def write_error(folder: Path, error: BaseException) -> None:
    """Leave an error for the parent."""
    kind = next((cls for cls in type(error).__mro__ if cls.__module__ == errors.__name__), type(error))
    message = str(error) if isinstance(error, ClothError) else f"{type(error).__name__}: {error}"
    values = {name: value for name, value in vars(error).items()
              if value is None or isinstance(value, (str, int, float))}
    with suppress(OSError):
        replace_text(folder / ERROR_NAME, json.dumps({"type": kind.__name__, "message": message[:LONGEST_FILE // 8],
                                                      "values": values}))


def read_error(folder: Path) -> ClothError | None:
    """Return the error that a process has left, of the same class; None if there is none."""
    try:
        found = _read(folder / ERROR_NAME, ERROR)
    except (OSError, ParsedError):
        return None
    kind = getattr(errors, found["type"], None)
    if not (isinstance(kind, type) and issubclass(kind, ClothError)):
        return CacheError(f"the solver process failed: {found['message']}; its frames are kept: read "
                          f"{folder / SOLVER_LOG}, and resume")
    error: ClothError = kind.__new__(kind, found["message"])
    error.__setstate__({"object_name": None, **found["values"]})
    return error


def _read(path: Path, kind: Kind) -> Any:
    with path.open("rb") as file:
        content = file.read(LONGEST_FILE + 1)
    try:
        text = content.decode("utf-8")
    except ValueError as error:
        raise ParsedError(str(error)) from None
    return from_json(text, kind, longest=LONGEST_FILE, deepest=4)
