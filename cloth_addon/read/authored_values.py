# SPDX-License-Identifier: GPL-3.0-or-later
"""Digests of Blender's data as the user set it, the same at every frame of the scene and in every session.

A digest of a data-block holds its settings that are not animated, its animation, and which other data-blocks it refers
to. Values that a curve or driver sets are left out, because they differ from frame to frame; the curves are in the
digest instead. Values that equal Blender's default are left out, too, so that a later version of Blender with more
settings gives the same digest. The shape keys and curves of Muslin's own bakes are left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np

from ... import core
from ..properties import animation_curves, baked_record
from . import mesh_data, rna_settings
from .unbaked_state import GENERATIVE
from .used_groups import used_groups

OBJECT_VALUES = {
    "location": "location", "rotation_mode": "rotation", "rotation_euler": "rotation",
    "rotation_quaternion": "rotation", "rotation_axis_angle": "rotation", "scale": "scale",
    "delta_location": "location", "delta_rotation_euler": "rotation", "delta_rotation_quaternion": "rotation",
    "delta_scale": "scale", "parent_type": "parent", "parent_bone": "parent", "parent_vertices": "parent",
    "matrix_parent_inverse": "parent", "track_axis": "axes", "up_axis": "axes", "hide_viewport": "visibility"}
"""Properties of an object that place it, and what the user is told if they have changed."""
BONE_VALUES = ("location", "rotation_mode", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
"""Properties of a posed bone that place it, with those that begin with `bbone_`."""
FOLLOWED = tuple(getattr(bpy.types, name) for name in (
    "Object", "Collection", "NodeTree", "Texture", "Mesh", "Curve", "Curves", "Lattice", "Armature", "MetaBall",
    "PointCloud", "CacheFile") if hasattr(bpy.types, name))
"""Types of data-blocks that can move another one. References to other types are left out."""
BEZIER = 2
"""Number of BEZIER in Keyframe.interpolation, as `foreach_get` gives it; those above it have an easing."""
ARRAY_TYPES = {"FLOAT": np.float32, "INT": np.int32, "BOOLEAN": np.bool_, "ENUM": np.int32}
"""Types of properties that are read by arrays, with the types of these."""
NAMED = tuple(getattr(bpy.types, name) for name in ("Node", "NodeSocket", "Modifier", "Constraint", "FModifier"))
"""Types of structs with one value under two names, or references to each other, that are read one by one."""
MANY = 16
"""Number of structs from which on a collection is read by arrays."""
WITHOUT_EFFECT = frozenset(("COLLISION", "NORMAL_EDIT", "PARTICLE_SYSTEM", "UV_PROJECT", "WEIGHTED_NORMAL"))
"""Types of modifiers that move nothing. Others that move no vertex may change weights or maps that later ones use."""
WITHOUT_EFFECT_ON_CLOTH = WITHOUT_EFFECT | GENERATIVE
"""Types of modifiers of a cloth that at most act on its baked shape."""
Identity = Callable[[bpy.types.ID], Any]


class Digest:
    """The digest of one part of a scene.

    Attributes:
        references: the data-blocks that it refers to, in the order in which they were found.
    """

    def __init__(self, identity: Identity) -> None:
        self.references: list[bpy.types.ID] = []
        self._details: dict[str, Any] = {}
        self._detail = ""
        self._identity = identity
        self._hash = hashlib.blake2b(digest_size=16)
        self._now = hashlib.blake2b(digest_size=16)
        self._animated: frozenset[tuple[str, int]] = frozenset()
        self._seen: dict[tuple[int, str], int] = {}

    def text(self) -> str:
        """Return the digest of what was added so far."""
        return self._hash.hexdigest()

    def animated_text(self) -> str:
        """Return the digest of the animated values that were left out, as they are now."""
        return self._now.hexdigest()

    def details(self) -> dict[str, str]:
        """Return short digests of what was added as a detail, by their names for the user."""
        return {name: part.hexdigest() for name, part in self._details.items()}

    @contextmanager
    def _as_detail(self, name: str) -> Iterator[None]:
        """Count what is added meanwhile as the detail `name`, too."""
        before, self._detail = self._detail, name
        try:
            yield
        finally:
            self._detail = before

    def _update(self, data: bytes, *, counts: bool = True) -> None:
        """Add bytes to the digest, if they count there, and to that of the running detail."""
        if counts:
            self._hash.update(data)
        if self._detail:
            self._details.setdefault(self._detail, hashlib.blake2b(digest_size=4)).update(data)

    def add(self, *values: Any) -> None:
        """Add text, numbers, and arrays."""
        for value in values:
            if isinstance(value, np.ndarray):
                self._update(repr((value.shape, value.dtype.str)).encode())
                self._update(np.ascontiguousarray(value).tobytes())
            else:
                self._update(repr(value).encode())

    def add_reference(self, item: bpy.types.ID | None) -> None:
        """Add which data-block is referred to, and note it in `references` if it can move others."""
        if item is not None and isinstance(item, FOLLOWED):
            self.add(type(item).__name__, self._identity(item))
            self.references.append(item)

    def add_data_block(self, item: Any, skipped_modifiers: frozenset[str] = WITHOUT_EFFECT, *,
                       all_groups: bool = True) -> None:
        """Add everything of a data-block that moves its vertices or those of others, but not the shape keys.

        `skipped_modifiers` are types of an object's modifiers. `all_groups`: whether other objects may ask for its
        vertex groups; else those count that it uses itself.
        """
        with self._as_detail("keys"):
            self._animated = self._add_animation(item)
        if isinstance(item, bpy.types.Object):
            self._add_object(item, skipped_modifiers, all_groups)
        elif isinstance(item, bpy.types.Mesh):
            self._add_mesh(item)
        elif isinstance(item, bpy.types.Collection):
            for obj in item.all_objects:
                self.add_reference(obj)
        elif isinstance(item, bpy.types.Armature):
            self.add(item.pose_position)
            self.add([bone.name for bone in item.bones])
            for name, width in (("matrix_local", 16), ("length", 1)):
                values = np.empty(width * len(item.bones), np.float32)
                item.bones.foreach_get(name, values)
                self.add(values)
        else:
            self.add_struct(item, rna_settings.own_settings(item))

    def add_struct(self, struct: Any, names: Iterable[str] | None = None) -> None:
        """Add the settings of a struct and of the structs in it, or only the properties of these `names`."""
        key = struct.as_pointer(), struct.bl_rna.identifier
        if key in self._seen:                                       # nodes and sockets refer to each other
            self.add("seen", self._seen[key])
            return
        if names is None:
            self._seen[key] = len(self._seen)
        self.add(struct.bl_rna.identifier)
        self._add_settings(struct, names)
        if names is None:
            self.add_custom_properties(struct)

    def _add_settings(self, struct: Any, names: Iterable[str] | None) -> None:
        """Add the properties `names` of a struct, all its settings if it is None."""
        listed = rna_settings.settings(struct)
        for name, kind, default in listed if names is None else [rna_settings.setting(struct, name) for name in names]:
            value = getattr(struct, name, None)
            if value is None:
                continue
            if kind == "COLLECTION":
                self.add(name, len(value))
                self._add_collection(value)
            elif kind == "POINTER":
                self.add(name)
                self._add_pointer(value)
            else:
                self._add_value(struct, name, _plain(value), default)

    def add_custom_properties(self, struct: Any) -> None:
        """Add the user's own properties, which drivers and geometry nodes read."""
        try:
            items = sorted(struct.items(), key=lambda item: item[0])
        except TypeError:                                           # this type has none
            return
        for name, value in items:
            if isinstance(value, bpy.types.ID):
                self.add(name)
                self.add_reference(value)
            elif isinstance(value, bool | int | float | str) and name not in (
                    baked_record.PROPERTY, baked_record.OVERRIDE):
                self._add_value(struct, f'["{bpy.utils.escape_identifier(name)}"]', value)
            elif hasattr(value, "to_list"):
                self._add_value(struct, f'["{bpy.utils.escape_identifier(name)}"]', value.to_list())

    def _add_collection(self, items: Any) -> None:
        """Add all structs of a collection: many of one type, such as the points of a curve, by arrays."""
        if len(items) < MANY or len({type(item) for item in items}) > 1 or isinstance(items[0], (bpy.types.ID, *NAMED)):
            for item in items:
                self._add_pointer(item)
            return
        self.add_numbers(items, [name for name, kind, _ in rna_settings.settings(items[0]) if kind in ARRAY_TYPES])
        rest = [name for name, kind, _ in rna_settings.settings(items[0]) if kind not in ARRAY_TYPES]
        for item in items if rest else ():
            self.add_struct(item, rest)

    def add_numbers(self, items: Any, names: Iterable[str]) -> None:
        """Add the numeric properties `names` of all `items` of a collection, one array for each property.

        All items have the type of the first. An animated value counts as its default, and goes into `animated_text`.
        """
        numbers = {rna_settings.path_of(item): i for i, item in enumerate(items)} if self._animated else {}
        for name in names:
            prop: Any = type(items[0]).bl_rna.properties[name]
            is_array = bool(getattr(prop, "is_array", False))
            values = np.empty((len(items), prop.array_length if is_array else 1), ARRAY_TYPES[prop.type])
            items.foreach_get(name, values.ravel())
            default = None if prop.type == "ENUM" else np.array(rna_settings.default_of(prop), values.dtype).ravel()
            for path, index in self._animated:
                item, _, of = path.rpartition(".")
                if of == name and item in numbers:
                    self._now.update(values[numbers[item], index].tobytes())
                    values[numbers[item], index] = 0 if default is None else default[index]
            if default is None or (values != default).any():
                self.add(name, values)

    def _add_pointer(self, value: Any) -> None:
        if isinstance(value, bpy.types.ID):
            self.add_reference(value)
        elif value is not None:
            self.add_struct(value)

    def _add_value(self, struct: Any, name: str, value: Any, default: Any = None) -> None:
        """Add the value of a property if it is not the default, without the numbers that curves and drivers set."""
        if self._animated:
            paths = [rna_settings.path_of(struct, one) for one in rna_settings.names_of(name)]
            numbers = value if isinstance(value, list) else [value]
            own = [(i, number) for i, number in enumerate(numbers)
                   if not any((path, i) in self._animated for path in paths)]
            if len(own) < len(numbers):
                self._now.update(repr((name, value)).encode())
                if isinstance(default, list) and all(number == default[i] for i, number in own):
                    return
                value = own
        if value != default:
            self.add(name, value)

    def _add_object(self, obj: Any, skipped_modifiers: frozenset[str], all_groups: bool) -> None:
        self.add(obj.type, obj.bl_rna.identifier)
        for name, detail in OBJECT_VALUES.items():
            with self._as_detail(detail):
                self._add_settings(obj, (name,))
        with self._as_detail("custom properties"):
            self.add_custom_properties(obj)
        with self._as_detail("parent"):
            self.add_reference(obj.parent)
        with self._as_detail("data"):
            self.add_reference(obj.data)
        modifiers = [modifier for modifier in obj.modifiers
                     if modifier.type not in skipped_modifiers and not baked_record.is_own(modifier)]
        for part in (*modifiers, *obj.constraints):
            kind = "modifier" if isinstance(part, bpy.types.Modifier) else "constraint"
            with self._as_detail(f"{kind} '{part.name}'"):
                self.add_struct(part)
        if obj.field is not None and obj.field.type != "NONE":
            with self._as_detail("force field"):
                self.add_struct(obj.field)
        groups = [group.name for group in obj.vertex_groups] if all_groups else used_groups(obj, modifiers)
        with self._as_detail("vertex groups"):                      # for which modifiers alone ask
            self._update(repr(groups).encode(), counts=bool(modifiers))
        with self._as_detail("pose"):
            self._add_pose(obj)

    def _add_pose(self, obj: Any) -> None:
        bones = obj.pose.bones if obj.pose is not None else ()
        if len(bones):
            self.add_numbers(bones, (*BONE_VALUES, *rna_settings.bendy_bone_values()))
        for bone in bones:
            self.add(bone.name)
            self.add_custom_properties(bone)
            for constraint in bone.constraints:
                self.add_struct(constraint)

    def _add_mesh(self, mesh: Any) -> None:
        if mesh.is_editmode:                                        # the arrays are empty until it is left
            self.add("edited")
            return
        self.add(mesh_data.unkeyed_positions(mesh), mesh_data.edges(mesh), *mesh_data.corners(mesh))

    def add_curves(self, item: Any, paths: Iterable[str]) -> int:
        """Add the curves and drivers of a data-block with one of these data paths, and return their number."""
        curves = [curve for curve in animation_curves.curves(item.animation_data)
                  if curve.data_path in set(paths)]
        for curve in curves:
            self._add_curve(curve)
        return len(curves)

    def add_shape_keys(self, obj: Any) -> None:
        """Add the user's own shape keys of an object, if it has any; those of a bake are left out."""
        keys = getattr(obj.data, "shape_keys", None)
        if keys is None:
            return
        record = _record(obj)
        if record is not None and baked_record.only_baked(keys, record):
            return
        baked = set(baked_record.own_keys(keys, record)) if record is not None else set()
        own = [block for block in keys.key_blocks if block.name not in baked]
        self._animated = self._add_animation(keys, frozenset(record.curves if record is not None else ()))
        of_keys = record is not None and not record.modifier
        relative = record.use_relative if of_keys else keys.use_relative                # as before the bake
        self.add(relative)
        if not relative:
            self.add_struct(keys, ("eval_time",))
        for block in own:
            points = np.empty(3 * len(block.points), np.float32)
            block.points.foreach_get("co", points)
            self.add(block.name, points, block.relative_key.name)
            self.add_struct(block, ("value", "mute", "vertex_group", "interpolation"))

    # ------------------------------------------------------------------ animation

    def _add_animation(self, item: Any, skipped: frozenset[str] = frozenset()) -> frozenset[tuple[str, int]]:
        """Add the curves and drivers of a data-block, and return path and index of each value that they set."""
        animation = getattr(item, "animation_data", None)
        animated: set[tuple[str, int]] = set()
        for curve in animation_curves.curves(animation):
            if curve.data_path in skipped:
                continue
            if not curve.mute:
                animated.add((curve.data_path, curve.array_index))
            self._add_curve(curve)
        for strip in animation_curves.strips(animation) if animation is not None else ():
            self.add_struct(strip, [name for name, kind, _ in rna_settings.settings(strip)
                                    if kind not in ("POINTER", "COLLECTION")])
        return frozenset(animated)

    def _add_curve(self, curve: Any) -> None:
        points = curve.keyframe_points
        self.add((curve.data_path, curve.array_index, curve.mute, curve.extrapolation, len(points)))
        kinds = np.empty(len(points), np.int32)
        points.foreach_get("interpolation", kinds)
        names = ["co", *(("handle_left", "handle_right") if (kinds == BEZIER).any() else ())]
        for name in names:
            values = np.empty(2 * len(points), np.float32)
            points.foreach_get(name, values)
            self._update(values.tobytes())
        self._update(kinds.tobytes())
        if (kinds > BEZIER).any():
            self.add_numbers(points, ("easing", "amplitude", "back", "period"))
        for modifier in curve.modifiers:
            self.add_struct(modifier)
        if curve.driver is not None:
            self.add_struct(curve.driver)


def _record(obj: Any) -> baked_record.BakedRecord | None:
    """Return the record of a bake; None without one, and for a damaged one."""
    try:
        return baked_record.load(obj) if obj.type == "MESH" else None
    except core.ClothError:
        return None


def _numbers(value: Any) -> list[Any]:
    return np.array(value).ravel().tolist()                         # mathutils' own repr is rounded


def _plain(value: Any) -> Any:
    """Return the value of a property as text, number or list."""
    if isinstance(value, bool | int | float | str):
        return value
    return sorted(value) if isinstance(value, set) else _numbers(value)
