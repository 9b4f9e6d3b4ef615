# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a bake in the .blend file: the state to restore on Delete Bake, and the report of the bake.

The record is JSON text in a custom property. A bake in shape keys has it in the mesh's shape keys: it is copied,
appended and saved with them, and disappears when all shape keys are removed by hand. A bake that a Mesh Cache modifier
plays has it in the object. Blender does not save custom properties of a library override; there, the record is in a
registered property, which may be overridden.
"""

from __future__ import annotations

import functools
import json
import re
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import bpy

from ... import core
from ...core.parsed import ParsedError
from . import animation_curves, record_schema

PROPERTY = "muslin_bake"
OVERRIDE = "muslin_bake_record"
"""Registered property of objects with the record of a library override."""
VERSION = 3
"""Version of the format. The shape keys of a bake have marks since version 2; Mesh Cache and takes came with 3."""
MODIFIER = "Muslin"
"""Start of the names of Mesh Cache modifiers that Muslin has added."""
MARK = -(2.0 ** -8)
"""Range Min of the shape keys that a bake has made, by which they are told from the user's [-]. The value of such a key
is never below 0."""
LEFT = re.compile(r"Muslin (\d{4,}|-\d{3,})(\.\d+)?")
"""Names of shape keys that a bake makes, see `key_name`."""
REMEDY = "press Forget Bake in the Bake panel, remove the shape keys named Muslin by hand, and bake again"
"""Remedy that messages about a damaged record give."""


@dataclass(frozen=True, kw_only=True)
class BakedRecord:
    """A bake and the state before it.

    Attributes:
        first, last: first and last baked frame.
        absolute: whether the shape keys of the bake are absolute. Otherwise they are relative, beside the user's own.
        keys: names of the shape keys of the bake, one per frame.
        key_digests: digest of the coordinates of each of them, see read/edited_keys.py; empty in older bakes.
        made_shape_keys: whether the mesh had no shape keys before; `basis` is then the name of the added basis.
        made_animation_data, made_action, made_slot: whether the shape keys had none of these before.
        last_slot: value of the animation data's `last_slot_identifier` before the bake.
        curves: data paths of the F-curves of the bake.
        time_ratio: scene time of a keyframe over its frame number [-], see write/shape_keys.py.
        modifier: name of the Mesh Cache modifier that plays the bake; empty for shape keys.
        take: folder of the bake's cache, relative to the .blend where possible; empty without a cache.
        take_id: the identity of that cache, see core/cache/take.py.
        cloth: name of the cloth in that cache, which stays when the object is renamed.
        active_index, use_relative, eval_time, show_only: values before the bake.
        report: the report of the bake, see write/report.py.
        version: version of this format.
    """

    first: int
    last: int
    absolute: bool
    keys: list[str] = field(default_factory=list)
    key_digests: list[str] = field(default_factory=list)
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
    modifier: str = ""
    take: str = ""
    take_id: str = ""
    cloth: str = ""
    report: dict[str, Any] = field(default_factory=dict)
    version: int = VERSION


def holder(obj: bpy.types.Object) -> Any:
    """Return the data-block with the record of the bake of `obj`: its shape keys or itself; None without a bake."""
    if obj.type != "MESH":
        return None
    keys = obj.data.shape_keys
    if keys is not None and keys.get(PROPERTY) is not None and not _of_override(obj):
        return keys
    return obj if text_of(obj) is not None else None


def _of_override(owner: Any) -> str:
    """Return the text of the record of a library override; empty for all other owners and records."""
    text: str = getattr(owner, OVERRIDE, "")
    return text


def text_of(owner: Any) -> Any:
    """Return the stored record of shape keys or of an object; None without one."""
    return _of_override(owner) or owner.get(PROPERTY)


def is_of_library(obj: bpy.types.Object) -> bool:
    """Return whether the bake of `obj` belongs to another file, from which the object or its mesh comes."""
    owner = holder(obj)
    return owner is not None and (owner.library is not None
                                  or (owner.override_library is not None and not _of_override(owner)))


def is_in_modifier(obj: bpy.types.Object) -> bool:
    """Return whether a modifier plays the bake of `obj` that this file has, so that its mesh is as it was."""
    record = known(obj)
    return record is not None and bool(record.modifier) and not is_of_library(obj)


def has_bake(obj: bpy.types.Object) -> bool:
    """Return whether `obj` has a bake. Fast enough for drawing a panel."""
    return holder(obj) is not None


def sharing(obj: bpy.types.Object) -> list[bpy.types.Object]:
    """Return the other objects that show the bake of `obj`, because they share its mesh, such as linked duplicates."""
    owner = holder(obj)
    if owner is None or owner == obj:
        return []
    return [other for other in bpy.data.objects if other.data == obj.data and other != obj and other.users
            and holder(other) == owner]


def is_own(modifier: Any) -> bool:
    """Return whether Muslin has added this modifier: one that plays a bake or shows a running one."""
    return bool(modifier.type == "MESH_CACHE" and modifier.name.startswith(MODIFIER))


def save(owner: Any, record: BakedRecord) -> None:
    """Store the record in `owner`: the shape keys of a mesh, or the object whose modifier plays the bake.

    Raises:
        core.SceneError: the record is larger than what can be read again, or does not fit its schema.
    """
    text = json.dumps(asdict(record), separators=(",", ":"), allow_nan=False)
    try:
        _check(record_schema.parsed(text, record_schema.RECORD))
    except ParsedError as error:
        raise core.SceneError(f"the record of the bake cannot be stored: {error}; bake fewer frames",
                              object_name=owner.name if record.modifier else owner.user.name) from error
    if isinstance(owner, bpy.types.Object):
        setattr(owner, OVERRIDE, text if owner.override_library is not None else "")
        if owner.override_library is not None:
            return
    owner[PROPERTY] = text


def load(obj: bpy.types.Object) -> BakedRecord | None:
    """Return the record of the bake of `obj`, None without a bake.

    Raises:
        core.SceneError: the record is damaged or was written by another version of Muslin.
    """
    owner = holder(obj)
    return None if owner is None else _parse(text_of(owner), obj.name)


def known(obj: bpy.types.Object) -> BakedRecord | None:
    """Return the record of the bake of `obj`, None without a bake or if it is damaged. Fast enough for drawing."""
    owner = holder(obj)
    return None if owner is None else _record_of(text_of(owner))[0]


def report_of(obj: bpy.types.Object) -> dict[str, Any] | None:
    """Return the report of the bake of `obj`, None without a bake or if its record is damaged.

    Fast enough for drawing a panel.
    """
    record = known(obj)
    return None if record is None else record.report


def problem_of(obj: bpy.types.Object) -> str:
    """Return what is wrong with the record of the bake of `obj`; empty if nothing is. Fast enough for drawing."""
    owner = holder(obj)
    return "" if owner is None else _record_of(text_of(owner))[1]


def lacks_keys(obj: bpy.types.Object) -> bool:
    """Return whether a shape key of the bake was removed, or its modifier. A renamed one counts.

    Fast enough for drawing a panel.
    """
    record = known(obj)
    if record is None:
        return False
    if record.modifier:
        return record.modifier not in obj.modifiers
    keys = obj.data.shape_keys
    if record.version == 1:
        return len(own_keys(keys, record)) < len(record.keys)
    marked = sum(block.slider_min == MARK for block in keys.key_blocks)
    return marked < len(record.keys) + record.made_shape_keys           # the added basis has a mark, too


def left_keys(obj: bpy.types.Object) -> str:
    """Return that shape keys of a bake without a record are left; empty if there are none. Fast enough for drawing."""
    number = len(_left_blocks(obj))
    return "" if not number else (f"{number} shape keys of an earlier bake are left" if number > 1 else
                                  "1 shape key of an earlier bake is left")


def left_keys_move(obj: bpy.types.Object) -> bool:
    """Return whether F-curves of a bake without a record still move the cloth. Fast enough for drawing a panel."""
    blocks = _left_blocks(obj)
    if not blocks:
        return False
    paths = {path for path, _ in animation_curves.animated_paths(obj.data.shape_keys)}
    if not obj.data.shape_keys.use_relative:
        return "eval_time" in paths
    return any(not block.mute and value_path(block.name) in paths for block in blocks)


def _left_blocks(obj: bpy.types.Object) -> list[Any]:
    """Return the shape keys of a bake without a record. Its basis is none of them if the user's keys need it."""
    if obj.type != "MESH" or obj.data.shape_keys is None or has_bake(obj):
        return []
    keys = obj.data.shape_keys
    found = [block for block in keys.key_blocks if block.slider_min == MARK or LEFT.fullmatch(block.name) is not None]
    return found if len(found) == len(keys.key_blocks) else [block for block in found if block != keys.reference_key]


def forget(obj: bpy.types.Object) -> None:
    """Remove the record of the bake. Its shape keys or its modifier then belong to the user."""
    owner: Any = holder(obj)
    if owner is not None and _of_override(owner):
        setattr(owner, OVERRIDE, "")
    elif owner is not None:
        del owner[PROPERTY]


def own_keys(keys: bpy.types.Key, record: BakedRecord) -> list[str]:
    """Return the names of the shape keys that the bake has made and that are still there.

    A key of the user may have got the name of one that was renamed or deleted. It has no mark; in a bake of version 1,
    without marks, it is out of the order of the frames.
    """
    if record.version >= 2:
        marked = {block.name for block in keys.key_blocks if block.slider_min == MARK}      # one search each is slower
        return [name for name in record.keys if name in marked]
    places = {block.name: place for place, block in enumerate(keys.key_blocks)}
    names = [name for name in record.keys if name in places]
    found, next_place = [], len(places)
    for name in reversed(names):
        if places[name] < next_place:
            found.append(name)
            next_place = places[name]
    return found[::-1]


def only_baked(keys: bpy.types.Key, record: BakedRecord) -> bool:
    """Return whether all shape keys of the mesh were made by the bake, the basis included."""
    own = {*own_keys(keys, record)}
    others = [block for block in keys.key_blocks if block.name not in own]
    return record.made_shape_keys and len(others) <= 1 and all(
        block.name == record.basis if record.version == 1 else block.slider_min == MARK for block in others)


def _parse(text: Any, name: str) -> BakedRecord:
    """Return the record with this text, of the object `name`."""
    try:
        values = record_schema.parsed(text, record_schema.ANY_VERSION)
        if values["version"] > VERSION:
            raise core.SceneError(f"its bake was written by another version of Muslin (record {values['version']}, "
                                  f"this one reads {VERSION}); use that version to delete it", object_name=name)
        values = record_schema.parsed(text, record_schema.RECORD)
        _check(values)
    except ParsedError as error:
        raise core.SceneError(f"the record of its bake is damaged and cannot be read: {_reason(error)}; {REMEDY}",
                              object_name=name) from error
    known = {f.name for f in fields(BakedRecord)}
    return BakedRecord(**{name: value for name, value in values.items() if name in known})


def _reason(error: ParsedError) -> str:
    """Return what is wrong with a record, without the text of the JSON parser."""
    return str(error) if error.__cause__ is None else "it is cut off or was altered"


def _check(values: dict[str, Any]) -> None:
    """Raise ParsedError if parts of a record contradict each other."""
    first, last, report = values["first"], values["last"], values["report"]
    frames = last - first + 1
    of_modifier = bool(values.get("modifier"))
    for where, number in (("keys", frames if of_modifier else len(values["keys"])),
                          ("report.certificates", len(report["certificates"]))):
        if number != frames:
            raise ParsedError(f"{where} has {number} values for frames {first} to {last}")
    if (report["first"], report["last"]) != (first, last):
        raise ParsedError(f"report is about frames {report['first']} to {report['last']}, not {first} to {last}")
    if of_modifier:
        if values["keys"] or values["absolute"] or values.get("curves"):
            raise ParsedError("keys and modifier are both given, and a bake is either")
        return
    if len(values.get("key_digests", [])) not in (0, frames):
        raise ParsedError(f"key_digests has {len(values['key_digests'])} values for frames {first} to {last}")
    if len(set(values["keys"])) != frames:
        raise ParsedError("keys names a shape key twice")
    for frame, name in enumerate(values["keys"], first):
        number = name.removeprefix(key_name(frame))
        if number == name or (number and not (number[0] == "." and number[1:].isdecimal())):
            raise ParsedError(f"keys has {name!r} for frame {frame}, which is no name of a baked shape key")
    if values["absolute"] and not values.get("made_shape_keys", False):
        raise ParsedError("absolute shape keys are beside those of the user")
    paths = ["eval_time"] if values["absolute"] else [value_path(name) for name in values["keys"]]
    if values.get("curves", []) != paths:
        raise ParsedError("curves has other F-curves than those of the bake")
    made = [values.get(name, False) for name in ("made_animation_data", "made_action", "made_slot")]
    if made != sorted(made):
        raise ParsedError("made_animation_data, made_action and made_slot contradict each other")


def key_name(frame: int) -> str:
    """Return the name of the shape key of a frame, which Blender may extend by a number."""
    return f"Muslin {frame:04d}"


def value_path(name: str) -> str:
    """Return the data path of the value of a shape key."""
    return f'key_blocks["{bpy.utils.escape_identifier(name)}"].value'


@functools.lru_cache(maxsize=256)
def _record_of_text(text: str) -> tuple[BakedRecord | None, str]:
    try:
        return _parse(text, ""), ""
    except core.ClothError as error:
        return None, str(error)


def _record_of(text: Any) -> tuple[BakedRecord | None, str]:
    """Return the record with this text, or None and what is wrong with it."""
    if not isinstance(text, str):
        return None, f"the record of its bake is damaged and cannot be read: it is no text; {REMEDY}"
    return _record_of_text(text)


def attach() -> None:
    """Add the property for the records of library overrides to Blender's objects."""
    setattr(bpy.types.Object, OVERRIDE, bpy.props.StringProperty(
        name="Bake", description="Record of the bake of a library override", options={"HIDDEN"},
        override={"LIBRARY_OVERRIDABLE"}))


def detach() -> None:
    """Remove that property."""
    delattr(bpy.types.Object, OVERRIDE)
