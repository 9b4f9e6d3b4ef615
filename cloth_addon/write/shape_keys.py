# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake as shape keys: written, replaced and taken back, each all or nothing.

A mesh without shape keys gets absolute ones: a basis, one key per frame, and one F-curve on the evaluation time
with a keyframe at every frame, because the keys' times drift and two keyframes would miss them by a little.
A mesh with relative keys of its user's keeps them as they are and gets one more per frame, each faded in and out
by three keyframes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy_extras import anim_utils
from numpy.typing import NDArray

from ... import core
from . import baked_record
from .baked_record import BakedRecord

LINEAR = 1      # the number of LINEAR in Keyframe.interpolation, for foreach_set


@dataclass(frozen=True)
class BakedShape:
    """What is to be written on one object: key coordinates (F, V, 3) [Blender units] of frames first, first + 1, ...

    `time_ratio` is by what the scene's Time Stretching multiplies a frame's number to get the time at which its
    animation is read: keyframes stand at that time, or the bake would play at another speed than it was made.
    """

    obj: bpy.types.Object
    first: int
    coordinates: NDArray[np.float32]
    report: dict[str, Any]
    time_ratio: float = 1.0


def users_keys(obj: bpy.types.Object) -> list[str]:
    """Names of the shape keys that are not a bake's, the basis among them."""
    keys = obj.data.shape_keys
    if keys is None:
        return []
    record = baked_record.load(obj)
    names = [block.name for block in keys.key_blocks]
    if record is None:
        return names
    theirs = [name for name in names if name not in set(record.keys)]
    return [] if record.made_shape_keys and theirs == [record.basis] else theirs


def check_writable(obj: bpy.types.Object) -> None:
    """Raises SceneError where a bake could not be written beside what the user has."""
    def refuse(message: str) -> None:
        raise core.SceneError(message, object_name=obj.name)

    keys = obj.data.shape_keys
    if keys is None:
        return
    record = baked_record.load(obj)
    if users_keys(obj):
        if not (keys.use_relative or record is not None):
            refuse(f"its {len(keys.key_blocks)} shape keys are absolute, and a bake needs relative ones beside it; "
                   "switch on Relative in the Shape Keys panel, or remove them")
        if obj.show_only_shape_key:
            refuse("shows its active shape key alone, which would hide the bake; switch off Solo in the Shape Keys "
                   "panel")
    animation = keys.animation_data
    if animation is None or animation.action is None or (record is not None and record.made_action):
        return
    action, slot = animation.action, animation.action_slot
    if animation.use_tweak_mode:
        refuse(f"a strip of its shape keys is in tweak mode (action '{action.name}'); leave it first")
    if action.library is not None:
        refuse(f"the action '{action.name}' of its shape keys is linked from {action.library.filepath}; make it local")
    if slot is not None and len(slot.users()) > 1:
        refuse(f"the action '{action.name}' of its shape keys animates {len(slot.users())} data-blocks in one slot; "
               "make it single-user")


def replace(shapes: Sequence[BakedShape]) -> None:
    """Writes these bakes in the place of the objects' earlier ones. If anything fails, everything is as before."""
    done: list[tuple[bpy.types.Object, BakedShape | None]] = []
    try:
        for shape in shapes:
            done.append((shape.obj, _read(shape.obj)))
            remove(shape.obj)
            _write(shape)
    except BaseException:
        for obj, before in reversed(done):
            remove(obj)
            if before is not None:
                _write(before)
        raise


def remove(obj: bpy.types.Object) -> bool:
    """Delete Bake: the object as it was before. False where there was no bake."""
    record = baked_record.load(obj)
    if record is not None:
        _take_back(obj, record)
    return record is not None


# ---------------------------------------------------------------------- one object

def _read(obj: bpy.types.Object) -> BakedShape | None:
    record = baked_record.load(obj)
    if record is None:
        return None
    coordinates = np.empty((len(record.keys), len(obj.data.vertices), 3), np.float32)
    blocks = obj.data.shape_keys.key_blocks
    for i, name in enumerate(record.keys):
        block = blocks.get(name)
        (block or blocks[0]).points.foreach_get("co", coordinates[i].ravel())
    return BakedShape(obj, record.first, coordinates, record.report, record.time_ratio)


def _write(shape: BakedShape) -> None:
    obj = shape.obj
    last = shape.first + len(shape.coordinates) - 1
    keys = obj.data.shape_keys
    record = BakedRecord(first=shape.first, last=last, absolute=keys is None, made_shape_keys=keys is None,
                         active_index=obj.active_shape_key_index, show_only=obj.show_only_shape_key,
                         report=shape.report, time_ratio=shape.time_ratio)
    try:
        if keys is None:
            record.basis = obj.shape_key_add(name="Basis", from_mix=False).name
            keys = obj.data.shape_keys
        record.use_relative, record.eval_time = keys.use_relative, keys.eval_time
        blocks = [_add_key(obj, record, shape.first + i, points) for i, points in enumerate(shape.coordinates)]
        _prepare_animation(keys, record)
        if record.absolute:
            keys.use_relative = False
            obj.show_only_shape_key = False
            times = np.array([[(shape.first + i) * shape.time_ratio, block.frame] for i, block in enumerate(blocks)],
                             np.float32)
            _write_curve(keys, record, "eval_time", times)
        else:
            fade = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], np.float32)
            for i, block in enumerate(blocks):
                inside = fade[:2] if i == len(blocks) - 1 else fade         # the last shape stays
                _write_curve(keys, record, f'key_blocks["{bpy.utils.escape_identifier(block.name)}"].value',
                             (inside + [shape.first + i, 0.0]) * [shape.time_ratio, 1.0])
        baked_record.save(keys, record)
    except BaseException:
        _take_back(obj, record)
        raise


def _add_key(obj: bpy.types.Object, record: BakedRecord, frame: int, points: NDArray[np.float32]) -> bpy.types.ShapeKey:
    block = obj.shape_key_add(name=f"Muslin {frame:04d}", from_mix=False)
    record.keys.append(block.name)
    block.value = 0.0
    block.points.foreach_set("co", np.ascontiguousarray(points, np.float32).ravel())
    return block


def _prepare_animation(keys: bpy.types.Key, record: BakedRecord) -> None:
    """An action and a slot for the bake's curves: the user's own where there is one."""
    record.made_animation_data = keys.animation_data is None
    animation = keys.animation_data_create()
    record.last_slot = animation.last_slot_identifier
    if animation.action is None:
        record.made_action = True
        animation.action = bpy.data.actions.new(f"Muslin {keys.user.name}")
    record.made_slot = animation.action_slot is None


def _write_curve(keys: bpy.types.Key, record: BakedRecord, path: str, points: NDArray[np.floating[Any]]) -> None:
    curve = keys.animation_data.action.fcurve_ensure_for_datablock(keys, path, index=0)
    record.curves.append(path)
    curve.keyframe_points.add(len(points))
    curve.keyframe_points.foreach_set("co", points.astype(np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.int32))
    curve.update()


def _take_back(obj: bpy.types.Object, record: BakedRecord) -> None:
    """Undoes all of `_write` that was done."""
    keys = obj.data.shape_keys
    if keys is None:
        return
    _take_back_animation(keys, record)
    ours = set(record.keys)
    theirs = [block.name for block in keys.key_blocks if block.name not in ours]
    if record.made_shape_keys and theirs in ([], [record.basis]):
        obj.shape_key_clear()
    else:
        for name in record.keys:
            block = keys.key_blocks.get(name)
            if block is not None:
                obj.shape_key_remove(block)
        keys.use_relative, keys.eval_time = record.use_relative, record.eval_time
        if keys.get(baked_record.PROPERTY) is not None:
            del keys[baked_record.PROPERTY]
    obj.show_only_shape_key = record.show_only
    obj.active_shape_key_index = record.active_index
    obj.data.update_tag()


def _take_back_animation(keys: bpy.types.Key, record: BakedRecord) -> None:
    animation = keys.animation_data
    if animation is None:
        return
    action, slot = animation.action, animation.action_slot
    if action is not None and slot is not None:
        bag = anim_utils.action_get_channelbag_for_slot(action, slot)
        shared = len(slot.users()) > 1      # with a copy of this mesh, which is baked too and plays these curves
        if bag is not None and not shared:
            for curve in [bag.fcurves.find(path) for path in record.curves]:
                if curve is not None:
                    bag.fcurves.remove(curve)
        if record.made_slot and (shared or bag is None or not len(bag.fcurves)):
            animation.action_slot = None
            if not shared:
                action.slots.remove(slot)
    if record.made_action and action is not None and animation.action_slot is None:
        animation.action = None
        if action.users == 0:
            bpy.data.actions.remove(action)
    if animation.action_slot is None:
        animation.last_slot_identifier = record.last_slot
    if record.made_animation_data and animation.action is None and not animation.drivers and not animation.nla_tracks:
        keys.animation_data_clear()
