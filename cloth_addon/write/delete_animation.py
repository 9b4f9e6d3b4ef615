# SPDX-License-Identifier: GPL-3.0-or-later
"""Removal of a bake's animation: its F-curves, and the slot, action and animation data that it has made.

Every step appends to a list how it is undone, so that a deletion that fails leaves the file as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import bpy
import numpy as np
from bpy_extras import anim_utils
from numpy.typing import NDArray

from ... import core
from ..properties import baked_record
from ..properties.baked_record import BakedRecord

MADE = "muslin_made"
"""Custom property of an action that a bake has made; bakes of version 1 have none."""
Undo = list[Callable[[], object]]
"""Functions that undo the steps so far, to be called last first."""


def check_action(obj: bpy.types.Object, record: BakedRecord) -> None:
    """Raise SceneError if the F-curves of the bake cannot be removed, because they are in another file."""
    animation = obj.data.shape_keys.animation_data
    action = animation.action if animation is not None else None
    if action is not None and action.library is not None and _curves_of(obj.data.shape_keys, record):
        raise core.SceneError(f"the action '{action.name}' of its shape keys is linked from {action.library.filepath}; "
                              "make it local", object_name=obj.name)


def fade(record: BakedRecord, frame: int) -> NDArray[np.float32]:
    """Return the keyframes (K, 2) of time and value by which the relative key of a frame is shown at that frame."""
    points = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], np.float32)
    points = points[:2] if frame == record.last else points             # the last shape stays
    return ((points + [frame, 0.0]) * [record.time_ratio, 1.0]).astype(np.float32)


def restore_animation(keys: bpy.types.Key, record: BakedRecord, undo: Undo) -> None:
    """Remove the curves of the bake, and the slot, action and animation data that it has made."""
    animation = keys.animation_data
    if animation is None:
        return
    action, slot, last_slot = animation.action, animation.action_slot, animation.last_slot_identifier
    undo.append(lambda: setattr(keys.animation_data, "last_slot_identifier", last_slot))
    shared = slot is not None and len(slot.users()) > 1     # a copy of this baked mesh plays the same curves
    bag = anim_utils.action_get_channelbag_for_slot(action, slot) if action is not None and slot is not None else None
    if not shared:
        named = {*record.curves}
        for curve in reversed(_curves_of(keys, record)):     # undone in their order
            path = curve.data_path
            _remove_curve(keys, bag, curve, undo)
            if path not in named:
                _hide(keys.path_resolve(path.removesuffix(".value")), undo)
    if slot is not None and record.made_slot and (shared or bag is None or not len(bag.fcurves)):
        _remove_slot(keys, shared, undo)
    if record.made_action and action is not None and animation.action_slot is None:
        _remove_action(keys, record, undo)
    if animation.action_slot is None:
        animation.last_slot_identifier = record.last_slot
    if record.made_animation_data and animation.action is None and not animation.drivers and not animation.nla_tracks:
        keys.animation_data_clear()
        undo.append(keys.animation_data_create)


def _curves_of(keys: bpy.types.Key, record: BakedRecord) -> list[Any]:
    """Return the F-curves of the bake that are still there: of its own keys, or of the evaluation time."""
    animation = keys.animation_data
    if animation is None or animation.action is None or animation.action_slot is None:
        return []
    bag = anim_utils.action_get_channelbag_for_slot(animation.action, animation.action_slot)
    paths = set(record.curves) & {"eval_time", *map(baked_record.value_path, baked_record.own_keys(keys, record))}
    if bag is None:
        return []
    found = [bag.fcurves.find(path) for path in record.curves if path in paths]
    return [curve for curve in found if curve is not None] + _curves_of_renamed(keys, record, bag)


def _curves_of_renamed(keys: bpy.types.Key, record: BakedRecord, bag: Any) -> list[Any]:
    """Return the F-curves of keys of the bake that the user has renamed, where they are as the bake has made them.

    Such a key belongs to the user. Blender gives its F-curve the new name, with which it would go on moving the cloth.
    """
    own, named = {*baked_record.own_keys(keys, record)}, {*record.keys}
    missing = [] if record.absolute else [fade(record, record.first + place) for place, name in enumerate(record.keys)
                                          if name not in own]
    found = []
    for block in keys.key_blocks if missing else ():
        if block.slider_min != baked_record.MARK or block.name in named or block == keys.reference_key:
            continue
        curve = bag.fcurves.find(baked_record.value_path(block.name))
        points = np.empty(0 if curve is None else 2 * len(curve.keyframe_points), np.float32)
        if curve is not None:
            curve.keyframe_points.foreach_get("co", points)
        if any(np.array_equal(points, each.ravel()) for each in missing):
            found.append(curve)
    return found


def _remove_curve(keys: bpy.types.Key, bag: Any, curve: Any, undo: Undo) -> None:
    path, count = curve.data_path, len(curve.keyframe_points)
    points, modes = np.empty(2 * count, np.float32), np.empty(count, np.int32)
    curve.keyframe_points.foreach_get("co", points)
    curve.keyframe_points.foreach_get("interpolation", modes)

    def restore() -> None:
        again = keys.animation_data.action.fcurve_ensure_for_datablock(keys, path, index=0)
        again.keyframe_points.add(count)
        again.keyframe_points.foreach_set("co", points)
        again.keyframe_points.foreach_set("interpolation", modes)
        again.update()

    bag.fcurves.remove(curve)
    undo.append(restore)


def _hide(block: Any, undo: Undo) -> None:
    """Set the value of a key that is kept to 0: without its F-curve it would show what it did last."""
    value = block.value
    block.value = 0.0
    undo.append(lambda: setattr(block, "value", value))


def _remove_slot(keys: bpy.types.Key, shared: bool, undo: Undo) -> None:
    animation = keys.animation_data
    action, slot = animation.action, animation.action_slot
    name, kind = slot.name_display, cast(Any, slot.target_id_type)
    animation.action_slot = None
    if shared:
        undo.append(lambda: setattr(keys.animation_data, "action_slot", slot))
        return
    action.slots.remove(slot)
    undo.append(lambda: setattr(keys.animation_data, "action_slot",
                                keys.animation_data.action.slots.new(kind, name)))


def _remove_action(keys: bpy.types.Key, record: BakedRecord, undo: Undo) -> None:
    """Take the action of the bake from the keys, and remove it if nothing is left in it."""
    animation = keys.animation_data
    action, name = animation.action, animation.action.name
    if record.version >= 2 and action.get(MADE) is None:                # the user has given the keys another action
        return
    animation.action = None
    if action.users > 0 or len(action.slots):
        undo.append(lambda: setattr(keys.animation_data, "action", action))
        return
    bpy.data.actions.remove(action)

    def restore() -> None:
        made = bpy.data.actions.new(name)
        made[MADE] = True
        keys.animation_data.action = made

    undo.append(restore)
