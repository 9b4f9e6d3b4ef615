# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of checkpoints in the folder of a take, and which of them are kept.

The log of the take says which checkpoints belong to it: {frame, digest}. Other files are never read: they are of frames
that have been removed, or of a process that was killed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence, Set
from contextlib import suppress
from pathlib import Path

from ..array_file import ARRAY_FILE_HEAD
from ..errors import CacheError, CheckpointError
from ..stepping.checkpoint import Checkpoint
from .disk_file import errors_of, sync_folder
from .take_entries import CHECKPOINT_START, Entry

CHECKPOINT_FRAMES = 10
"""Largest number of frames from one checkpoint to the next, as they are written and as they are kept."""
NEWEST_KEPT = 4
"""Number of the newest checkpoints that are all kept, however close they are."""
CHECKPOINT_NAME = re.compile(CHECKPOINT_START + r"(-?[0-9]+)(\.[0-9]+\.part)?")


def path_of(folder: Path, frame: int) -> Path:
    """Return the path of the checkpoint of a frame."""
    return folder / f"{CHECKPOINT_START}{frame:06d}"


def is_name(name: str) -> bool:
    """Return whether a file is a checkpoint, or one that was not written to its end."""
    return CHECKPOINT_NAME.fullmatch(name) is not None


def save(folder: Path, state: Checkpoint) -> str:
    """Write a checkpoint and return its digest, which its file has in its header.

    Raises:
        CacheError: it cannot be written.
    """
    path = path_of(folder, state.frame)
    try:
        state.save(path)
    except CheckpointError as error:
        raise CacheError(str(error)) from None
    return _digest(path)


def load(folder: Path, frame: int, digest: str) -> Checkpoint | None:
    """Return a checkpoint; None if it is gone, damaged, or another one."""
    if not is_there(folder, frame, digest):
        return None
    try:
        state = Checkpoint.load(path_of(folder, frame))
    except CheckpointError:
        return None
    return state if state.frame == frame else None


def is_there(folder: Path, frame: int, digest: str | None) -> bool:
    """Return whether the file of a checkpoint is there, with this digest in its header if one is given."""
    path = path_of(folder, frame)
    try:
        return path.is_file() and (digest is None or _digest(path) == digest)
    except (CacheError, OSError):
        return False


def copy(source: Path, target: Path, frame: int, digest: str) -> None:
    """Copy a checkpoint from folder to folder, if it is there."""
    if is_there(source, frame, digest):
        path = path_of(target, frame)
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        with errors_of(path, "written"):
            shutil.copyfile(path_of(source, frame), part)
            os.replace(part, path)


def thin(folder: Path, entries: Sequence[Entry], always: Set[int]) -> None:
    """Delete older checkpoints that are closer than needed, but none of the frames `always`.

    Going on from any frame then costs at most `CHECKPOINT_FRAMES` frames that are solved again, and a take has at most
    two checkpoints in as many frames, besides the newest and those of `always`. One is deleted if the next one comes
    within `CHECKPOINT_FRAMES` frames of the last one that is kept. What is kept later is among what is kept now.
    """
    frames = sorted({entry.frame for entry in entries if path_of(folder, entry.frame).exists()})
    before: int | None = None
    for frame, following in zip(frames[:-NEWEST_KEPT], frames[1:], strict=False):
        if frame in always or before is None or following - before > CHECKPOINT_FRAMES:
            before = frame
        else:
            _delete(path_of(folder, frame))


def remove_others(folder: Path, entries: Sequence[Entry]) -> None:
    """Delete all checkpoints but those of the log, and wait until this is on the disk."""
    known = {path_of(folder, entry.frame).name: entry.values["digest"] for entry in entries}
    with errors_of(folder, "read"):
        names = [path.name for path in folder.iterdir() if is_name(path.name)]
    others = [name for name in names if name not in known or not is_there(
        folder, int(CHECKPOINT_NAME.fullmatch(name)[1]), known[name])]          # type: ignore[index]
    for name in others:
        _delete(folder / name)
    if others:
        sync_folder(folder)


def _delete(path: Path) -> None:
    """Delete a file, unless this fails: on Windows it does while another process reads it. The next call deletes it."""
    with suppress(OSError):
        path.unlink()


def _digest(path: Path) -> str:
    with errors_of(path, "read"), open(path, "rb") as file:
        start = file.read(ARRAY_FILE_HEAD.size)
    if len(start) < ARRAY_FILE_HEAD.size:
        raise CacheError(f"{path} is cut off; take another, or bake again")
    return str(ARRAY_FILE_HEAD.unpack(start)[4].hex())
