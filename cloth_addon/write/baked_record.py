# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake leaves in the file about itself: what to restore on Delete Bake, and its report.

The record is JSON text in a custom property of the mesh's shape keys, where the bake is: it goes with them when
the mesh is copied, appended or saved, and is gone when someone clears all shape keys by hand.
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


@dataclass(kw_only=True)
class BakedRecord:
    """A bake and the state before it.

    Attributes:
        absolute: the bake's keys are absolute ones; otherwise relative beside the user's own.
        keys: names of the bake's shape keys, one per frame from `first` to `last`.
        made_shape_keys: the mesh had none, `basis` names the first one that the bake added.
        made_animation_data, made_action, made_slot: the shape keys had none.
        last_slot: the slot's name that the shape keys' animation remembered before.
        curves: data paths of the bake's F-curves.
        time_ratio: of the scene's time at which keyframes stand to its frames, see shape_keys.py.
        active_index, use_relative, eval_time, show_only: values before the bake.
        report: what bake() reported, see report.py.
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
    """Quick enough for drawing a panel."""
    return obj.type == "MESH" and obj.data.shape_keys is not None and obj.data.shape_keys.get(PROPERTY) is not None


def save(shape_keys: bpy.types.Key, record: BakedRecord) -> None:
    shape_keys[PROPERTY] = json.dumps(asdict(record), separators=(",", ":"), allow_nan=False)


def load(obj: bpy.types.Object) -> BakedRecord | None:
    """The record of the bake that `obj` carries, None where there is none.

    Raises:
        SceneError: the record is damaged or was written by a later version of Muslin.
    """
    return _parse(obj.data.shape_keys[PROPERTY], obj.name) if has_bake(obj) else None


def _parse(text: str, name: str) -> BakedRecord:
    try:
        values = json.loads(text)
        version = values.get("version")
        if not isinstance(version, int) or version > VERSION:
            raise core.SceneError(f"its bake was written by another version of Muslin (record {version}, this one "
                                  f"knows {VERSION}); use that version to delete it", object_name=name)
        known = {f.name for f in fields(BakedRecord)}
        return BakedRecord(**{name: value for name, value in values.items() if name in known})
    except (TypeError, ValueError, AttributeError) as error:
        if isinstance(error, core.ClothError):
            raise
        raise core.SceneError(f"the record of its bake cannot be read ({error}); delete its shape keys and the "
                              f"custom property '{PROPERTY}' by hand", object_name=name) from error


def report_of(obj: bpy.types.Object) -> dict[str, Any] | None:
    """The report of the bake that `obj` carries, None where there is none. The panel asks at every redraw."""
    return _report(obj.data.shape_keys[PROPERTY]) if has_bake(obj) else None


@functools.lru_cache(maxsize=4)
def _report(text: str) -> dict[str, Any] | None:
    try:
        return _parse(text, "").report
    except core.ClothError:
        return None
