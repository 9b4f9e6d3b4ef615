# SPDX-License-Identifier: GPL-3.0-or-later
"""Write a take on disk into the file as its result: shape keys, or a Mesh Cache modifier.

The take holds positions as displayed, in the object's space, and a Mesh Cache modifier plays them as they are. Shape
keys act before the modifiers that deform the object, and together with the user's own keys. So their coordinates are
computed frame by frame by evaluating the object in Blender, see write/key_coordinates.py.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ...core.cache.take import Take
from ..properties import baked_record
from ..properties.number_text import number_text
from ..properties.settings import scene_settings_of
from ..read import read_cloth
from ..read.frame_window import evaluated_object
from ..write import mesh_cache, shape_keys
from ..write.key_coordinates import KeyFitter
from ..write.report import Report, versions
from ..write.shape_key_size import check_memory
from . import report_notes, takes
from .found_take import FoundTake
from .progress import Progress, StageTimer
from .take_parts import mixed_parts
from .watch import Watch

KEPT = "The frames of the bake are kept: once the object is shown, press Use, or bake with Resume"
"""End of the error message if cloth is switched off when its shape keys are written."""


class TakeFrames(Sequence[NDArray[np.float32]]):
    """The frames of one cloth of a take as coordinates (V, 3), read from disk one by one."""

    def __init__(self, take: Take, number: int, first: int, last: int) -> None:
        self._take, self._number, self._first, self._count = take, number, first, last - first + 1

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if not 0 <= index < self._count:
            raise IndexError(index)
        return self._take.positions(self._number, self._first + index)

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        return (self[index] for index in range(self._count))


def apply_take(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, take: Take,
               objects: Sequence[bpy.types.Object], timer: StageTimer, watch: Watch | None = None
               ) -> Generator[Progress, None, Report]:
    """Make the result of a take, complete or not, on `objects`, the cloths of the take in its order.

    Yields Progress, and returns the report. The earlier result is replaced at the end, completely or not at all.
    `watch` notices what changes meanwhile; without one a new watch begins here.

    Raises:
        core.ClothError: the mesh is not that of the take, or the result cannot be written.
    """
    header, last = take.header, take.last
    if last is None or last <= header.first:
        raise core.SceneError(f"the cache {take.folder} has no frame after the first; go on with the bake")
    check_memory(objects, last - header.first + 1)
    if watch is None:
        watch = Watch(scene, ignores_settings=True)
        watch.start(view_layer, objects, [], lambda: scene_settings_of(scene))
    with watch.errors_named():
        return (yield from _applied(scene, view_layer, take, last, objects, timer, watch))


def _applied(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, take: Take, last: int,
             objects: Sequence[bpy.types.Object], timer: StageTimer, watch: Watch
             ) -> Generator[Progress, None, Report]:
    """Make the result as `apply_take` does, of the frames up to `last`."""
    header = take.header
    names = tuple(obj.name for obj in objects)
    total = last - header.first + 1
    certificates = take.certificates()[header.first - header.start:]
    own = [record for obj in objects if (record := baked_record.known(obj)) is not None
           and (record.take_id, record.last) == (header.take, last)]                    # switched to another result
    errors: dict[str, float] = {}
    coordinates: list[Any] = []
    for number, obj in enumerate(objects):
        if len(obj.data.vertices) != header.cloths[number].vertices:
            raise core.MeshError(f"has {len(obj.data.vertices)} vertices, and {header.cloths[number].vertices} when it "
                                 "was baked; undo the change of the mesh, or bake again", object_name=obj.name)
        frames: Any = TakeFrames(take, number, header.first, last)
        errors[obj.name] = 0.0
        if obj.muslin.result != "MESH_CACHE":
            evaluated_object(obj, view_layer, and_then=KEPT)
            source = read_cloth.read_source(obj, scene, view_layer)
            fitter = KeyFitter(source, scene, view_layer, header.metres_per_unit)
            if fitter.is_needed:
                keys = _allocate_keys(obj, total)
                for done in range(total):
                    yield Progress(header.first + done, done, total, None, None, names, touches_blender=True,
                                   stage=f"Making shape keys, {done} of {total}")
                    with timer.stage("fit"):
                        watch.check()
                        scene.frame_set(header.first + done)
                        watch.set_frame(header.first + done)
                        keys[done] = fitter.key_coordinates(frames[done])
                frames, errors[obj.name] = keys, fitter.error
        coordinates.append(frames)
    report = _report(take, names, last, certificates, errors, timer, scene)
    if own:
        report = replace(report, seconds={**own[0].report["seconds"]})
    yield Progress(last, total, total, 0.0, None, names, touches_blender=True)
    watch.check()
    with timer.stage("write"):
        values = report.as_dict()
        takes.note_replaced(objects)
        for number, obj in enumerate(objects):                      # raises if a file is gone, or a frame is damaged
            for frame in range(header.first, last + 1) if obj.muslin.result == "MESH_CACHE" else (last,):
                take.positions(number, frame)
        shape_keys.write_bakes([
            shape_keys.BakedShape(
                obj, header.first, frames, values, header.time_ratio, obj.muslin.key_mode,
                mesh_cache.blend_path(take.folder), header.take, header.cloths[number].name,
                take.folder / header.cloths[number].file if obj.muslin.result == "MESH_CACHE" else None, header.start)
            for number, (obj, frames) in enumerate(zip(objects, coordinates, strict=True))])
    takes.forget()
    return report


def _allocate_keys(obj: bpy.types.Object, frames: int) -> NDArray[np.float32]:
    """Return an array (F, V, 3) for the key coordinates of one cloth."""
    shape = frames, len(obj.data.vertices), 3
    try:
        return np.empty(shape, np.float32)
    except MemoryError as error:
        size = 4e-9 * np.prod(shape, dtype=float)
        raise core.SceneError(f"{frames} frames of {shape[1]} vertices take {number_text(size, 3)} GB as shape keys, "
                              "more than there is; choose Mesh Cache as the result, or bake fewer frames",
                              object_name=obj.name) from error


def _report(take: Take, names: Sequence[str], last: int, certificates: list[dict[str, Any]],
            errors: dict[str, float], timer: StageTimer, scene: bpy.types.Scene) -> Report:
    """Return the report of what a take has up to the frame `last`."""
    header = take.header
    backend = certificates[0].get("backend", "numpy")
    segment = [part for part in take.segments if part["from_frame"] <= max(last, header.start)][-1]
    fingerprints, known = segment["fingerprints"], segment["report"]
    renamed = dict(zip((cloth.name for cloth in header.cloths), names, strict=True))
    settings = _settings(segment["settings"], list(renamed))
    seconds = timer.seconds()
    seconds["solve"] = round(sum(frame["frame_seconds"] for frame in take.certificates()
                                 if frame["frame"] <= last), 4)                         # by whichever process
    seconds["total"] = round(seconds["solve"] + seconds.get("fit", 0.0), 4)             # reading goes on beside it
    report = Report(
        scene=scene.name, cloths=list(names), colliders=known.get("colliders", []), first=header.first, last=last,
        settings={**settings, "cloths": {renamed[name]: value for name, value in settings["cloths"].items()}},
        certificates=certificates,
        fingerprints={renamed.get(name, name): value for name, value in fingerprints.items()},
        playback_error=errors, seconds=seconds, notes=list(known.get("notes", [])),
        versions=versions(numba=backend == "numba"), backend=backend,
        scene_cloths=[renamed.get(name, name) for name in take.segments[0]["report"].get("scene_cloths", [])
                      if isinstance(name, str)],
        parts=mixed_parts(take.segments, header.first, last))
    notes = report_notes.result_notes(report, {renamed.get(name, name): edge for name, edge
                                               in known.get("mean_edges", {}).items()}, take.certificates())
    if last < take.end:
        notes.append(f"{report_notes.PARTIAL} {header.first} to {last} of {take.end}. Resume goes on from there.")
    return Report(**{**vars(report), "notes": report.notes + notes})


def _settings(stored: Mapping[str, Any], cloths: Sequence[str]) -> dict[str, Any]:
    """Return the settings of a take as {"scene": ..., "cloths": {name: ...}}. Earlier versions had all in one table."""
    if set(stored) == {"scene", "cloths"} and set(stored["cloths"]) == set(cloths):
        return dict(stored)
    return {"scene": stored.get("scene", {}), "cloths": {name: stored.get(name, {}) for name in cloths}}


def objects_of(take: FoundTake, scene: bpy.types.Scene, preferred: bpy.types.Object | None = None
               ) -> list[bpy.types.Object]:
    """Return the objects of the scene that a take is of, in its order.

    A renamed object is found by the record of its bake. Of several copies of one, the `preferred` object is taken.

    Raises:
        core.SceneError: one is missing.
    """
    found = []
    for name in take.cloths:
        candidates = [obj for obj in scene.objects if obj.type == "MESH" and takes.cloth_in(take, obj) == name]
        if not candidates:
            raise core.SceneError(f"the cache {take.folder} is of '{name}', which is not in the scene; undo its "
                                  "renaming or deletion, or bake again")
        found.append(min(candidates, key=lambda obj: (obj != preferred, not takes.is_of(take, obj), obj.name != name,
                                                      obj.name)))
    return found
