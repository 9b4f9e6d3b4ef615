# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets that the user has saved: files in Blender's folder of user presets, of the form of Muslin's own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

import bpy

from ... import core

FOLDER = "presets/muslin/fabrics"
"""Folder of the presets, in Blender's folder of the user's scripts."""
LONGEST_NAME = 50
"""Largest number of letters in a preset's name [-]. Names of files have 255 bytes at most."""
RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)\d|custom")
"""Names that Windows keeps for devices, and the one that stands for values of no preset."""


def folder(*, create: bool = False) -> Path:
    """Return the folder of the user's presets.

    Raises:
        core.PresetError: it cannot be made.
    """
    try:
        found = bpy.utils.user_resource("SCRIPTS", path=FOLDER, create=create)
    except OSError as error:
        raise core.PresetError(f"the folder of presets, {FOLDER} in Blender's user scripts, cannot be made: {error}; "
                               "make it writable") from error
    if not found or create and not Path(found).is_dir():
        raise core.PresetError(f"the folder of presets, {found or FOLDER}, cannot be made; make Blender's folder of "
                               "user scripts writable")
    return Path(found)


def files() -> tuple[tuple[Path, int, int], ...]:
    """Return path, time of change and size [bytes] of the user's presets, sorted by name."""
    try:
        found = [(path, path.stat()) for path in folder().glob("*.toml")]
    except (OSError, core.PresetError):
        return ()
    return tuple(sorted((path, state.st_mtime_ns, state.st_size) for path, state in found))


def identifier_of(title: str) -> str:
    """Return the name for scripts of a preset with this title: `My Wool` becomes `my_wool`."""
    return re.sub(r"[\s-]+", "_", unicodedata.normalize("NFC", title).strip().lower())


def checked_name(title: str, taken: Sequence[str]) -> str:
    """Return the name for scripts of a preset that is to be saved. `taken` are those of Muslin's own fabrics.

    Raises:
        core.PresetError: it is no name of a file on every system, or it is taken.
    """
    shown = f"the preset's name {title!r}"
    if not title.strip():
        raise core.PresetError("the preset has no name; type one")
    if len(title.strip()) > LONGEST_NAME:
        raise core.PresetError(f"{shown} has {len(title.strip())} letters; {LONGEST_NAME} is the most")
    if wrong := re.search(r"[^\w .()+'&%-]", title.strip()):
        raise core.PresetError(f"{shown} contains {wrong[0]!r}; use letters, digits, spaces and . ( ) + ' & % - _")
    name = identifier_of(title)
    if not re.match(r"\w", name) or RESERVED.fullmatch(name.partition(".")[0]):
        raise core.PresetError(f"{shown} is kept for other things; choose another one")
    if name in taken:
        raise core.PresetError(f"{shown} is that of a fabric of Muslin; choose another one")
    return name


def remove(path: Path) -> None:
    """Delete a preset's file.

    Raises:
        core.PresetError: it cannot be deleted.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise core.PresetError(f"preset '{path.stem}' cannot be removed: {error}; delete {path} by hand") from error
