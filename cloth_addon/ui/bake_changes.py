# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the changes since a bake, so that panels mark a certificate that is out of date.

Drawing a panel only reads what is known. After a change of the scene, fingerprints are computed as soon as nothing has
changed for a moment, and the panel is drawn again. Blender does not report all changes, such as that of the frame
range. Therefore a drawing compares the settings of the scene and of the cloth, which takes a tenth of a millisecond,
and an answer expires: a later drawing has it computed again. The baked shape keys are compared with their
digests after each change, in short turns; when an answer expires, that of the shown frame.
"""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import bpy

from ... import core
from ..bake import bake_job
from ..bake.found_take import FoundTake
from ..properties import baked_record, change_listeners
from ..properties.setting_titles import changed_settings
from ..properties.settings import scene_settings_of, settings_of
from ..read.fingerprint import SCENE_PATHS, changed_details, differences, fingerprint, without_details
from ..read.read_cloth import objects_of_kind
from ..write.report import json_values
from . import edit_check

PAUSE = 0.3
"""Time without changes after which fingerprints are computed [s]."""

LIFETIME = 2.0
"""Time after which a drawing has an answer computed again [s]."""

OF_SCENE = {*SCENE_PATHS, "wind", "solver settings"}
"""Parts of a fingerprint that are the same for all cloths."""

Key = tuple[str, str, int]
"""Names of a scene and an object, and the hash of the record of its bake or of its take."""


class _Known:
    """Results of the last computation for the displayed bakes.

    Attributes:
        found: what has changed, by bake.
        wanted: reports of the bakes that a panel was drawn for since the last change, by bake.
        current: bakes whose entry in `found` is up to date, as far as changes are reported.
        computed: time at which the entry of a bake in `found` was computed [s].
        settings: of the scene and of the cloth at that time.
        edits: cloths and frames whose shape keys were edited since the bake, by bake.
        checks: comparisons of shape keys that are not at their end, by bake.
        checked: bakes whose keys were all compared since the last change.
        last_change: time of the last change of the scene [s].
    """

    def __init__(self) -> None:
        self.found: dict[Key, list[str]] = {}
        self.wanted: dict[Key, dict[str, Any]] = {}
        self.current: set[Key] = set()
        self.computed: dict[Key, float] = {}
        self.settings: dict[Key, Any] = {}
        self.edits: dict[Key, list[tuple[str, int]]] = {}
        self.checks: dict[Key, edit_check.EditCheck] = {}
        self.checked: set[Key] = set()
        self.last_change = 0.0


_known = _Known()


def changes(scene: bpy.types.Scene, obj: bpy.types.Object, report: dict[str, Any]) -> list[str]:
    """Return what has changed since the bake of `obj`, compared with its report, as text for the user.

    Raises nothing, whatever the report or the settings are.
    """
    before = report.get("fingerprints", {})                         # missing in older bakes
    if obj.name not in before and len(before) == 1:                 # renamed, or a copy
        before = {obj.name: next(iter(before.values()))}
    missing = [name for name in before if name not in scene.objects]
    if obj.name not in before and len(missing) == 1:                # renamed, one of several cloths
        before = {obj.name if name in missing else name: digests for name, digests in before.items()}
    found: list[str] = []
    cloths = {obj.name}                                             # of the bake, by their names now
    for name in sorted(before, key=lambda name: (name != obj.name, name)):
        cloth = scene.objects.get(name) or _renamed(scene, before, name)
        if cloth is None or cloth.type != "MESH":
            found.append(f"cloth '{name}' is gone")
            continue
        cloths.add(cloth.name)
        try:
            now, settings = fingerprint(scene, cloth), report.get("settings", {})
            settings = settings if isinstance(settings, dict) else {}
            of_cloths = settings.get("cloths", settings)                # beside the scene's in older reports
            of_cloths = of_cloths if isinstance(of_cloths, dict) else {}
            own_now, scene_now = (json_values(asdict(settings_of(cloth, scene))),
                                  json_values(asdict(scene_settings_of(scene))))
            changed = {"settings": changed_settings(of_cloths.get(name), own_now),
                       "solver settings": changed_settings(settings.get("scene"), scene_now)}
            own, others = _texts(before[name], now, scene, changed)
        except core.ClothError as error:                            # a stored setting that is no choice here
            own, others = [str(error)], []
        if own and cloth != obj:
            own = [f"cloth '{name}': {' and '.join(own)}"]
        found += own + others
    return list(dict.fromkeys(found + _new_cloths(scene, report, cloths)))


def _new_cloths(scene: bpy.types.Scene, report: dict[str, Any], cloths: set[str]) -> list[str]:
    """Return that cloth was not in the scene when the bake began: it would be baked together with its `cloths`.

    Cloth that was there and was left out is none of it, also under another name.
    """
    before = report.get("scene_cloths", [])                         # missing in older bakes, and in takes
    others = [name for name in before if name not in report.get("fingerprints", {})]
    new = [obj.name for obj in objects_of_kind(scene, "CLOTH")
           if before and obj.type == "MESH" and obj.name not in cloths and obj.name not in before]
    renamed = sum(name not in scene.objects for name in others)
    return [f"cloth '{name}' is new" for name in new[renamed:]]


def sentence(found: list[str], most: int = 4) -> str:
    """Return the changes as one sentence with a remedy; empty if there are none."""
    if not found:
        return ""
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return f"Changed since the bake: {', '.join(found[:most])}{more}. Bake again"


def known_changes(scene: bpy.types.Scene, obj: bpy.types.Object, report: dict[str, Any]) -> list[str]:
    """Return what is known to have changed since the bake of `obj`. Fast enough for drawing a panel."""
    if bpy.app.background:                                          # no timers, and no panels but in tests
        edits = edit_check.edits_of(scene, obj)
        return changes(scene, obj, report) + edit_check.texts(obj, edits)
    key = _key(scene, obj)
    found = _known_or_wanted(scene, obj, report, key)
    return found + edit_check.texts(obj, _known.edits.get(key, []))


def known_changes_of_take(scene: bpy.types.Scene, obj: bpy.types.Object, take: FoundTake) -> list[str]:
    """Return what is known to have changed since the last frames of a take of `obj`, apart from the frame range."""
    report = {name: take.parts[-1][name] for name in ("fingerprints", "settings")}
    found = _known_or_wanted(scene, obj, report, (scene.name, obj.name, hash((take.id, take.changed))))
    return [text for text in found if not text.startswith("frame range")]


def _known_or_wanted(scene: bpy.types.Scene, obj: bpy.types.Object, report: dict[str, Any], key: Key) -> list[str]:
    """Return what is known to have changed since the bake with a report, and have it computed if need be."""
    if bpy.app.background:
        return changes(scene, obj, report)
    _known.wanted[key] = report
    if (time.monotonic() > _known.computed.get(key, 0.0) + LIFETIME
            or _known.settings.get(key) != _settings_now(scene, obj)):
        _known.current.discard(key)
    if key not in _known.current and bake_job.current() is None and not bpy.app.timers.is_registered(_compute):
        bpy.app.timers.register(_compute, first_interval=PAUSE)
    return _known.found.get(key, [])


def _settings_now(scene: bpy.types.Scene, obj: bpy.types.Object) -> Any:
    """Return the settings of the scene and of a cloth, to be compared; None if one has a value that is no choice."""
    try:
        return scene_settings_of(scene), settings_of(obj, scene)
    except core.ClothError:
        return None


def _texts(before: dict[str, str], now: dict[str, str], scene: bpy.types.Scene, changed: dict[str, list[str]]
           ) -> tuple[list[str], list[str]]:
    """Return what differs between two fingerprints of a cloth as texts: parts of the cloth, and all else.

    Another object has one text, whatever its changed parts. `changed` names the changed settings, by part.
    """
    details = {label: changed_details(label, before, now) for label in differences(before, now)}
    before, now = without_details(before), without_details(now)
    own: list[str] = []
    of_scene: list[str] = []
    parts: dict[str, list[str]] = {}                                # changed parts of other objects, "" for the whole
    renamed = _renamed_objects(before, now)
    for label in differences(before, now):
        whole, _, part = label.partition(" (its ")
        if not whole.endswith("'"):
            (of_scene if label in OF_SCENE else own).append(_own_text(
                label, scene, changed.get(label, []) or details[label]))
        elif whole not in renamed:
            parts.setdefault(whole, []).extend([f"its {part[:-1]}"] if part else details[label] or [""])
    return own, of_scene + [_other_text(whole, names, before, now) for whole, names in parts.items()]


def _own_text(label: str, scene: bpy.types.Scene, changed: list[str]) -> str:
    if changed:
        return f"{label} ({', '.join(changed)})"
    if label == "frame range":
        settings = scene_settings_of(scene)
        return f"frame range (now {settings.first} to {settings.last})"
    return label


def _other_text(whole: str, parts: list[str], before: dict[str, str], now: dict[str, str]) -> str:
    if whole in before and whole not in now:
        return f"{whole} is gone"
    if whole in now and whole not in before:
        return f"{whole} is new"
    return f"{whole} moved or changed" if "" in parts else f"{whole} ({', '.join(parts)})"


def _renamed_objects(before: dict[str, str], now: dict[str, str]) -> set[str]:
    """Return the labels, earlier and now, of objects that differ between two fingerprints by their names only."""
    gone, new = _by_object(before, now), _by_object(now, before)
    found: set[str] = set()
    for label, parts in gone.items():
        match = next((other for other, digests in new.items() if other not in found and digests == parts
                      and other.partition("'")[0] == label.partition("'")[0]), None)
        if match is not None:
            found |= {label, match}
    return found


def _by_object(labels: dict[str, str], missing_in: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the digests of the objects that are missing in another fingerprint, by label and by part."""
    found: dict[str, dict[str, str]] = {}
    for label, digest in labels.items():
        whole, _, part = label.partition(" (its ")
        if whole.endswith("'") and whole in labels and whole not in missing_in:
            found.setdefault(whole, {})[part] = digest
    return found


def _renamed(scene: bpy.types.Scene, before: dict[str, dict[str, str]], name: str) -> bpy.types.Object | None:
    """Return the cloth that was baked as `name` and differs by its name only; None if there is none."""
    for cloth in scene.objects:
        if cloth.type == "MESH" and cloth.name not in before and cloth.muslin.kind == "CLOTH" and (
                baked_record.has_bake(cloth)):
            try:
                now = fingerprint(scene, cloth)
            except core.ClothError:                                 # a stored setting that is no choice here
                continue
            if _texts(before[name], now, scene, {}) == ([], []):
                return cloth
    return None


def _key(scene: bpy.types.Scene, obj: bpy.types.Object) -> Key:
    return scene.name, obj.name, hash(baked_record.text_of(baked_record.holder(obj)))


def _compute() -> float | None:
    """Compute what has changed for the bakes that are displayed. Return the time until the next call [s], if any."""
    left = _known.last_change + PAUSE - time.monotonic()
    if left > 0.0 or bake_job.current() is not None:
        return max(left, PAUSE)
    redraw = False
    for key, report in [(key, report) for key, report in _known.wanted.items() if key not in _known.current]:
        scene, obj = bpy.data.scenes.get(key[0]), bpy.data.objects.get(key[1])
        if scene is not None and obj is not None:
            found = changes(scene, obj, report)
            redraw = redraw or found != _known.found.get(key, [])
            _known.found[key] = found
            _known.current.add(key)
            _known.computed[key] = time.monotonic()
            _known.settings[key] = _settings_now(scene, obj)
            if "certificates" in report and key not in _known.checks:        # a Mesh Cache has no keys to edit
                _known.checks[key] = edit_check.EditCheck(scene.frame_current, only_frame=key in _known.checked,
                                                          known=_known.edits.get(key, ()))
    if not _known.checks or _known.wanted:
        for key in set(_known.found) - set(_known.wanted):
            del _known.found[key], _known.computed[key]
            _known.settings.pop(key, None)
            _known.edits.pop(key, None)
            _known.checks.pop(key, None)
            _known.current.discard(key)
            _known.checked.discard(key)
    _known.wanted.clear()
    redraw = _compare_keys() or redraw
    if redraw:
        _redraw()
    return edit_check.BETWEEN if _known.checks else None


def _compare_keys() -> bool:
    """Give the comparisons of shape keys a turn. Return whether something else was found than before."""
    differs = False
    for key, check in list(_known.checks.items()):
        scene, obj = bpy.data.scenes.get(key[0]), bpy.data.objects.get(key[1])
        if scene is None or obj is None or obj.type != "MESH":
            del _known.checks[key]
            continue
        check.advance(scene, obj)
        if check.is_done:
            del _known.checks[key]
            _known.checked.add(key)
        differs = differs or check.found != _known.edits.get(key, [])
        _known.edits[key] = check.found
    return differs


def forget(*_: Any) -> None:
    """Compute again what has changed, at the next drawing."""
    _known.last_change = time.monotonic()
    _known.checks.clear()
    _known.checked.clear()
    if _known.current:
        _known.current.clear()
        _redraw()


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in ("PROPERTIES", "DOPESHEET_EDITOR"):
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
