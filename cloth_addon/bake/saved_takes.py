# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes of a file that is saved: moved beside it the first time, found from where it is saved, and known to be used.

The records of bakes and the modifiers that play them have paths to takes, relative to the .blend.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy

from ...core.cache.take_entries import USERS_NAME, is_written
from ..properties import baked_record
from ..properties.settings import kind_of_settings
from ..write import mesh_cache
from . import found_take, take_notes, takes


def before_save(path: str, *, moves: bool, running: Path | None = None) -> None:
    """Let the records of bakes say where their takes are, seen from the .blend that is about to be saved as `path`.

    Takes of a file that was never saved are moved beside it if `moves`. What cannot be moved stays where it is. The
    scenes note where the takes are that are not in use. `running` is the folder of a take that a bake writes.
    """
    _moved.clear()
    _wanted.clear()
    _wanted.update(_waiting_ids(running))
    _folders.clear()
    _folders.update({scene.session_uid: _folders_with_takes(scene) for scene in bpy.data.scenes})
    if moves:
        for scene in bpy.data.scenes:
            if (scene.muslin.cache_folder or "//").startswith("//"):
                _move_takes(scene, Path(mesh_cache.absolute_path(scene.muslin.cache_folder or "//muslin_cache",
                                                                 os.path.dirname(path))))
    _point_all(_folder_of_file(), os.path.dirname(path))
    _write_notes(os.path.dirname(path))


def after_save(path: str) -> None:
    """Let the records say where their takes are seen from the open file, after it or a copy was saved as `path`."""
    _note_users(path, os.path.dirname(path))
    if path == bpy.data.filepath:
        takes.note_saved()
        moved = dict(_moved)
    else:
        moved = _copy_back()
    _point_all(os.path.dirname(path), _folder_of_file())
    _write_notes(_folder_of_file())
    _earlier_folders.update(moved)
    _moved.clear()
    takes.forget()


def _copy_back() -> dict[Path, Path]:
    """Copy the takes that were moved beside a copy of the file back to where the open file has them.

    Return those for which there is no room, from where to where they were moved. A bake in use is used beside the copy
    then; one that was stopped goes on in the copy alone.
    """
    left = {}
    for origin, folder in list(_moved.items()):
        try:
            shutil.copytree(folder, origin, ignore=shutil.ignore_patterns(USERS_NAME))
        except OSError:
            shutil.rmtree(origin, ignore_errors=True)
            left[origin] = folder
        else:
            del _moved[origin]
            _moved[folder] = origin
    return left


def after_bake() -> None:
    """Move the takes of a bake beside the .blend if that was saved for the first time while the bake ran."""
    if bpy.data.filepath and takes.temporary_folder().is_dir():
        before_save(bpy.data.filepath, moves=True)
        _earlier_folders.update(_moved)
        _moved.clear()
    takes.forget()


def after_undo() -> None:
    """Let records that an undo has brought back say where their takes have been moved since."""
    if _earlier_folders:
        _moved.update(_earlier_folders)
        _point_all(_folder_of_file(), _folder_of_file())
        _moved.clear()
    takes.forget()


def after_failed_save(path: str) -> None:
    """Undo `before_save`: move takes back, and let the records say where they are."""
    for origin, folder in list(_moved.items()):
        with suppress(OSError):
            shutil.move(folder, origin)
            del _moved[origin]
            _moved[folder] = origin
    _point_all(os.path.dirname(path), _folder_of_file())
    _write_notes(_folder_of_file())
    _moved.clear()
    takes.forget()


_moved: dict[Path, Path] = {}
"""Folders of the takes that are moved for the saving that goes on, from where to where."""
_earlier_folders: dict[Path, Path] = {}
"""Folders of the takes that were moved for the open file, from where to where."""
_wanted: set[str] = set()
"""Ids of the takes that are not in use, and that the file may take or go on with after the saving that goes on."""
_folders: dict[int, list[Path]] = {}
"""The folders with takes of each scene, by its identity, for the saving that goes on."""


def _waiting_ids(running: Path | None) -> set[str]:
    """Return the ids of the takes that are not in use, and that the panels offer, and of one that a bake writes."""
    found: list[found_take.FoundTake | None] = []
    for scene in bpy.data.scenes:
        if takes.takes_of_scene(scene, now=True):
            for obj in scene.objects:
                if obj.type == "MESH" and kind_of_settings(obj.muslin) == "CLOTH":
                    latest = takes.unused(scene, obj)
                    found += [latest, takes.complete_besides(scene, obj, latest)]
    if running is not None:
        found.append(found_take.read(running))
    return {take.id for take in found if take is not None}


def _folders_with_takes(scene: bpy.types.Scene) -> list[Path]:
    """Return the folders with takes of this file, and those that cannot be reached now."""
    return [folder for folder in takes.folders_of(scene) if folder != takes.temporary_folder()
            and (not folder.is_dir() or any(takes.is_of_file(take) for take in takes.takes_in(folder)))]


def _write_notes(folder: str) -> None:
    """Let the scenes of a .blend in `folder` note where takes are beside its cache folder, and of which objects."""
    for scene in bpy.data.scenes:
        if scene.library is not None or not scene.is_editable:
            continue
        own = mesh_cache.absolute_path(scene.muslin.cache_folder or "//muslin_cache", folder) if folder else None
        take_notes.write(scene, [path for path in _folders.get(scene.session_uid, []) if path != own], folder)


def _folder_of_file() -> str:
    """Return the folder of the open file, empty if it was never saved."""
    return os.path.dirname(bpy.data.filepath)


def _move_takes(scene: bpy.types.Scene, target: Path) -> None:
    """Move the takes of the scene's cloths from Blender's temporary folder to the folder `target`."""
    cloths = [obj for obj in scene.objects if obj.type == "MESH"]
    found = {take.folder: take for take in takes.takes_in(takes.temporary_folder(), now=True)
             if any(takes.cloth_in(take, obj) in take.cloths for obj in cloths)}
    found |= {take.folder: take for obj in cloths if (take := takes.in_use(obj)) is not None
              and take.folder.is_relative_to(bpy.app.tempdir)}
    for take in found.values():
        if is_written(take.folder):                                 # the next save moves it
            continue
        folder = takes.free_folder(target / take.folder.name)
        try:
            target.mkdir(parents=True, exist_ok=True)
            shutil.move(take.folder, folder)
            _moved[take.folder] = folder
        except OSError:
            if take.folder.is_dir():                                # else it is there, and only the rest failed
                shutil.rmtree(folder, ignore_errors=True)
    takes.forget()


def _point_all(seen_from: str, folder: str) -> None:
    """Let the records of all bakes say where their takes are seen from `folder`, and no longer from `seen_from`."""
    for obj in bpy.data.objects:
        record = baked_record.known(obj) if obj.library is None else None
        owner: Any = baked_record.holder(obj)
        if record is None or not record.take or not owner.is_editable or baked_record.is_of_library(obj):
            continue
        modifier: Any = obj.modifiers.get(record.modifier) if record.modifier else None
        if modifier is not None and baked_record.is_own(modifier):
            now = mesh_cache.absolute_path(modifier.filepath).parent     # Blender itself keeps that right
            if not now.is_dir() and now not in _moved and modifier.filepath.startswith("//"):
                now = mesh_cache.absolute_path(modifier.filepath, seen_from).parent
            there = _moved.get(now, now)
            if not folder and modifier.filepath.startswith("//"):
                modifier.filepath = str(mesh_cache.absolute_path(modifier.filepath, seen_from))
            if there != now:
                modifier.filepath = mesh_cache.blend_path(
                    there / mesh_cache.absolute_path(modifier.filepath, seen_from).name, folder)
        elif record.take.startswith("//") and not seen_from:
            continue                                                 # of the file that the object was appended from
        else:
            now = mesh_cache.absolute_path(record.take, seen_from)
            there = _moved.get(now, now)
        stored = mesh_cache.blend_path(there, folder)
        if stored != record.take:
            baked_record.save(owner, replace(record, take=stored))


def _note_users(path: str, folder: str) -> None:
    """Note in the takes whether the file at `path`, in `folder`, uses them. Bakes in other files then keep them."""
    used = {}
    for obj in bpy.data.objects:
        record = baked_record.known(obj)
        if record is not None and record.take and obj.library is None:
            used[record.take_id] = mesh_cache.absolute_path(record.take, folder)
    folders = {take.folder for scene in bpy.data.scenes for take in takes.takes_of_scene(scene, now=True)}
    for place in folders | {*used.values(), *_moved.values()}:
        take = found_take.read(place)
        if take is None:
            continue
        users = takes.users_of(take)
        new = [user for user in users if user != path]
        if take.id in used or take.id in _wanted or place in _moved.values():
            new.append(path)
        if sorted(new) != sorted(users) and not (path == take.owner and path in new and path not in users):
            with suppress(OSError):
                (place / USERS_NAME).write_text("".join(f"{user}\n" for user in new), encoding="utf-8",
                                                errors="surrogateescape")


def after_load() -> None:
    """Forget what belongs to the file that was open before."""
    _moved.clear()
    _earlier_folders.clear()
    takes.after_load()
