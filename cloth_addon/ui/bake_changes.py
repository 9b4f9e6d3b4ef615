# SPDX-License-Identifier: GPL-3.0-or-later
"""What has changed since a bake, so that a certificate that is out of date is shown as such.

Drawing a panel only reads what is known. After a change of the scene, fingerprints are computed as soon as nothing has
changed for a moment, and the panel is drawn again.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import bpy

from ... import core
from ..bake import bake_job
from ..properties import baked_record, change_listeners
from ..properties.enum_items import title
from ..properties.settings import scene_settings_of, settings_of
from ..read.fingerprint import differences, fingerprint
from ..write.report import json_values

PAUSE = 0.3
"""Time without changes after which fingerprints are computed [s]."""

TITLES = {"areal_density": "Weight", "bend": "Bending", "max_elongation": "Limit Stretch", "buttons": "Buttons",
          "pattern": "Rest Shape", "sewing_time": "Closing Time", "self_collision": "Self Collision",
          "solid_contact": "On Solids", "verlet_kd": "Kept Motion", "isotropic_damping": "Edge Motion",
          "spring_damping": "Edge Length", "steps_per_frame": "Steps per Frame",
          "pattern_size": "UV Square", "projective_solve": "Solve"}
"""Titles in the panel of settings whose name is another."""
SHOWN_ELSEWHERE = {"first", "last", "frame_rate", "time_ratio", "metres_per_unit", "gravity", "wind", "backend"}
"""Settings of the scene that are parts of their own, or change nothing."""

Key = tuple[str, str, int]
"""Names of a scene and an object, and the hash of the record of its bake."""


class _Known:
    """What is known about the displayed bakes.

    Attributes:
        found: what has changed, by bake.
        wanted: bakes that a panel was drawn for since the last change.
        current: bakes whose entry in `found` is up to date.
        last_change: time of the last change of the scene [s].
    """

    def __init__(self) -> None:
        self.found: dict[Key, list[str]] = {}
        self.wanted: set[Key] = set()
        self.current: set[Key] = set()
        self.last_change = 0.0


_known = _Known()


def changes(scene: bpy.types.Scene, obj: bpy.types.Object, report: dict[str, Any]) -> list[str]:
    """Return what has changed since the bake of `obj`, compared with its report, as text for the user.

    Raises nothing, whatever the report or the settings are.
    """
    before = report.get("fingerprints", {})                         # missing in older bakes
    if obj.name not in before and len(before) == 1:                 # renamed, or a copy
        before = {obj.name: next(iter(before.values()))}
    found: list[str] = []
    for name in sorted(before, key=lambda name: (name != obj.name, name)):
        cloth = scene.objects.get(name)
        prefix = "" if name == obj.name else f"cloth '{name}': "
        if cloth is None or cloth.type != "MESH":
            found.append(f"cloth '{name}' is gone")
            continue
        try:
            now, settings = fingerprint(scene, cloth), report.get("settings", {})
            changed = {"settings": _changed_settings(settings.get(name), asdict(settings_of(cloth, scene))),
                       "solver settings": _changed_settings(settings.get("scene"), asdict(scene_settings_of(scene)))}
            labels = [_text(label, before[name], now, scene, changed.get(label, []))
                      for label in differences(before[name], now)]
        except core.ClothError as error:                            # a stored setting that is no choice here
            labels = [str(error)]
        found += [text if "'" in label_of(text) else prefix + text for text in labels]
    return list(dict.fromkeys(found))


def sentence(found: list[str], most: int = 4) -> str:
    """Return the changes as one sentence with a remedy; empty if there are none."""
    if not found:
        return ""
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return f"Changed since the bake: {', '.join(found[:most])}{more}. Bake again"


def known_changes(scene: bpy.types.Scene, obj: bpy.types.Object, report: dict[str, Any]) -> list[str]:
    """Return what is known to have changed since the bake of `obj`. Fast enough for drawing a panel."""
    if bpy.app.background:                                          # no timers, and no panels but in tests
        return changes(scene, obj, report)
    key = _key(scene, obj)
    _known.wanted.add(key)
    if key not in _known.current and bake_job.current() is None and not bpy.app.timers.is_registered(_compute):
        bpy.app.timers.register(_compute, first_interval=PAUSE)
    return _known.found.get(key, [])


def label_of(text: str) -> str:
    """Return the part of a text before what is in brackets."""
    return text.partition(" (")[0]


def _changed_settings(before: Any, now: dict[str, Any]) -> list[str]:
    """Return the names of the settings that differ between a report and now. Unknown ones are left out."""
    if not isinstance(before, dict):
        return []
    found = []
    for name, value in json_values(now).items():
        earlier = before.get(name)
        if isinstance(value, dict) and isinstance(earlier, dict):
            found += _changed_settings(earlier, value)
        elif earlier != value and name not in SHOWN_ELSEWHERE:
            found.append(TITLES.get(name, title(name)))
    return found


def _text(label: str, before: dict[str, str], now: dict[str, str], scene: bpy.types.Scene, changed: list[str]) -> str:
    if label in ("settings", "solver settings"):
        return f"{label} ({', '.join(changed)})" if changed else label
    if label == "frame range":
        settings = scene_settings_of(scene)
        return f"frame range (now {settings.first} to {settings.last})"
    whole = label.endswith("'") and "'" in label[:-1]               # an object, not a part of one
    if whole and label not in now:
        return f"{label} is gone"
    if whole and label not in before:
        return f"{label} is new"
    return f"{label} moved or changed" if whole else label


def _key(scene: bpy.types.Scene, obj: bpy.types.Object) -> Key:
    return scene.name, obj.name, hash(obj.data.shape_keys[baked_record.PROPERTY])


def _compute() -> float | None:
    """Compute what has changed for the bakes that are displayed. Return the time until the next call [s], if any."""
    left = _known.last_change + PAUSE - time.monotonic()
    if left > 0.0 or bake_job.current() is not None:
        return max(left, PAUSE)
    redraw = False
    for key in _known.wanted - _known.current:
        scene, obj = bpy.data.scenes.get(key[0]), bpy.data.objects.get(key[1])
        report = baked_record.report_of(obj) if obj is not None else None
        if scene is not None and report is not None and _key(scene, obj) == key:
            found = changes(scene, obj, report)
            redraw = redraw or found != _known.found.get(key, [])
            _known.found[key] = found
            _known.current.add(key)
    for key in set(_known.found) - _known.wanted:
        del _known.found[key]
    _known.wanted.clear()
    if redraw:
        _redraw()
    return None


def forget(*_: Any) -> None:
    """Compute again what has changed, at the next drawing."""
    _known.last_change = time.monotonic()
    if _known.current:
        _known.current.clear()
        _redraw()


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _scene_changed(*_: Any) -> None:
    forget()


def attach() -> None:
    """Listen to changes of the scene."""
    on = bpy.app.handlers
    for handlers in (on.depsgraph_update_post, on.undo_post, on.redo_post, on.load_post):
        handlers.append(_scene_changed)
    change_listeners.add(forget)


def detach() -> None:
    """Stop listening."""
    on = bpy.app.handlers
    change_listeners.remove(forget)
    for handlers in (on.depsgraph_update_post, on.undo_post, on.redo_post, on.load_post):
        handlers.remove(_scene_changed)
    if bpy.app.timers.is_registered(_compute):
        bpy.app.timers.unregister(_compute)
    _known.__init__()
