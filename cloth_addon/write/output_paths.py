# SPDX-License-Identifier: GPL-3.0-or-later
"""Output files: checks before a command starts, not after hours of work, and writing completely or not at all.

A symbolic link is followed: the file that it leads to is written, and the link stays. Only Python's own modules are
imported, because `python path/to/muslin` uses this file before Blender is loaded.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ANY_WRITE_PERMISSION = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def target_of(path: str | Path) -> Path:
    """Return the absolute path of the file that `path` leads to, all symbolic links followed.

    The file need not exist. Of links that lead in a circle one is returned. `why_no_file` refuses these, and names that
    the operating system does not allow.
    """
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):                                   # ValueError: a null character
        return Path(path).absolute()


def partial_path(target: Path) -> Path:
    """Return the path at which a file is written before it is moved to `target` as a whole."""
    return target.with_name(f".{target.name}.{os.getpid()}.part")


def remove_partial_files(target: Path) -> None:
    """Remove what processes that were killed have left of `target`. Call it while no other process writes there."""
    with suppress(OSError):
        for path in target.parent.iterdir():
            name = path.name.removesuffix("@")                      # Blender appends "@" while it writes
            if (name.startswith(f".{target.name}.") and name.endswith(".part")
                    and name[len(target.name) + 2:-len(".part")].isdigit()):
                with suppress(OSError):
                    path.unlink()


@contextmanager
def replaced(target: Path, *, keep_earlier: bool = False) -> Iterator[Path]:
    """Yield the path of a new file; at the end it takes the place of `target`, with the permissions of that.

    If the block raises, or the file cannot be moved, `target` is unchanged, and the new file is removed.

    Args:
        target: a path without symbolic links, see `target_of`.
        keep_earlier: rename an existing file to its name with "1" appended.

    Raises:
        OSError: the file cannot be moved.
    """
    part = partial_path(target)
    try:
        yield part
        reason = _why_not_replaceable(target)                       # it was checked before, perhaps hours ago
        if reason:
            raise OSError(reason)
        if target.exists():
            _copy_permissions(target, part)
            if keep_earlier:
                os.replace(target, target.with_name(f"{target.name}1"))
        os.replace(part, target)
    finally:
        for unfinished in (part, part.with_name(f"{part.name}@")):
            with suppress(OSError):
                unfinished.unlink()


def write_text(target: Path, text: str) -> None:
    """Write a text file in UTF-8, completely or not at all. Raise OSError if it cannot be written."""
    with replaced(target) as part, part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def why_no_file(target: Path) -> str:
    """Return why no file can be written to `target`, or replace the one there; empty if it can."""
    try:
        return _why_not_replaceable(target) or _why_not_creatable(partial_path(target))
    except (OSError, ValueError) as error:                          # ValueError: a null character
        return f"{str(target)!r} cannot be reached ({_reason(error)}); name another file"


def why_no_folder(path: Path) -> str:
    """Return why no files can be written into the folder `path`, which need not exist; empty if they can."""
    try:
        if path.is_symlink() and not path.exists():
            return f"{path} is a link that leads nowhere; remove it, or name another folder"
        if path.exists() and not path.is_dir():
            return f"{path} is a file, and a folder is needed; name a folder"
        return _why_not_creatable(partial_path(nearest_folder(path) / "sheet"))
    except (OSError, ValueError) as error:
        return f"{str(path)!r} cannot be reached ({_reason(error)}); name another folder"


def nearest_folder(path: Path) -> Path:
    """Return `path`, or the nearest folder above it that exists."""
    return next(folder for folder in (path, *path.parents) if folder.is_dir())


def _why_not_replaceable(target: Path) -> str:
    """Return why the file at `target` cannot be created or replaced, its folder's permissions left out."""
    if target.is_symlink():
        return f"{target} is a link in a circle of links; remove it, or name another file"
    if target.is_dir():
        return f"{target} is a folder; name a file"
    if not target.parent.is_dir():
        return f"there is no folder {target.parent}; create it, or name another one"
    if target.exists() and not target.is_file():
        return f"{target} is a device, not a file; name a file"
    if target.exists() and not (target.stat().st_mode & ANY_WRITE_PERMISSION and os.access(target, os.W_OK)):
        return f"{target} is read-only; make it writable, or name another file"
    return ""


def _why_not_creatable(path: Path) -> str:
    """Return why no file can be created at `path`; empty if it can. The file is removed again."""
    try:
        path.touch()
    except OSError as error:
        return f"nothing can be written into {path.parent} ({error.strerror}); name another folder"
    path.unlink()
    return ""


def _copy_permissions(source: Path, path: Path) -> None:
    """Give `path` the permissions of `source`, and its owner and group where that is allowed."""
    with suppress(OSError):
        shutil.copymode(source, path)
    if hasattr(os, "chown"):
        found, own = source.stat(), path.stat()
        if (found.st_uid, found.st_gid) != (own.st_uid, own.st_gid):
            with suppress(OSError):
                os.chown(path, found.st_uid, found.st_gid)
                shutil.copymode(source, path)                       # a change of the owner may clear bits


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
