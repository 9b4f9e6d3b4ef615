# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes of a scene: the caches of its bakes on disk, one folder each, in the scene's cache folder.

A take is found by the names of the cloths that were baked together, or by the record of the bake that was made of it. A
new bake makes a new take, so that the bake in use stays as it is until the new one is complete. Takes that are not in
use are kept one bake long, for undo, and are deleted when a later one is complete.

A file that was never saved has its takes in Blender's temporary folder. They move beside the .blend when it is saved.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ...core.cache.feed import FEED_NAME
from ...core.cache.scene_file import SCENE_NAME
from ...core.cache.take_entries import USERS_NAME, delete_take
from ..properties import baked_record
from ..write import mesh_cache
from . import take_notes
from .found_take import FoundTake, read

LONGEST_USERS = 1 << 20
"""Largest part that is read of the list of files that use a take [characters]."""
LIFETIME = 1.0
"""Time for which what was found in a folder holds while panels are drawn [s]."""


_listed: dict[Path, tuple[float, list[FoundTake]]] = {}
"""Takes in a cache folder, with the time when they were listed [s]."""


def folders_of(scene: bpy.types.Scene) -> list[Path]:
    """Return the folders in which the scene has takes: its cache folder, and those from before the file was saved
    elsewhere."""
    return list(dict.fromkeys([cache_folder(scene), *take_notes.folders_of(scene)]))


def takes_of_scene(scene: bpy.types.Scene, *, now: bool = False) -> list[FoundTake]:
    """Return the takes in all folders of the scene, the latest first. Record for new takes which objects they belong
    to, by their names."""
    found = [take for folder in folders_of(scene) for take in takes_in(folder, now=now)]
    for take in found:
        if not take_notes.is_noted(take.id) and is_of_file(take):
            take_notes.note_by_names(scene, take.id, take.cloths)
    return sorted(found, key=lambda take: -take.changed)


def cache_folder(scene: bpy.types.Scene) -> Path:
    """Return the folder of the scene's takes, which need not exist."""
    folder = scene.muslin.cache_folder or "//muslin_cache"
    if folder.startswith("//") and not bpy.data.filepath:
        return temporary_folder()
    return mesh_cache.absolute_path(folder)


def temporary_folder() -> Path:
    """Return the folder of the takes of a file that was never saved. Blender deletes it when it quits.

    Each file has its own: a new file has other objects with the same names.
    """
    return Path(bpy.app.tempdir) / "muslin_cache" / f"{_loaded[0]}"


def after_load() -> None:
    """Give the next file a temporary folder of its own, and forget what belongs to the one before."""
    _loaded[0] += 1
    _earlier.clear()
    _deleted.clear()
    take_notes.forget()
    for take in [take for scene in bpy.data.scenes for take in takes_of_scene(scene, now=True)]:
        if not take_notes.is_noted(take.id) and is_of_file(take):
            take_notes.note_without_objects(take.id, take.cloths)
    note_saved()
    forget()


_loaded = [0]
"""Number of files that were opened or begun."""


def new_folder(scene: bpy.types.Scene, names: Sequence[str]) -> Path:
    """Return the folder for a new take of these cloths: NAME, or after the last of NAME.001, NAME.002, ...

    The name of a take that was deleted is not used again while later ones are there: an undo may refer to it.
    """
    name = safe_name(names[0] if len(names) == 1 else scene.name)
    folder = cache_folder(scene)
    with suppress(OSError):
        numbers = [int(path.name[len(name) + 1:]) for path in folder.iterdir()
                   if re.fullmatch(re.escape(name) + r"\.\d{3,9}", path.name)]
        if numbers:
            return free_folder(folder / f"{name}.{max(numbers) + 1:03d}")
    return free_folder(folder / name)


def safe_name(name: str) -> str:
    """Return `name` as the name of a folder that every file system takes."""
    safe = re.sub(r'[\x00-\x1f<>:"/\\|?*.]', "_", name)[:100].strip(" _")
    return safe or "cloth"


def takes_in(folder: Path, *, now: bool = False) -> list[FoundTake]:
    """Return the takes in a cache folder, the latest first. Without `now`, a list younger than LIFETIME is returned
    again."""
    when, found = _listed.get(folder, (0.0, []))
    if now or time.monotonic() > when + LIFETIME:
        found = []
        with suppress(OSError):
            found = [take for path in folder.iterdir() if (take := read(path)) is not None]
        found.sort(key=lambda take: -take.changed)
        _listed[folder] = time.monotonic(), found
    return found


def forget() -> None:
    """Look at the disk again at the next question."""
    _listed.clear()


def of_object(scene: bpy.types.Scene, obj: bpy.types.Object, *, now: bool = False) -> list[FoundTake]:
    """Return the takes of this cloth, the latest first: by its name when it was baked, or by the record of its bake."""
    found = takes_of_scene(scene, now=now)
    used = in_use(obj)
    taken = ids_in_use(without=[obj])
    others = [take for take in found if cloth_in(take, obj) in take.cloths
              and (take.id not in taken or is_of(take, obj) or take_notes.is_known(take.id, obj))]
    return others if used is None or used in others else [used, *others]


def cloth_in(take: FoundTake, obj: bpy.types.Object) -> str:
    """Return the name that the object has, or would have, in a take: it may have been renamed since. Empty if not one.
    """
    record = baked_record.known(obj)
    if record is not None and record.cloth and record.take_id == take.id:
        return record.cloth
    return take_notes.name_in(take.id, obj)


def is_of(take: FoundTake, obj: bpy.types.Object) -> bool:
    """Return whether the bake of `obj` is of this take. A copy of the take, for a copy of the file, is another one."""
    record = baked_record.known(obj)
    if record is None or record.take_id != take.id:
        return False
    used = in_use(obj)
    return used is None or used.folder == take.folder


def ids_in_use(without: Sequence[bpy.types.Object] = ()) -> set[str]:
    """Return the ids of the takes of which the bakes of this file are, without those of some objects."""
    records = [baked_record.known(obj) for obj in bpy.data.objects if obj not in without]
    return {record.take_id for record in records if record is not None}


def in_use(obj: bpy.types.Object) -> FoundTake | None:
    """Return the take that the bake of `obj` was made of; None without one, or if it is gone."""
    record = baked_record.known(obj)
    if record is None or not record.take:
        return None
    take = read(_folder_of(obj, record))
    return take if take is not None and take.id == record.take_id else None


def _folder_of(obj: bpy.types.Object, record: baked_record.BakedRecord) -> Path:
    """Return the folder of the take of an object's bake: that of the file which its modifier plays, if it has one.

    Blender keeps that path right for objects that are linked or appended; the one in the record is of the file that it
    was saved in.
    """
    modifier: Any = obj.modifiers.get(record.modifier) if record.modifier else None
    if modifier is not None and baked_record.is_own(modifier) and modifier.filepath:
        return mesh_cache.absolute_path(modifier.filepath, library=obj.library).parent
    owner: Any = baked_record.holder(obj)
    return mesh_cache.absolute_path(record.take, library=owner.library)


def unused(scene: bpy.types.Scene, obj: bpy.types.Object, *, now: bool = False) -> FoundTake | None:
    """Return the latest take of this cloth that is later than the bake in use; None if there is none.

    It is a bake that was stopped, or that went on while Blender was closed; or one that was deleted, and no older one
    in its place. One that has frames to show goes before one that was stopped at once or in its pre-roll.
    """
    found = _since_use(scene, obj, now=now)
    return next((take for take in found if take.has_frames), found[0] if found else None)


def complete_besides(scene: bpy.types.Scene, obj: bpy.types.Object, stopped: FoundTake | None) -> FoundTake | None:
    """Return the latest complete take besides a bake that was `stopped`, or besides the bake in use if that is not
    complete. None if there is none, or if other cloth of it has a later bake in use."""
    used = in_use(obj)
    partial = stopped or used
    if partial is None or partial.is_complete:
        return None
    found = _since_use(scene, obj) if stopped else [take for take in of_object(scene, obj) if is_of_file(take)]
    return next((take for take in found
                 if take.is_complete and take != used and not _is_behind(scene, obj, take)), None)


def _is_behind(scene: bpy.types.Scene, obj: bpy.types.Object, take: FoundTake) -> bool:
    """Return whether cloth of a take besides `obj` has a later bake in use."""
    others = [in_use(other) for other in scene.objects if other != obj and cloth_in(take, other) in take.cloths]
    return any(used is not None and used.changed > take.changed for used in others)


def _since_use(scene: bpy.types.Scene, obj: bpy.types.Object, *, now: bool = False) -> list[FoundTake]:
    """Return the takes of this cloth that are later than its bake in use, or have more frames of it by now, the latest
    first; all of them without a bake in use."""
    record = baked_record.known(obj)
    found = [take for take in of_object(scene, obj, now=now) if take.reached is not None
             and (is_of_file(take) or is_of(take, obj))]
    latest = _deleted.get(obj.session_uid, "") if record is None else record.take_id
    used = in_use(obj) or next((take for take in found if take.id == latest), None)
    if used is None:
        return found
    return [take for take in found if take.changed > used.changed or (
            take == used and (record is None or take.reached > record.last))]


def is_of_file(take: FoundTake) -> bool:
    """Return whether a take is one of this file: it has baked it or was saved with it, or no such file exists."""
    users = [user for user in (take.owner, *users_of(take)) if user]
    return bpy.data.filepath in users or not any(os.path.exists(user) for user in users)


def is_mine(take: FoundTake) -> bool:
    """Return whether this file may change and delete a take: no other file that still exists has baked or uses it."""
    return all(user in ("", bpy.data.filepath) or not os.path.exists(user) for user in (take.owner, *users_of(take)))


def delete(take: FoundTake) -> None:
    """Delete the files of a take.

    Raises:
        core.CacheError: it cannot be deleted, or a bake writes to it.
    """
    try:
        delete_take(take.folder)
    finally:
        forget()


def delete_input(folder: Path) -> None:
    """Delete the scene and the feed in the folder of a complete take, which only a solver process needs."""
    for name in (FEED_NAME, SCENE_NAME):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def delete_older(scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object], keep: set[str]) -> None:
    """Delete the takes of these cloths that nothing uses, of those that were made or replaced in this session.

    Kept are the ids `keep`, takes that the file on disk uses, and besides the latest take and the one with most frames.
    Another Blender may have the same file open: its takes are never deleted here.
    """
    used = keep | ids_in_use() | _saved
    earlier = {take_id for obj in cloths for take_id in _earlier.get(obj.session_uid, ())}
    spare = [take for take in takes_of_scene(scene, now=True)
             if take.id not in used and is_mine(take)
             and (take.id in earlier or (take.id in _made
                                         and set(take.cloths) <= {cloth_in(take, obj) for obj in cloths}))]
    longest = max(spare, key=lambda take: take.reached if take.reached is not None else take.start - 1, default=None)
    for take in spare[1:]:
        if take == longest:
            continue
        with suppress(core.ClothError):
            delete(take)


def note_made(take_id: str, cloths: Mapping[str, bpy.types.Object]) -> None:
    """Note that a take was made in this session, of the cloths with these names in it."""
    _made.add(take_id)
    take_notes.note_names(take_id, {obj.session_uid: name for name, obj in cloths.items()})


def note_deleted(objects: Sequence[bpy.types.Object]) -> None:
    """Note of which takes the bakes of these objects are, because they are about to be deleted."""
    note_replaced(objects)
    for obj in objects:
        record = baked_record.known(obj)
        if record is not None:
            _deleted[obj.session_uid] = record.take_id


_deleted: dict[int, str] = {}
"""Ids of the takes of which the bakes were that were deleted last, by the identity of the object."""


_made: set[str] = set()
"""Ids of the takes that were made in this session."""


def note_saved() -> None:
    """Note which takes the open file uses on disk: it may be opened again without what was baked since."""
    _saved.clear()
    _saved.update(ids_in_use())


_saved: set[str] = set()
"""Ids of the takes that the open file used when it was loaded or saved last."""


def note_replaced(objects: Sequence[bpy.types.Object]) -> None:
    """Note of which takes the bakes of these objects are, because other bakes are about to replace them."""
    for obj in objects:
        record = baked_record.known(obj)
        if record is not None and record.take_id:
            _earlier.setdefault(obj.session_uid, set()).add(record.take_id)


_earlier: dict[int, set[str]] = {}
"""Ids of the takes that objects had before, by the identity of the object, which stays when it is renamed."""


def free_folder(folder: Path) -> Path:
    """Return `folder`, or its name with .001, .002, ...: the first that does not exist."""
    found, number = folder, 0
    while os.path.lexists(found):
        number += 1
        found = folder.with_name(f"{folder.name}.{number:03d}")
    return found


def users_of(take: FoundTake) -> list[str]:
    """Return the paths of the .blend files, beside its owner, that were saved with a bake of this take."""
    try:
        with open(take.folder / USERS_NAME, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(LONGEST_USERS).splitlines()
    except OSError:
        return []
