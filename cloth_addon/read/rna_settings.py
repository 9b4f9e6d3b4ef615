# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the properties of Blender's structs that may move vertices, with their defaults and data paths."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import bpy

SKIPPED = frozenset((
    "rna_type", "select", "select_control_point", "select_left_handle", "select_right_handle", "hide", "active",
    "is_active", "is_override_data", "use_pin_to_last", "execution_time", "persistent_uid", "particle_system",
    "point_cache", "bakes", "panels", "node_warnings", "view_center", "default_closed", "color_tag"))
"""Properties that move nothing, or that Blender changes by itself."""
SKIPPED_OF_NODES = frozenset((
    "location", "location_absolute", "width", "height", "dimensions", "color", "use_custom_color", "label", "hide",
    "parent", "internal_links"))
"""Properties of the display of a node."""
ALIASES = tuple(frozenset(names.split()) for names in (
    "width width_pct", "factor angle", "mute enabled", "mix_mode use_offset", "strength linear_drag guide_minimum",
    "harmonic_damping quadratic_drag", "flow inflow", "size rest_length", "use_object_coords use_global_coords",
    "use_2d_force use_multiple_springs"))
"""Names of modifiers', constraints' and fields' properties that are one value in Blender: a curve sets them all."""


def path_of(struct: Any, name: str = "") -> str:
    """Return the data path of a property, or of the struct, as curves have it; empty if it cannot be animated."""
    try:
        if not name:
            return str(struct.path_from_id())
        if name.startswith("["):
            return name if isinstance(struct, bpy.types.ID) else f"{struct.path_from_id()}{name}"
        return str(struct.path_from_id(name))
    except (ValueError, AttributeError):
        return ""


def names_of(name: str) -> Iterable[str]:
    """Return the names of the value `name`, itself included."""
    return next((names for names in ALIASES if name in names), (name,))


def _type_of(struct: Any) -> tuple[str, Any]:
    """Return the name of the type of a struct and the type."""
    return struct.bl_rna.identifier, type(struct)


def settings(struct: Any) -> tuple[tuple[str, str, Any], ...]:
    """Return name, type and default of the properties of a struct that may move vertices."""
    return _settings_of_type(*_type_of(struct))


@functools.cache
def _settings_of_type(identifier: str, kind: Any) -> tuple[tuple[str, str, Any], ...]:
    """Return name, type and default of the properties of a type of struct that may move vertices."""
    skipped = SKIPPED | (SKIPPED_OF_NODES if issubclass(kind, bpy.types.Node) else frozenset())
    found = []
    for prop in kind.bl_rna.properties:
        name = prop.identifier
        if name in skipped or name.startswith("bl_") or (name.startswith("show_") and name != "show_viewport"):
            continue
        if prop.is_readonly and prop.type not in ("POINTER", "COLLECTION") and name not in ("type", "vertex_indices"):
            continue
        found.append((name, prop.type, default_of(prop)))
    return tuple(found)


def setting(struct: Any, name: str) -> tuple[str, str, Any]:
    """Return name, type and default of one property; the type is empty if there is none."""
    return _setting_of_type(*_type_of(struct), name)


@functools.cache
def _setting_of_type(identifier: str, kind: Any, name: str) -> tuple[str, str, Any]:
    prop = kind.bl_rna.properties.get(name)
    return (name, "", None) if prop is None else (name, prop.type, default_of(prop))


@functools.cache
def bendy_bone_values() -> tuple[str, ...]:
    """Return the names of the properties that bend a posed bone."""
    return tuple(prop.identifier for prop in bpy.types.PoseBone.bl_rna.properties
                 if prop.identifier.startswith("bbone_") and not prop.is_readonly and prop.type != "POINTER")


def own_settings(item: Any) -> list[str]:
    """Return the names of the properties of a data-block that not every data-block has."""
    common = bpy.types.ID.bl_rna.properties.keys()
    return [name for name, _, _ in settings(item)
            if name not in common and name not in ("animation_data", "materials", "grease_pencil")]


def default_of(prop: Any) -> Any:
    """Return the default of a property; None for structs."""
    if prop.type in ("POINTER", "COLLECTION"):
        return None
    if getattr(prop, "is_array", False):
        return list(prop.default_array)
    return sorted(prop.default_flag) if getattr(prop, "is_enum_flag", False) else prop.default
