# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of a take: which of them are valid, and how its files are opened."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CacheError
from ..number_text import number_text
from ..parsed import ParsedError
from .disk_file import DiskFile, errors_of
from .pc2 import Pc2File
from .record_log import LOG_HEAD, Record, RecordLog
from .take_header import TakeHeader, values_of

LOG_NAME = "frames.muslin"
CHECKPOINT_START = "checkpoint-"
USERS_NAME = "users.txt"
"""Paths of the files, beside the owner, that use a take, one a line; kept by the program that uses takes."""
OTHER_NAMES = ("scene.muslin", "feed.muslin", "control", "error.json", "lock", "parent", "state.json", "solver.log",
               USERS_NAME)
"""Files of a solver process and of users in the folder of a take."""


@dataclass(frozen=True)
class Entry:
    """A valid record of the log.

    Attributes:
        record: its place.
        kind: as in `take_header.SCHEMAS`.
        frame: that it is of or starts with.
        values: what its head says, without the certificate of a frame.
    """

    record: Record
    kind: str
    frame: int
    values: Mapping[str, Any]


def entry_of(record: Record, header: TakeHeader, before: Sequence[Entry], frames: int) -> Entry | None:
    """Return the entry of a record; None if it does not fit behind the entries `before`, which have so many frames."""
    try:
        kind, values = values_of(record.head)
    except ParsedError:
        return None
    due, length = header.start + frames, record.end - record.body_at
    vertices = sum(cloth.vertices for cloth in header.cloths)
    if (kind == "header") != (not before) or length != (12 * vertices if kind == "frame" else 0):
        return None
    if kind == "frame":
        fits = values["frame"] == due and len(values["samples"]) == len(header.cloths)
        return Entry(record, kind, due, {"samples": values["samples"]}) if fits else None
    if kind == "segment":
        return Entry(record, kind, due, values) if values["from_frame"] == due else None
    if kind == "checkpoint":
        return Entry(record, kind, values["frame"], values) if header.start <= values["frame"] < due else None
    return Entry(record, kind, header.start, {} if kind == "header" else values)


def fault_of(entry: Entry, header: TakeHeader, log: RecordLog | None, files: Sequence[Pc2File]) -> str:
    """Return what is damaged in a frame, its velocities (unless `log` is None) and samples; empty if all is sound."""
    try:
        if log is not None and not log.sound(entry.record):
            return f"{log.path}: frame {entry.frame} is damaged"
        for file, checksum in zip(files, entry.values["samples"], strict=True):
            if file.checksum(entry.frame - header.start) != checksum:
                return f"{file.path}: frame {entry.frame} is damaged"
    except CacheError as error:
        return str(error)
    return ""


def read_header(folder: str | Path) -> TakeHeader:
    """Return the header of a take without reading its frames.

    Raises:
        CacheError: there is none, it is of another version, or its start is damaged.
    """
    path = Path(folder) / LOG_NAME
    record = first_record(RecordLog.reader(path))
    if record is None:
        raise CacheError(f"{path} has no header: the bake ended before its first frame, or the file is damaged; bake "
                         "again")
    try:
        kind, values = values_of(record.head)
        if kind != "header":
            raise ParsedError(f"the first record is a {kind}")
        return TakeHeader.of(values)
    except ParsedError as error:
        raise CacheError(f"{path}: the header does not fit: {error}; open it with the version of Muslin that wrote it, "
                         "or bake again") from None


def first_record(log: RecordLog) -> Record | None:
    """Return the first record of a log; None if there is none, also if the file ends within its own first bytes.

    Raises:
        CacheError: it cannot be read, or is no log.
    """
    try:
        return next(log.scan(), None)
    except CacheError as error:
        if log.path.is_file() and log.path.stat().st_size < LOG_HEAD.size:
            return None                                     # the bake was killed while it made the file
        raise error


def opened(folder: Path, header: TakeHeader, index: int, *, write: bool) -> Pc2File:
    """Return the PC2 file of a cloth, with all whole samples that it has.

    Raises:
        CacheError: it cannot be read, or is not the file of which the header says.
    """
    cloth = header.cloths[index]
    file = Pc2File.open(folder / cloth.file, write=write, whole=False)
    if (file.vertices, file.start, file.sampling) != (cloth.vertices, float(np.float32(header.start)), 1.0):
        file.close()
        raise CacheError(f"{file.path} has {file.vertices} vertices from frame {number_text(file.start, 10)} on, the "
                         f"take's header says {cloth.vertices} from {header.start} on: it is of another bake or "
                         "damaged; bake again")
    return file


def make_room(folder: Path) -> None:
    """Make a folder for a new take.

    Files of a bake that was killed before it could write its header are deleted; those of a solver process stay.

    Raises:
        CacheError: it holds a take or other files, or another bake has just begun in it.
    """
    path = folder / LOG_NAME
    with errors_of(folder, "made"):
        folder.mkdir(parents=True, exist_ok=True)
        names = sorted(found.name for found in folder.iterdir() if found.name not in OTHER_NAMES)
    begun = LOG_NAME in names
    if begun and first_record(RecordLog.reader(path)) is not None:
        raise CacheError(f"{folder} holds a take already; resume or delete it, or choose another folder")
    foreign = [name for name in names if not begun or not is_own_name(name)]
    if foreign:
        raise CacheError(f"{folder} holds other files, such as {foreign[0]}; choose an empty folder")
    if begun:
        DiskFile.open(path).close()                         # refuses if the other bake is alive
        with errors_of(folder, "made"):
            for name in sorted(names, key=LOG_NAME.__eq__):
                (folder / name).unlink()


def delete_take(folder: str | Path) -> None:
    """Delete the files of a take, and its folder if it holds no others.

    Raises:
        CacheError: there is no take, another bake writes to it, or a file cannot be deleted.
    """
    folder = Path(folder)
    DiskFile.open(folder / LOG_NAME).close()                # refuses while a bake writes
    with errors_of(folder, "deleted"):
        names = [path.name for path in folder.iterdir()]
        own = [name for name in names if is_own_name(name)]
        for name in sorted(own, key=LOG_NAME.__eq__):       # the log last, so that it can be tried again
            (folder / name).unlink()
        if len(own) == len(names):
            folder.rmdir()


def is_written(folder: str | Path) -> bool:
    """Return whether a bake writes to the take in `folder`, here or in another process, so that it must not be moved.

    It is True as well if the take cannot be opened for writing.
    """
    try:
        DiskFile.open(Path(folder) / LOG_NAME).close()
    except CacheError:
        return True
    return False


def is_own_name(name: str) -> bool:
    """Return whether a file in the folder of a take may be a part of it, also one that was not written to its end."""
    name = re.sub(r"\.[0-9]+\.part$", "", name)
    return name == LOG_NAME or name in OTHER_NAMES or name.endswith(".pc2") or name.startswith(CHECKPOINT_START)
