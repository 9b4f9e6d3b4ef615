# SPDX-License-Identifier: GPL-3.0-or-later
"""Save the open file under another name, completely or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import bpy

from ..write import output_paths

SEEK_TABLE = b"\xb1\xea\x92\x8f"
"""Last bytes of a compressed .blend (zstd, seekable format)."""


def save(output: Path, *, keep_earlier: bool, compress: bool) -> None:
    """Save the open file to `output`, or where the link `output` leads to, completely or not at all.

    keep_earlier: rename an existing file to its name with "1" appended.

    Raises:
        OSError: the file cannot be saved; an existing one is unchanged.
    """
    with output_paths.replaced(output_paths.target_of(output), keep_earlier=keep_earlier) as part:
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, compress=compress, check_existing=False)
        except RuntimeError as error:
            raise OSError(f"{output} could not be saved: {str(error).strip()}") from error
        if not (part.is_file() and _is_complete(part)):
            raise OSError(f"{output} could not be saved: its end could not be written, is the disk full?")


def is_compressed(path: Path) -> bool:
    """Return whether a .blend is compressed."""
    with path.open("rb") as file:
        return file.read(7) != b"BLENDER"


def _is_complete(path: Path) -> bool:
    """Return whether the .blend has its end. Blender does not detect that the end of a compressed file is lost."""
    with path.open("rb") as file:
        file.seek(-min(64, path.stat().st_size), os.SEEK_END)
        end = file.read()
    return end.endswith(SEEK_TABLE) if is_compressed(path) else b"ENDB" in end
