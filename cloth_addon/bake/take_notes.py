# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes on the takes of a scene that are not in use: in which other folders they are, and of which objects.

A take that is in use is found by the record of its bake. All others are in the scene's cache folder, unless the file
was saved in another folder since, and have the names that their cloths had. The notes are JSON in a custom property of
the scene. In between, names are kept by the identity of the objects, which stays when they are renamed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy

from ...core.parsed import Fields, ListOf, ParsedError, TableOf, Text, from_json
from ..write import mesh_cache

PROPERTY = "muslin_takes"
MOST_FOLDERS = 16
"""Largest number of other folders that a scene refers to [-]."""
MOST_NAMES = 4096
"""Largest number of takes, and of objects of each, of which names are noted [-]."""
LONGEST = 1 << 22
"""Largest size of the notes of a scene [characters]."""
DEEPEST = 4
"""Largest number of levels of the notes."""
NOTES = Fields({"folders": ListOf(Text(4096), MOST_FOLDERS),
                "names": TableOf(TableOf(Text(1024), MOST_NAMES), MOST_NAMES)}, {})
"""Folders as Blender stores paths, and by the id of a take the names of its cloths by those of their objects."""

_names: dict[str, dict[int, str]] = {}
"""By the id of a take the names of its cloths, by the identities of their objects."""


def folders_of(scene: bpy.types.Scene, folder: str = "") -> list[Path]:
    """Return the other folders with takes of a scene, seen from the open file or from a .blend in `folder`."""
    return [mesh_cache.absolute_path(path, folder) for path in _read(scene)["folders"]]


def write(scene: bpy.types.Scene, folders: list[Path], folder: str) -> None:
    """Store the notes of a scene for a .blend in `folder`: other folders with its takes, and names that differ."""
    names = {take_id: {obj.name: known[obj.session_uid] for obj in scene.objects
                       if known.get(obj.session_uid, obj.name) != obj.name} for take_id, known in _names.items()}
    notes: dict[str, Any] = {
        "folders": [mesh_cache.blend_path(path, folder) for path in dict.fromkeys(folders)][:MOST_FOLDERS],
        "names": {take_id: table for take_id, table in names.items() if table}}
    if any(notes.values()):
        scene[PROPERTY] = json.dumps(notes)
    elif scene.get(PROPERTY) is not None:
        del scene[PROPERTY]


def note_names(take_id: str, names: Mapping[int, str]) -> None:
    """Note of which objects, by their identities, the cloths of a take with these names are."""
    _names[take_id] = {**names}


def is_noted(take_id: str) -> bool:
    """Return whether it is known of which objects a take is."""
    return take_id in _names


def note_by_names(scene: bpy.types.Scene, take_id: str, cloths: tuple[str, ...]) -> None:
    """Note of which objects a take is that is seen for the first time: by their names, or by what the file says."""
    stored = _read(scene)["names"].get(take_id, {})
    found = {}
    for obj in scene.objects:
        name = stored.get(obj.name, "" if obj.name in stored.values() else obj.name)
        if obj.type == "MESH" and name in cloths:
            found[obj.session_uid] = name
    if found:
        note_names(take_id, found)


def note_without_objects(take_id: str, cloths: tuple[str, ...]) -> None:
    """Note that none of the objects of a take is in the file that was opened: new ones with their names are others."""
    note_names(take_id, {-1 - number: name for number, name in enumerate(cloths)})


def name_in(take_id: str, obj: bpy.types.Object) -> str:
    """Return the name that an object has in a take, or would have; empty if another object has its name there, or had
    it before it was deleted."""
    known = _names.get(take_id, {})
    return known.get(obj.session_uid, "" if obj.name in known.values() else obj.name)


def is_known(take_id: str, obj: bpy.types.Object) -> bool:
    """Return whether a take is known to be of an object."""
    return obj.session_uid in _names.get(take_id, {})


def forget() -> None:
    """Forget what belongs to the file that was open before."""
    _names.clear()


def _read(scene: bpy.types.Scene) -> Any:
    try:
        return from_json(scene.get(PROPERTY, ""), NOTES, longest=LONGEST, deepest=DEEPEST)
    except (ParsedError, TypeError):
        return {"folders": [], "names": {}}
