# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a bake in the .blend file: the state to restore on Delete Bake, and the report of the bake.

The record is JSON text in a custom property of the mesh's shape keys, where the bake is stored. It is copied, appended
and saved with them, and disappears when all shape keys are removed by hand.
"""

from __future__ import annotations

import functools
import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import bpy

from ... import core

PROPERTY = "muslin_bake"
VERSION = 1


@dataclass(frozen=True, kw_only=True)
class BakedRecord:
    """A bake and the state before it.

    Attributes:
        first, last: first and last baked frame.
        absolute: whether the shape keys of the bake are absolute. Otherwise they are relative, beside the user's own.
        keys: names of the shape keys of the bake, one per frame.
        made_shape_keys: whether the mesh had no shape keys before; `basis` is then the name of the added basis.
        made_animation_data, made_action, made_slot: whether the shape keys had none of these before.
        last_slot: value of the animation data's `last_slot_identifier` before the bake.
        curves: data paths of the F-curves of the bake.
        time_ratio: scene time of a keyframe over its frame number [-], see write/shape_keys.py.
        active_index, use_relative, eval_time, show_only: values before the bake.
        report: the report of the bake, see write/report.py.
        version: version of this format.
    """

    first: int
    last: int
    absolute: bool
    keys: list[str] = field(default_factory=list)
    made_shape_keys: bool = False
    basis: str = ""
    made_animation_data: bool = False
    made_action: bool = False
    made_slot: bool = False
    last_slot: str = ""
    curves: list[str] = field(default_factory=list)
    active_index: int = 0
    use_relative: bool = True
    eval_time: float = 0.0
    show_only: bool = False
    time_ratio: float = 1.0
    report: dict[str, Any] = field(default_factory=dict)
    version: int = VERSION


def has_bake(obj: bpy.types.Object) -> bool:
    """Return whether `obj` has a bake. Fast enough for drawing a panel."""
    return obj.type == "MESH" and obj.data.shape_keys is not None and obj.data.shape_keys.get(PROPERTY) is not None


def save(shape_keys: bpy.types.Key, record: BakedRecord) -> None:
    """Store the record in the shape keys of a mesh."""
    shape_keys[PROPERTY] = json.dumps(asdict(record), separators=(",", ":"), allow_nan=False)


def load(obj: bpy.types.Object) -> BakedRecord | None:
    """Return the record of the bake of `obj`, None without a bake.

    Raises:
        core.SceneError: the record is damaged or was written by a later version of Muslin.
    """
    return _parse(obj.data.shape_keys[PROPERTY], obj.name) if has_bake(obj) else None


def _parse(text: str, name: str) -> BakedRecord:
    try:
        values = json.loads(text)
        version = values.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise core.SceneError(f"its bake was written by another version of Muslin (record {version}, this one "
                                  f"reads {VERSION}); use that version to delete it", object_name=name)
        known = {f.name for f in fields(BakedRecord)}
        return BakedRecord(**{name: value for name, value in values.items() if name in known})
    except (TypeError, ValueError, AttributeError) as error:
        if isinstance(error, core.ClothError):
            raise
        raise core.SceneError(f"the record of its bake cannot be read ({error}); delete its shape keys and the "
                              f"custom property '{PROPERTY}' by hand", object_name=name) from error


def report_of(obj: bpy.types.Object) -> dict[str, Any] | None:
    """Return the report of the bake of `obj`, None without a bake. Fast enough for drawing a panel."""
    return _report(obj.data.shape_keys[PROPERTY]) if has_bake(obj) else None


@functools.lru_cache(maxsize=4)
def _report(text: str) -> dict[str, Any] | None:
    try:
        return _parse(text, "").report
    except core.ClothError:
        return None
