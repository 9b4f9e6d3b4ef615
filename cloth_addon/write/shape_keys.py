# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing of results: write, replace and delete bakes, each completely or not at all.

A bake is shape keys, or a Mesh Cache modifier (mesh_cache.py).

A mesh without shape keys gets absolute ones: a basis, one key per frame, and one F-curve of the evaluation time with a
keyframe at every frame. Two keyframes would not do, because the times that Blender gives the keys have rounding errors.
A mesh with relative keys keeps them unchanged and gets one more per frame, faded in and out by three keyframes; on
request so does a mesh without keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties import baked_record
from ..properties.baked_record import BakedRecord
from ..read import edited_keys
from . import delete_animation, mesh_cache

LINEAR = 1
"""Number of LINEAR in Keyframe.interpolation, as `foreach_set` takes it."""


@dataclass(frozen=True)
class BakedShape:
    """The bake of one object.

    Attributes:
        obj: the object to write to.
        first: first frame.
        coordinates: (F, V, 3) in the object's space [Blender units] of frames first, first + 1, ...; key coordinates
            of a bake in shape keys. Any sequence of F arrays (V, 3) will do.
        report: the report as JSON values.
        time_ratio: time at which Blender evaluates the animation of a frame, over its number [-]. Keyframes are set at
            that time, so that the bake plays at its own speed with the scene's Time Stretching.
        key_mode: AUTO, ABSOLUTE or RELATIVE, see `object.muslin.key_mode`.
        take, take_id, cloth: folder and identity of the cache, and name of the cloth there; empty without a cache.
        cache: path of the PC2 file that a Mesh Cache modifier is to play, instead of shape keys; None for these.
        cache_start: frame of the first sample in that file.
        key_digests: of the keys as they were baked; empty to compute them of `coordinates`.
    """

    obj: bpy.types.Object
    first: int
    coordinates: Sequence[NDArray[np.float32]] | NDArray[np.float32]
    report: dict[str, Any]
    time_ratio: float = 1.0
    key_mode: str = "AUTO"
    take: str = ""
    take_id: str = ""
    cloth: str = ""
    cache: Path | None = None
    cache_start: int = 0
    key_digests: Sequence[str] = ()


def write_bakes(shapes: Sequence[BakedShape]) -> None:
    """Write these bakes and replace the objects' earlier ones. If one fails, restore all objects and raise."""
    done: list[tuple[bpy.types.Object, BakedShape | None]] = []
    try:
        for shape in shapes:
            done.append((shape.obj, _read(shape.obj)))
            delete_bake(shape.obj)
            _write(shape)
    except BaseException:
        for obj, before in reversed(done):
            delete_bake(obj)
            if before is not None:
                _write(before)
        raise


def delete_bake(obj: bpy.types.Object) -> bool:
    """Delete the bake and restore the object as it was before. Return False if there is no bake."""
    return bool(delete_bakes([obj]))


def delete_bakes(objects: Sequence[bpy.types.Object]) -> list[bpy.types.Object]:
    """Delete the bakes of these objects, all of them or none. Return those that had one.

    Of objects that share a mesh all lose its bake. Everything that may fail comes before the first shape key is
    removed, and is undone if it does.

    Raises:
        core.SceneError: a record is damaged, or an action cannot be changed in this file.
    """
    found = [(obj, record) for obj in objects if (record := baked_record.load(obj)) is not None]
    records = [*{baked_record.holder(obj): (obj, record) for obj, record in reversed(found)}.values()][::-1]
    of_keys = [(obj, record) for obj, record in records if not record.modifier]
    for obj, record in of_keys:
        delete_animation.check_action(obj, record)
    undo: list[Callable[[], object]] = []
    try:
        for obj, record in of_keys:
            delete_animation.restore_animation(obj.data.shape_keys, record, undo)
    except BaseException:
        for step in reversed(undo):
            step()
        raise
    for obj, record in records:
        _restore_keys(obj, record)
    return [obj for obj, _ in found]


# ---------------------------------------------------------------------- one object

def _read(obj: bpy.types.Object) -> BakedShape | None:
    """Return the bake of the object, None without one."""
    record = baked_record.load(obj)
    if record is None:
        return None
    if record.modifier:
        return _read_modifier(obj, record)
    coordinates = np.empty((len(record.keys), len(obj.data.vertices), 3), np.float32)
    blocks = obj.data.shape_keys.key_blocks
    own = {*baked_record.own_keys(obj.data.shape_keys, record)}
    for i, name in enumerate(record.keys):
        (blocks[name] if name in own else blocks[0]).points.foreach_get("co", coordinates[i].ravel())
    return BakedShape(obj, record.first, coordinates, record.report, record.time_ratio,
                      "ABSOLUTE" if record.absolute else "RELATIVE", record.take, record.take_id, record.cloth,
                      key_digests=record.key_digests)


def _read_modifier(obj: bpy.types.Object, record: BakedRecord) -> BakedShape | None:
    """Return the bake of an object that a Mesh Cache modifier plays; None if the user has removed that."""
    modifier: Any = obj.modifiers.get(record.modifier)
    if modifier is None or not baked_record.is_own(modifier):
        return None
    return BakedShape(obj, record.first, [], record.report, record.time_ratio, take=record.take,
                      take_id=record.take_id, cloth=record.cloth,
                      cache=mesh_cache.absolute_path(modifier.filepath, library=obj.library),
                      cache_start=round(modifier.frame_start))


def _write(shape: BakedShape) -> None:
    """Write one bake on an object without one. If it fails, restore the object and raise."""
    if shape.cache is not None:
        _write_modifier(shape, shape.cache)
        return
    obj = shape.obj
    last = shape.first + len(shape.coordinates) - 1
    keys = obj.data.shape_keys
    if keys is not None and shape.key_mode == "ABSOLUTE":
        raise core.SceneError(f"has {len(keys.key_blocks)} shape keys of its own, so that its bake cannot be absolute "
                              "shape keys; choose Automatic or Relative for Keys, or Mesh Cache as the result",
                              object_name=obj.name)
    record = BakedRecord(first=shape.first, last=last, absolute=keys is None and shape.key_mode != "RELATIVE",
                         made_shape_keys=keys is None,
                         active_index=obj.active_shape_key_index, show_only=obj.show_only_shape_key,
                         report=shape.report, time_ratio=shape.time_ratio, take=shape.take, take_id=shape.take_id,
                         cloth=shape.cloth)
    try:
        if keys is None:
            basis = obj.shape_key_add(name="Basis", from_mix=False)
            basis.slider_min = baked_record.MARK
            record, keys = replace(record, basis=basis.name), obj.data.shape_keys
        record = replace(record, use_relative=keys.use_relative, eval_time=keys.eval_time)
        blocks = [_add_key(obj, record, shape.first + i, points) for i, points in enumerate(shape.coordinates)]
        if shape.key_digests:                                       # of a bake that is restored, edited or not
            record = replace(record, key_digests=list(shape.key_digests))
        record = _with_animation_state(keys, record)
        _prepare_animation(keys)
        if record.absolute:
            keys.use_relative = False
            obj.show_only_shape_key = False
            times = np.array([[(shape.first + i) * shape.time_ratio, block.frame] for i, block in enumerate(blocks)],
                             np.float32)
            _write_curve(keys, record, "eval_time", times)
        else:
            for i, block in enumerate(blocks):
                _write_curve(keys, record, baked_record.value_path(block.name),
                             delete_animation.fade(record, shape.first + i))
        baked_record.save(keys, record)
    except BaseException:
        _restore(obj, record)
        raise


def _write_modifier(shape: BakedShape, cache: Path) -> None:
    """Add the Mesh Cache modifier that plays a bake, and its record. If it fails, take both away and raise."""
    obj = shape.obj
    modifier = mesh_cache.add(obj, mesh_cache.RESULT, cache, shape.cache_start, shape.time_ratio)
    try:
        baked_record.save(obj, BakedRecord(
            first=shape.report["first"], last=shape.report["last"], absolute=False, modifier=modifier.name,
            report=shape.report, time_ratio=shape.time_ratio, take=shape.take, take_id=shape.take_id,
            cloth=shape.cloth))
    except BaseException:
        obj.modifiers.remove(modifier)
        raise


def _add_key(obj: bpy.types.Object, record: BakedRecord, frame: int, points: NDArray[np.float32]) -> bpy.types.ShapeKey:
    """Add the shape key of one frame, and its name to the record."""
    block = obj.shape_key_add(name=baked_record.key_name(frame), from_mix=False)
    block.slider_min = baked_record.MARK
    record.keys.append(block.name)
    block.value = 0.0
    block.points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    record.key_digests.append(edited_keys.digest(points))
    return block


def _with_animation_state(keys: bpy.types.Key, record: BakedRecord) -> BakedRecord:
    """Return the record with which of animation data, action and slot the bake has to make, and the last slot used."""
    animation = keys.animation_data
    return replace(record, made_animation_data=animation is None,
                   last_slot="" if animation is None else animation.last_slot_identifier,
                   made_action=animation is None or animation.action is None,
                   made_slot=animation is None or animation.action_slot is None)


def _prepare_animation(keys: bpy.types.Key) -> None:
    """Give the shape keys an action for the curves of the bake if they have none."""
    animation = keys.animation_data_create()
    if animation.action is None:
        animation.action = bpy.data.actions.new(f"Muslin {keys.user.name}")
        animation.action[delete_animation.MADE] = True


def _write_curve(keys: bpy.types.Key, record: BakedRecord, path: str, points: NDArray[np.floating[Any]]) -> None:
    """Write a linear F-curve with keyframes `points` (K, 2) of time and value, and add its path to the record."""
    curve = keys.animation_data.action.fcurve_ensure_for_datablock(keys, path, index=0)
    record.curves.append(path)
    if len(curve.keyframe_points):                          # left of a baked key that was removed by hand
        curve.keyframe_points.clear()
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", points.astype(np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.int32))
    curve.update()


def _restore(obj: bpy.types.Object, record: BakedRecord) -> None:
    """Undo `_write`, which has failed on the way."""
    keys = obj.data.shape_keys
    if keys is not None:
        delete_animation.restore_animation(keys, record, [])
        _restore_keys(obj, record)


def _restore_keys(obj: bpy.types.Object, record: BakedRecord) -> None:
    """Remove the shape keys and the record of the bake, and restore the settings of the keys; or its modifier."""
    if record.modifier:
        mesh_cache.remove(obj, record.modifier)
        baked_record.forget(obj)
        return
    keys, shown_by = obj.data.shape_keys, [obj, *baked_record.sharing(obj)]
    if baked_record.only_baked(keys, record):
        obj.shape_key_clear()
    else:
        for name in baked_record.own_keys(keys, record):
            obj.shape_key_remove(keys.key_blocks[name])
        if keys.reference_key.slider_min == baked_record.MARK:      # now the basis of the keys that are left
            keys.reference_key.slider_min = 0.0
        keys.use_relative, keys.eval_time = record.use_relative, record.eval_time
        if keys.get(baked_record.PROPERTY) is not None:
            del keys[baked_record.PROPERTY]
    count = 0 if obj.data.shape_keys is None else len(obj.data.shape_keys.key_blocks)
    for each in shown_by:
        each.show_only_shape_key = record.show_only
        each.active_shape_key_index = min(record.active_index, max(count - 1, 0))
    obj.data.update_tag()
