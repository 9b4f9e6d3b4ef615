# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what a command is to write can be written: asked before hours of work, not after."""

from __future__ import annotations

import os
import stat
from pathlib import Path

ANYONE_WRITES = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def part_of(path: Path) -> Path:
    """Where a file is written before it takes its place at `path`, whole."""
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def why_no_file(path: Path) -> str:
    """Why a file cannot be put at `path`, or take the place of the one there; empty where it can."""
    if path.is_dir():
        return f"{path} is a folder"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    if path.exists() and not (path.stat().st_mode & ANYONE_WRITES and os.access(path, os.W_OK)):
        return f"{path} is read-only; make it writable, or name another file"
    return _why_not_written(part_of(path))


def why_no_folder(path: Path) -> str:
    """Why files cannot be put into the folder `path`, which may have to be made; empty where they can."""
    if path.is_file():
        return f"{path} is a file, the sheet goes into a folder"
    there = next(folder for folder in (path, *path.parents) if folder.is_dir())
    return _why_not_written(part_of(there / "sheet"))


def _why_not_written(path: Path) -> str:
    try:
        path.touch()
    except OSError as error:
        return f"nothing can be written into {path.parent} ({error.strerror}); name another folder"
    path.unlink()
    return ""
