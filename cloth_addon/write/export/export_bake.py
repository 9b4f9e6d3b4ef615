# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of baked cloth into one of the formats, with checks before anything is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import bpy

from .... import core
from ...properties import baked_record
from .. import output_paths
from ..mesh_cache import missing_file
from .evaluation import check_exportable, evaluated
from .formats import FORMATS, why_missing
from .morph_formats import write_fbx, write_gltf
from .point_cache import write_mdd, write_pc2
from .scene_formats import write_alembic, write_obj, write_usd

CACHES = {"PC2": write_pc2, "MDD": write_mdd}
"""Formats with one file per object."""


@dataclass(frozen=True)
class Exported:
    """What an export has written.

    Attributes:
        paths: the files.
        notes: sentences for the user, without capital and full stop.
    """

    paths: list[Path]
    notes: list[str] = field(default_factory=list)


def export_bake(context: bpy.types.Context, objects: Sequence[bpy.types.Object], identifier: str, path: Path, *,
                use_modifiers: bool = True) -> Exported:
    """Export the bakes of `objects` into the file `path`, at the frame rate of the context's scene.

    The blend file is the same afterwards: frame, selection, mode, names, and all data-blocks.

    Args:
        identifier: the format, a key of FORMATS.
        path: the file. An OBJ sequence appends the frame to its name; PC2 and MDD of several objects the object's name.
        use_modifiers: whether modifiers that change vertices or faces are on, as in the viewport. PC2 and MDD are
            always without them.

    Raises:
        core.SceneError: it cannot be exported.
        OSError: a file cannot be written.
    """
    missing = why_missing(identifier)
    if missing:
        raise core.SceneError(missing)
    check_exportable(objects)
    for obj in objects:
        if gone := missing_file(obj):
            raise core.SceneError(gone, object_name=obj.name)
        record = baked_record.known(obj)
        if record is not None and record.modifier and record.modifier not in obj.modifiers:
            raise core.SceneError("the modifier that plays its bake is missing; bake again", object_name=obj.name)
    paths = object_paths(path, objects) if identifier in CACHES else [path]
    for target in paths:
        reason = output_paths.why_no_file(output_paths.target_of(target))
        if reason:
            raise core.SceneError(reason)
    notes: list[str] = []
    with evaluated(context, objects, use_modifiers=use_modifiers and identifier not in CACHES):
        if identifier in CACHES:
            CACHES[identifier](context, objects, paths)
        elif identifier == "ALEMBIC":
            write_alembic(context, objects, path)
        elif identifier == "USD":
            notes = write_usd(context, objects, path)
        elif identifier == "OBJ":
            paths = write_obj(context, objects, path)
        elif identifier == "GLTF":
            notes = write_gltf(context, objects, path)
        else:
            notes = write_fbx(context, objects, path)
    return Exported(paths, notes)


def object_paths(path: Path, objects: Sequence[bpy.types.Object]) -> list[Path]:
    """Return `path` for one object. For several append their names, without what a file system may not allow."""
    if len(objects) == 1:
        return [path]
    paths: list[Path] = []
    for obj in objects:
        name = bpy.path.clean_name(obj.name)
        found, number = path.with_name(f"{path.stem}_{name}{path.suffix}"), 1
        while found in paths:
            found, number = path.with_name(f"{path.stem}_{name}.{number:03d}{path.suffix}"), number + 1
        paths.append(found)
    return paths


def export_path(text: str, identifier: str) -> Path:
    """Return the path that a user has given, with the format's extension; // is the blend file's folder."""
    form, path = FORMATS[identifier], Path(bpy.path.abspath(text))
    return path if path.suffix.lower() in (form.extension, *form.others) else Path(f"{path}{form.extension}")
