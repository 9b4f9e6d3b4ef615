# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that output can be written, made before a command starts and not after hours of work."""

from __future__ import annotations

import os
import stat
from pathlib import Path

ANY_WRITE_PERMISSION = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def partial_path(path: Path) -> Path:
    """Return the path at which a file is written before it is moved to `path` as a whole."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def why_no_file(path: Path) -> str:
    """Return why no file can be written to `path`, or replace the one there; empty if it can."""
    if path.is_dir():
        return f"{path} is a folder"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if path.exists() and not (path.stat().st_mode & ANY_WRITE_PERMISSION and os.access(path, os.W_OK)):
        return f"{path} is read-only; make it writable, or name another file"
    return _why_not_creatable(partial_path(path))


def why_no_folder(path: Path) -> str:
    """Return why no files can be written into the folder `path`, which need not exist; empty if they can."""
    if path.is_file():
        return f"{path} is a file, the sheet goes into a folder"
    existing = next(folder for folder in (path, *path.parents) if folder.is_dir())
    return _why_not_creatable(partial_path(existing / "sheet"))


def _why_not_creatable(path: Path) -> str:
    """Return why no file can be created at `path`; empty if it can. The file is removed again."""
    try:
        path.touch()
    except OSError as error:
        return f"nothing can be written into {path.parent} ({error.strerror}); name another folder"
    path.unlink()
    return ""
