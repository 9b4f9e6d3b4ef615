# SPDX-License-Identifier: GPL-3.0-or-later
"""Variants of a shot, called wedges: settings of Muslin by their path, and each combination of their values.

A path is `material.SETTING` (of every cloth that is baked), `OBJECT.material.SETTING` (of one cloth or collider) or
`scene.SETTING`. The names, units and ranges are those of the properties of `object.muslin` and `scene.muslin`.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import bpy

from ..properties.fabric_presets import identifiers_of
from ..properties.number_text import number_text
from ..properties.object_properties import MuslinObject
from ..properties.scene_properties import MuslinScene
from .arguments import UsageError

FORMS = "material.SETTING, OBJECT.material.SETTING or scene.SETTING"
KINDS = {"BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"}
"""Types of properties that a value can be given for."""
OF_OTHER_OPTIONS = {"cache_folder": "--cache", "result": "--result", "backend": "--backend", "kind": "",
                    "compare_folder": "", "name": ""}
"""Properties that are no settings of a variant, and the option that sets them."""
YES_AND_NO = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Value:
    """A value of a setting in a variant.

    Attributes:
        path: as it was given.
        owner: "scene", "" for every cloth, else the name of an object.
        name: of the property.
        text: the value as it was given.
        value: for the property.
    """

    path: str
    owner: str
    name: str
    text: str
    value: Any

    @property
    def title(self) -> str:
        """The setting and its value for the user."""
        return f"{self.path}={self.text}"

    @property
    def order(self) -> tuple[bool, bool]:
        """Key to sort the values of a variant in the order in which they are set: fabrics before single constants, and
        all cloth before one object."""
        return self.name != "fabric", self.owner not in ("", "scene")


Variant = tuple[Value, ...]


def title_of(variant: Variant) -> str:
    """Return the name of a variant for the user, empty without settings."""
    return ", ".join(value.title for value in variant)


def file_part(variant: Variant) -> str:
    """Return the part of a file name that names a variant: `PATH-VALUE_PATH-VALUE`."""
    return "_".join(f"{_safe(value.path)}-{_safe(value.text)}" for value in variant)


def _safe(text: str) -> str:
    return re.sub(r"[^\w.+-]", "_", text)


def variants_of(settings: Sequence[str]) -> list[Variant]:
    """Return every combination of the values that --set options give; one empty variant without any.

    Raises:
        UsageError: a path or a value is none.
    """
    choices = [_choices(text) for text in settings]
    paths = [values[0].path for values in choices]
    for path in paths:
        if paths.count(path) > 1:
            raise UsageError(f"--set: {path} is given twice; give all its values at once, as in {path}=1,2,3")
    return list(itertools.product(*choices))


def _choices(text: str) -> list[Value]:
    """Return the values of one --set option."""
    path, equals, given = text.partition("=")
    path = path.strip()
    if not equals or not path:
        raise UsageError(f"--set: {text!r} is not of the form PATH=VALUE,VALUE,...; PATH is {FORMS}")
    owner, name, group = _parsed(path)
    properties: Any = group.bl_rna.properties
    known = [prop.identifier for prop in properties if _is_setting(prop)]
    if name in OF_OTHER_OPTIONS and name not in known:
        remedy = f"use {OF_OTHER_OPTIONS[name]}" if OF_OTHER_OPTIONS[name] else "it cannot be set here"
        raise UsageError(f"--set: {path}: {remedy}")
    if name not in known:
        raise UsageError(f"--set: {path}: there is no setting '{name}'{_perhaps(name, known)}; the settings are: "
                         f"{', '.join(sorted(known))}")
    texts = list(dict.fromkeys(part.strip() for part in given.split(",")))
    return [Value(path, owner, name, part, _value(path, properties[name], part)) for part in texts]


def _parsed(path: str) -> tuple[str, str, Any]:
    """Return owner, property and property group of a path."""
    name, middle, setting = path.rpartition(".material.")
    if middle and name:
        return name, setting, MuslinObject
    first, dot, setting = path.partition(".")
    if dot and first in ("material", "scene"):
        return ("scene", setting, MuslinScene) if first == "scene" else ("", setting, MuslinObject)
    owners = "material", "scene"
    perhaps = "" if first in owners else _perhaps(first, owners)
    raise UsageError(f"--set: {path} is no path of a setting{perhaps}; PATH is {FORMS}")


def _is_named(prop: Any) -> bool:
    """Return whether the value is a collection or an object, which a command gives by its name."""
    return prop.type == "POINTER" and prop.fixed_type.identifier in ("Collection", "Object")


def _is_setting(prop: Any) -> bool:
    return (prop.type in KINDS or _is_named(prop)) and not prop.is_readonly and not getattr(
        prop, "is_enum_flag", False) and prop.identifier not in OF_OTHER_OPTIONS and prop.identifier != "bl_idname"


def _value(path: str, prop: Any, text: str) -> Any:
    """Return the value for a property.

    Raises:
        UsageError: the text is none of its values.
    """
    if getattr(prop, "is_array", False):
        parts = text.split(":")
        if len(parts) != prop.array_length:
            raise UsageError(f"--set: {path}: '{text}' has {len(parts)} components, {prop.array_length} are needed, "
                             f"as in {':'.join('0' * prop.array_length)}; a comma begins another variant")
        return tuple(_single(path, prop, part) for part in parts)
    return _single(path, prop, text)


def _single(path: str, prop: Any, text: str) -> Any:
    if prop.type in ("STRING", "POINTER"):
        return text
    if prop.type == "BOOLEAN":
        if text.lower() not in YES_AND_NO:
            raise UsageError(f"--set: {path}: '{text}' is neither true nor false")
        return YES_AND_NO[text.lower()]
    if prop.type == "ENUM":
        items = {_plain(name): name for name in identifiers_of(prop)}
        item = _plain(text)
        if item not in items:
            raise UsageError(f"--set: {path}: there is no '{text}'{_perhaps(item, items)}; the values are: "
                             f"{', '.join(items)}")
        return items[item]
    try:
        number = int(text) if prop.type == "INT" else float(text)
    except ValueError:
        what = "a whole number" if prop.type == "INT" else "a number"
        raise UsageError(f"--set: {path}: '{text}' is not {what}") from None
    if not (math.isfinite(number) and prop.hard_min <= number <= prop.hard_max):
        raise UsageError(f"--set: {path}: {text} is not from {number_text(prop.hard_min)} to "
                         f"{number_text(prop.hard_max)}")
    return number


def _plain(name: str) -> str:
    return name.lower().replace(" ", "_").replace("-", "_")


def _perhaps(given: str, known: Iterable[str]) -> str:
    near = get_close_matches(given.lower().replace(" ", "_"), list(known), 1)
    return f"; perhaps '{near[0]}'" if near else ""


def check_names(variants: Iterable[Variant], scene: bpy.types.Scene) -> None:
    """Raise UsageError if a variant names an object or a collection that is not there."""
    for value in itertools.chain.from_iterable(variants):
        if value.owner not in ("", "scene"):
            _object(value, scene)
        group: Any = MuslinScene if value.owner == "scene" else MuslinObject
        _data_block(value, group.bl_rna.properties[value.name])


def apply(variant: Variant, scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object]) -> None:
    """Give the settings of a variant to the scene and its objects.

    Raises:
        UsageError: the scene has no such object, or it cannot be changed.
    """
    for value in sorted(variant, key=lambda value: value.order):
        if value.owner == "scene":
            groups = [scene.muslin]
        elif value.owner:
            groups = [_object(value, scene).muslin]
        else:
            groups = [cloth.muslin for cloth in cloths]
        for group in groups:
            try:
                setattr(group, value.name, _data_block(value, group.bl_rna.properties[value.name]))
            except (AttributeError, TypeError, ValueError) as error:
                raise UsageError(f"--set: {value.title}: {group.id_data.name} cannot have it: {error}") from error


def _data_block(value: Value, prop: Any) -> Any:
    """Return the value for a property: of one for a collection or object, that of the name, None for no name."""
    if not _is_named(prop) or not value.text:
        return None if _is_named(prop) else value.value
    kind = prop.fixed_type.identifier.lower()
    known: Any = bpy.data.objects if kind == "object" else bpy.data.collections
    found = known.get(value.text)
    if found is None:
        names = [item.name for item in known]
        raise UsageError(f"--set: {value.title}: there is no {kind} '{value.text}'{_perhaps(value.text, names)}; "
                         f"there are: {', '.join(names) or 'none'}")
    return found


def _object(value: Value, scene: bpy.types.Scene) -> Any:
    names = [obj.name for obj in scene.objects if obj.type == "MESH"]
    if value.owner not in names:
        raise UsageError(f"--set: {value.path}: scene '{scene.name}' has no mesh object '{value.owner}'"
                         f"{_perhaps(value.owner, names)}; there are: {', '.join(names) or 'none'}")
    return scene.objects[value.owner]
