# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the caches of bakes again that were moved: beside the .blend, or in a folder that the user chooses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...core.cache.take_entries import read_header
from ..properties import baked_record
from ..write import mesh_cache
from . import found_take, takes

BESIDE = "//muslin_cache"
"""Folder beside the .blend in which caches are looked for, whatever Cache Folder is."""


def lost(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Return the objects of this file whose bake has a cache that is not where the record or the modifier says."""
    found = []
    for obj in objects:
        record = baked_record.known(obj) if obj.library is None else None
        owner: Any = baked_record.holder(obj)
        if record is not None and record.take_id and owner.is_editable and not baked_record.is_of_library(
                obj) and takes.in_use(obj) is None:
            found.append(obj)
    return found


def missing_text(obj: bpy.types.Object) -> str:
    """Return that the frames which the bake of `obj` plays are gone or of another bake; empty if they are there."""
    text = mesh_cache.missing_file(obj)
    record = baked_record.known(obj)
    if text or record is None or not record.modifier or not lost([obj]):
        return text
    place = mesh_cache.absolute_path(record.take)
    return f"The frames in {place} are not those of the bake. Put its folder back, press Find Cache, or bake again"


def relink(objects: Iterable[bpy.types.Object], folders: Sequence[Path]) -> list[bpy.types.Object]:
    """Let bakes whose cache is lost use it where it is now: in one of `folders`, or itself one of them.

    Return the objects whose cache was found. A cache is told by its identity, not by its name.
    """
    missing = lost(objects)
    if not missing:
        return []
    there: dict[str, Path] = {}
    for folder in folders:
        own = found_take.read(folder)
        for take in ([own] if own is not None else []) + takes.takes_in(folder, now=True):
            there.setdefault(take.id, take.folder)
    return [obj for obj in missing if _point(obj, there)]


def relink_beside() -> list[bpy.types.Object]:
    """Find lost caches in the cache folders of the scenes and beside the .blend, and return the objects."""
    folders = [folder for scene in bpy.data.scenes for folder in takes.folders_of(scene)]
    if bpy.data.filepath:
        folders.append(mesh_cache.absolute_path(BESIDE))
    return relink(bpy.data.objects, list(dict.fromkeys(folders)))


def _point(obj: bpy.types.Object, there: dict[str, Path]) -> bool:
    """Let the bake of an object use its take if it is among these folders by id. Return whether it is."""
    record = baked_record.known(obj)
    folder = there.get(record.take_id) if record is not None else None
    if record is None or folder is None:
        return False
    modifier: Any = obj.modifiers.get(record.modifier) if record.modifier else None
    if modifier is not None and baked_record.is_own(modifier):
        cloth = next((cloth for cloth in read_header(folder).cloths if cloth.name == record.cloth), None)
        if cloth is None or not (folder / cloth.file).is_file():
            return False
        modifier.filepath = mesh_cache.blend_path(folder / cloth.file)
    baked_record.save(baked_record.holder(obj), replace(record, take=mesh_cache.blend_path(folder)))
    return True
