# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints of everything that a bake depends on, to notice changes: during a bake, and since one.

A fingerprint has one digest for each part of the scene, by a name for the user: "frame range", "gravity", "mesh",
"collider 'Box'". It is the same at every frame of the scene, with and without a bake, and after saving and loading.
Objects that move the cloth or a collider are parts, too: parents, armatures, targets of modifiers and constraints,
geometry nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

import bpy

from ..properties.settings import SceneSettings, collider_settings_of, kind_of, scene_settings_of, settings_of
from . import mesh_data, start_velocity
from .authored_values import WITHOUT_EFFECT, WITHOUT_EFFECT_ON_CLOTH, Digest, Identity
from .force_fields import KINDS

ATTRIBUTES = (start_velocity.EARLIER_NAME, "birth")
"""Names of the mesh's attributes that the cloth uses beside its groups, see read_cloth.py. The start velocity has its
earlier name here, so that renaming the attribute is no change."""
DETAIL = "\t"
"""Separator between the name of a part and the name of a detail of it, in a fingerprint."""
UNITS = frozenset(("unit scale", "frame rate"))
"""Parts that change the values of other parts."""
SCENE_PATHS = {
    "frame range": ("frame_start", "frame_end"), "unit scale": ("unit_settings.scale_length",),
    "frame rate": ("render.fps", "render.fps_base", "render.frame_map_old", "render.frame_map_new"),
    "gravity": ("gravity", "use_gravity"), "wind": ("muslin.wind",), "speed multiplier": ("muslin.speed",)}
"""Data paths of the scene's settings that may be animated."""


@dataclass(frozen=True)
class Part:
    """The digest of one part of the scene.

    Attributes:
        label: name of the part for the user.
        digest: of what the user set.
        animated: of the animated values, as they are at the scene's frame.
        owner: the cloth that it belongs to, "" if it is not one cloth's own.
        details: digests of parts of an object, by their names for the user: its location, its modifiers.
    """

    label: str
    digest: str
    animated: str = ""
    owner: str = ""
    details: dict[str, str] = field(default_factory=dict)


Parts = dict[Any, Part]
"""By the identity of what is digested."""


def fingerprint(scene: bpy.types.Scene, cloth: bpy.types.Object, frames: tuple[int, int] | None = None
                ) -> dict[str, str]:
    """Return the digests of all that the bake of `cloth` depends on, by the names of the parts.

    It takes about a millisecond for each 10,000 vertices, and more with vertex groups: compute it when the scene has
    changed, not at every drawing of a panel. `frames` (first, last) replaces the scene's frame range.
    """
    parts = scene_parts(scene, [cloth], lambda item: item.name_full, scene_settings_of(scene, frames))
    found = {}
    for part in sorted(parts.values(), key=lambda part: part.label):
        found[part.label] = part.digest
        found |= {part.label + DETAIL + name: digest for name, digest in part.details.items()}
    return found


def without_details(digests: dict[str, str]) -> dict[str, str]:
    """Return the digests of whole parts of a fingerprint."""
    return {label: digest for label, digest in digests.items() if DETAIL not in label}


def changed_details(label: str, before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return what differs between two fingerprints in the part `label`, which both have; nothing if one of them is of
    an earlier version, which did not tell that."""
    one, other = ({key[len(label + DETAIL):]: digest for key, digest in digests.items()
                   if key.startswith(label + DETAIL)} for digests in (before, now))
    return names_of_changes(one, other)


def names_of_changes(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return the names of details that differ, for the user; nothing if one of the tables is empty."""
    if not before or not now:
        return []
    changed = [name for name in {**now, **before} if before.get(name) != now.get(name)]
    there = {name: "" if name in before and name in now else " is new" if name in now else " is gone"
             for name in changed}
    return [name + there[name] if name.endswith("'") else name for name in changed]      # a modifier, not a default


def differences(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return the names of the parts that differ between two fingerprints of the same cloth, those of `now` first.

    What differs only because of another unit or frame rate is left out.
    """
    before, now = without_details(before), without_details(now)
    changed = [name for name in now if before.get(name) != now[name]] + [name for name in before if name not in now]
    return [name for name in changed if name in UNITS] or changed


def session_identity(item: bpy.types.ID) -> int:
    """Return a number that stays the same while Blender runs, also if the data-block is renamed."""
    return int(item.session_uid)


def scene_parts(scene: bpy.types.Scene, cloths: Sequence[bpy.types.Object], identity: Identity,
                settings: SceneSettings | None) -> Parts:
    """Return the parts of all that a bake of `cloths` depends on. `identity` tells data-blocks apart.

    With `settings` None, what a bake reads once when it begins is left out: the settings of scene, cloths and
    colliders, vertex groups, attributes and UV maps, but not the keys of these. That is many times faster.
    """
    collected = _Collector(identity)
    values: dict[str, Any] = _scene_values(settings) if settings is not None else dict.fromkeys(SCENE_PATHS)
    for label, value in values.items():
        curves = Digest(identity)
        if not curves.add_curves(scene, SCENE_PATHS.get(label, ())) and settings is not None:
            curves.add(value)                                       # else it differs from frame to frame
        collected.parts[label] = Part(label, curves.text())
    for cloth in cloths:
        if settings is not None:
            settings_here = settings_of(cloth, scene)
            digest = Digest(identity)
            digest.add(kind_of(cloth, scene), cloth.name in scene.objects, _without_defaults(settings_here))
            collected.add("settings", cloth, digest, "settings", cloth.name)
            maps = Digest(identity)
            _add_maps(maps, cloth, settings_here)
            collected.add("maps", cloth, maps, "vertex groups, attributes and UV map", cloth.name)
        collected.add_object(cloth, "object and modifiers", "mesh", "shape keys", cloth.name)
        if cloth.muslin.pin_target is not None:
            collected.follow(cloth.muslin.pin_target)
    for obj in sorted(scene.objects, key=lambda obj: obj.name_full):
        digest = Digest(identity)
        if kind_of(obj, scene) == "COLLIDER":
            label = f"collider '{obj.name_full}'"
            here = collider_settings_of(obj, scene)
            digest.add(_without_defaults(here))
            group = obj.vertex_groups.get(here.left_out_group)
            if settings is not None and group is not None and obj.type == "MESH" and not obj.data.is_editmode:
                digest.add(mesh_data.group_weights(obj.data, group.index))
        elif obj.field is not None and obj.field.type in KINDS:
            label = f"force field '{obj.name_full}'"
        else:
            continue
        if settings is not None:
            collected.add("role", obj, digest, f"{label} (its settings)")
        collected.add_object(obj, label, f"{label} (its mesh)", f"{label} (its shape keys)")
    collected.add_references()
    return collected.parts


class _Collector:
    """Collects parts, each data-block once, and the data-blocks that these refer to."""

    def __init__(self, identity: Identity) -> None:
        self.parts: Parts = {}
        self._identity = identity
        self._queue: list[bpy.types.ID] = []

    def add(self, kind: str, item: bpy.types.ID, digest: Digest, label: str, owner: str = "") -> None:
        """Add the part of this `kind` of a data-block."""
        self.parts[kind, self._identity(item)] = Part(label, digest.text(), digest.animated_text(), owner,
                                                      digest.details() if kind == "object" else {})
        self._queue += digest.references

    def follow(self, item: bpy.types.ID) -> None:
        """Note a data-block that a part refers to."""
        self._queue.append(item)

    def add_object(self, obj: Any, label: str, data_label: str, keys_label: str, owner: str = "", *,
                   followed: bool = False) -> None:
        """Add an object, its data and its shape keys, unless it is a part already.

        `followed`: it is a part because others refer to it, perhaps to its vertex groups.
        """
        if self._has("object", obj):
            return
        digest, keys = Digest(self._identity), Digest(self._identity)
        digest.add_data_block(obj, WITHOUT_EFFECT_ON_CLOTH if owner else WITHOUT_EFFECT, all_groups=followed)
        keys.add_shape_keys(obj)
        self.add("object", obj, digest, label, owner)
        self.add("keys", obj, keys, keys_label, owner)
        if data_label and obj.data is not None:
            self.add_data(obj.data, data_label, owner)

    def add_data(self, item: Any, label: str, owner: str = "") -> None:
        """Add a data-block that is no object, unless it is a part already."""
        if not self._has("data", item):
            digest = Digest(self._identity)
            digest.add_data_block(item)
            self.add("data", item, digest, label, owner)

    def add_references(self) -> None:
        """Add all data-blocks that the parts refer to."""
        while self._queue:
            item: Any = self._queue.pop()
            label = f"{item.bl_rna.name.lower()} '{item.name_full}'"
            if isinstance(item, bpy.types.Object):
                self.add_object(item, label, "", f"{label} (its shape keys)", followed=True)
            else:
                self.add_data(item, label)

    def _has(self, kind: str, item: bpy.types.ID) -> bool:
        return (kind, self._identity(item)) in self.parts


def _without_defaults(settings: Any) -> dict[str, Any]:
    """Return the settings of a record as a table, without those that are new and have their default values, so that
    digests of earlier versions stay equal."""
    values = asdict(settings)
    for one in fields(settings):
        if one.default is not MISSING and getattr(settings, one.name) == one.default:
            del values[one.name]
    return values


def _scene_values(settings: SceneSettings) -> dict[str, Any]:
    """Return the settings of the scene by part. The backend is left out: it does not change what is simulated."""
    values = asdict(settings)
    values.pop("backend")
    if values["resolve_start"]:                                     # else as in earlier versions
        del values["resolve_start"]
    preroll, from_rest, samples, coarse = (values.pop(name) for name in (
        "preroll", "preroll_from_rest", "motion_samples", "coarse_frames"))
    parts: dict[str, Any] = {} if not preroll else {"pre-roll": (preroll, from_rest)}   # else as in earlier versions
    parts |= {} if not samples else {"motion samples": samples}
    parts |= {} if not coarse else {"coarse frames": coarse}
    parts |= {"speed multiplier": "keyed"} if "speed" in values.pop("keyed") else {}
    parts |= {
        "frame range": (values.pop("first"), values.pop("last")),
        "frame rate": (values.pop("frame_rate"), values.pop("time_ratio")),
        "unit scale": values.pop("metres_per_unit"), "gravity": values.pop("gravity"), "wind": values.pop("wind")}
    return {**parts, "solver settings": values}


def _add_maps(digest: Digest, cloth: Any, settings: Any) -> None:
    """Add the weights, attributes and UV map that the cloth's settings name."""
    mesh, garment = cloth.data, settings.garment
    if cloth.type != "MESH" or mesh.is_editmode:
        return
    names = {settings.pin_group, garment.buttons, garment.shrink_group, garment.wrinkle_group, *settings.contact.groups,
             *(group for group, _ in garment.stiffness.values())} - {""}
    for name in sorted(names):
        group = cloth.vertex_groups.get(name)
        if group is not None:
            digest.add(name, mesh_data.group_weights(mesh, group.index))
    for name, values in _attributes(mesh, sorted(names | set(ATTRIBUTES))):
        digest.add(name, values)
    if settings.grain == "UV" or garment.pattern:
        layer = mesh.uv_layers.get(settings.uv_map) if settings.uv_map else mesh.uv_layers.active
        if layer is not None:
            digest.add(layer.name, mesh_data.uv(mesh, layer.name))


def _attributes(mesh: Any, names: Iterable[str]) -> Iterable[tuple[str, Any]]:
    for name in names:
        for kind in ("FLOAT", "FLOAT_VECTOR"):
            velocity = name == start_velocity.EARLIER_NAME and kind == "FLOAT_VECTOR"
            values = mesh_data.point_values(mesh, start_velocity.attribute_name(mesh) if velocity else name, kind)
            if values is not None:
                yield name, values
