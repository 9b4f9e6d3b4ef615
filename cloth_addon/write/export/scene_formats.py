# SPDX-License-Identifier: GPL-3.0-or-later
"""Alembic, USD and OBJ sequences, by Blender's own exporters from the objects themselves.

The exporters evaluate every frame as the viewport does. They get the objects in a temporary collection, so that the
selection stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from .... import core
from .evaluation import frames_of_all
from .formats import FORMATS


def write_alembic(context: bpy.types.Context, objects: Sequence[bpy.types.Object], path: Path) -> None:
    """Write an Alembic file. Frame f has the time f over the frame rate, as Alembic's readers expect."""
    frames = frames_of_all(objects)
    with _collection(objects) as name:
        run_exporter(bpy.ops.wm.alembic_export, "ALEMBIC", path, collection=name, start=frames[0], end=frames[-1],
                     as_background_job=False, init_scene_frame_range=False, visible_objects_only=False, flatten=False,
                     evaluation_mode="VIEWPORT", apply_subdiv=True, subdiv_schema=False, export_hair=False,
                     export_particles=False, face_sets=True)


def write_usd(context: bpy.types.Context, objects: Sequence[bpy.types.Object], path: Path) -> list[str]:
    """Write a USD file, and return notes. The points of every frame are written, no blend shapes and no skeletons."""
    frames = frames_of_all(objects)
    if frames[-1] < 0:
        raise core.SceneError(f"the bake has the frames {frames[0]} to {frames[-1]}, and Blender's USD exporter writes "
                              "none below 0; export Alembic")
    with _collection(objects) as name, frame_range(context.scene, max(0, frames[0]), frames[-1]):
        run_exporter(bpy.ops.wm.usd_export, "USD", path, collection=name, export_animation=True,
                     visible_objects_only=False, evaluation_mode="VIEWPORT", export_shapekeys=False,
                     export_armatures=False, export_subdivision="TESSELLATE", export_hair=False)
    return [] if frames[0] >= 0 else [f"frames {frames[0]} to -1 are left out, because Blender's USD exporter writes "
                                      "none below 0; Alembic has them"]


def write_obj(context: bpy.types.Context, objects: Sequence[bpy.types.Object], path: Path) -> list[Path]:
    """Write one OBJ file per frame, and return their paths: the number of the frame is appended to the name."""
    frames = frames_of_all(objects)
    stem = path.with_name(f"{path.stem}_{path.suffix}")
    with _collection(objects) as name:
        run_exporter(bpy.ops.wm.obj_export, "OBJ", stem, written=obj_path(path, frames[-1]), collection=name,
                     export_animation=True, start_frame=frames[0], end_frame=frames[-1], apply_modifiers=True,
                     export_eval_mode="DAG_EVAL_VIEWPORT",
                     export_materials=any(slot.material for obj in objects for slot in obj.material_slots))
    return [obj_path(path, frame) for frame in frames]


def obj_path(path: Path, frame: int) -> Path:
    """Return the path of the file of one frame: NAME.obj -> NAME_0001.obj, NAME_-0001.obj."""
    return path.with_name(f"{path.stem}_{'-' if frame < 0 else ''}{abs(frame):04d}{path.suffix}")


def run_exporter(operator: Any, identifier: str, path: Path, *, written: Path | None = None, **settings: Any) -> None:
    """Run one of Blender's exporters with those settings that it has in this version.

    Args:
        identifier: the format, a key of FORMATS.
        written: a file that the exporter must have written, `path` if None.

    Raises:
        core.SceneError: it failed.
    """
    known = operator.get_rna_type().properties.keys()
    before = _modified(written or path)
    reason = ""
    try:
        result = operator(filepath=str(path), **{key: value for key, value in settings.items() if key in known})
    except RuntimeError as error:                                   # Blender's reports of errors
        result, reason = {"CANCELLED"}, f" ({' '.join(str(error).split())})"
    if "FINISHED" not in result or _modified(written or path) == before:
        raise core.SceneError(f"Blender's {FORMATS[identifier].name} exporter has not written {written or path}"
                              f"{reason}; name another file, or see the messages in Blender's console")


def _modified(path: Path) -> int | None:
    """Return when the file was written [ns]; None if there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


@contextmanager
def _collection(objects: Sequence[bpy.types.Object]) -> Iterator[str]:
    """Yield the name of a temporary collection of the objects, which is linked to no scene."""
    collection = bpy.data.collections.new("Muslin Export")
    try:
        for obj in objects:
            collection.objects.link(obj)
        yield collection.name
    finally:
        bpy.data.collections.remove(collection)


@contextmanager
def frame_range(scene: bpy.types.Scene, first: int, last: int) -> Iterator[None]:
    """Set the frame range of the scene; restore it at the end."""
    before = scene.frame_start, scene.frame_end
    try:
        scene.frame_start, scene.frame_end = first, last
        yield
    finally:
        scene.frame_start, scene.frame_end = before
