# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth as the user authored it: without an earlier bake, and on the mesh's own vertices.

Modifiers that only deform are part of the simulated shape. Modifiers that change the vertices or faces (Subdivision,
Mirror, Solidify, ...) act on the baked cloth. They are switched off while the cloth is read and on again at once, so
that the file is unchanged between two frames of a bake.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy_extras import anim_utils

from ... import core
from ..properties import baked_record

GENERATIVE = frozenset((
    "ARRAY", "BEVEL", "BOOLEAN", "BUILD", "DECIMATE", "EDGE_SPLIT", "EXPLODE", "MASK", "MESH_TO_VOLUME", "MIRROR",
    "MULTIRES", "OCEAN", "PARTICLE_INSTANCE", "REMESH", "SCREW", "SKIN", "SOLIDIFY", "SUBSURF", "TRIANGULATE",
    "VOLUME_TO_MESH", "WELD", "WIREFRAME"))
"""Types of modifiers that change vertices or faces."""

SHAPELESS = frozenset((
    "COLLISION", "DATA_TRANSFER", "NORMAL_EDIT", "PARTICLE_SYSTEM", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT",
    "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL"))
"""Types of modifiers that move no vertex."""

SIMULATING = {"CLOTH": "Cloth", "SOFT_BODY": "Soft Body"}
"""Types and names of Blender's own simulations, which would move the cloth a second time."""


def users_shape_keys(obj: bpy.types.Object) -> list[str]:
    """Return the names of the shape keys that do not belong to a bake, the basis included."""
    keys = obj.data.shape_keys
    if keys is None:
        return []
    record = baked_record.load(obj)
    names = [block.name for block in keys.key_blocks]
    if record is None or record.modifier:
        return names
    baked = {*baked_record.own_keys(keys, record)}
    return [] if baked_record.only_baked(keys, record) else [name for name in names if name not in baked]


def check_modifiers(obj: bpy.types.Object) -> None:
    """Raise SceneError if one of Blender's own simulations moves the object."""
    for modifier in obj.modifiers:
        if modifier.show_viewport and modifier.type in SIMULATING:
            raise core.SceneError(f"has Blender's own {SIMULATING[modifier.type]} modifier '{modifier.name}', which "
                                  "would move it a second time; remove it or switch it off in the viewport",
                                  object_name=obj.name)


def generative_modifiers(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Return the names of the modifiers that change the number of vertices or faces.

    Geometry nodes are evaluated to find out whether they do.
    """
    names = [modifier.name for modifier in obj.modifiers if modifier.type in GENERATIVE]
    for modifier in obj.modifiers:
        if modifier.type == "NODES" and modifier.show_viewport:
            others = [m.name for m in obj.modifiers if m.type == "NODES" and m != modifier]
            with unbaked({obj: [*names, *others]}):
                view_layer.update()
                evaluated = obj.evaluated_get(view_layer.depsgraph).data
                changed = (len(evaluated.vertices) != len(obj.data.vertices)
                           or len(evaluated.polygons) != len(obj.data.polygons))
            if changed:
                names.append(modifier.name)
    return names


def deforms(obj: bpy.types.Object, generative: Iterable[str]) -> bool:
    """Return whether a modifier that is not in `generative`, or the parent, deforms the mesh at any frame."""
    return obj.parent_type in ("ARMATURE", "LATTICE") or bool(deforming_modifiers(obj, generative))


def deforming_modifiers(obj: bpy.types.Object, generative: Iterable[str]) -> list[bpy.types.Modifier]:
    """Return the modifiers that are not in `generative` and move vertices, those that keys switch on included."""
    without = set(generative)
    return [modifier for modifier in obj.modifiers
            if modifier.name not in without and modifier.type not in SHAPELESS and not baked_record.is_own(modifier)
            and (modifier.show_viewport or _animation_of(obj, _visibility_path(modifier.name)))]


@contextmanager
def unbaked(objects: dict[bpy.types.Object, list[str]]) -> Iterator[None]:
    """Switch off the earlier bakes of `objects` and their modifiers that change vertices; restore them at the end.

    These modifiers are those of the types GENERATIVE, and those named for each object.
    """
    with _restored() as change:
        for obj, modifiers in objects.items():
            _switch_off_modifiers(obj, modifiers, change)
            _switch_off_bake(obj, change)
        yield


@contextmanager
def ungenerated(objects: dict[bpy.types.Object, list[str]]) -> Iterator[None]:
    """Switch off the modifiers of `objects` that change vertices, as `unbaked` does; restore them at the end."""
    with _restored() as change:
        for obj, modifiers in objects.items():
            _switch_off_modifiers(obj, modifiers, change)
        yield


def hidden_by_keys(obj: bpy.types.Object) -> bool:
    """Return whether a curve or driver switches the object on and off in the viewport (its monitor icon)."""
    return bool(_animation_of(obj, "hide_viewport"))


@contextmanager
def shown(objects: Iterable[bpy.types.Object]) -> Iterator[bool]:
    """Switch on those `objects` that keys or drivers hide in the viewport; restore them at the end.

    Blender does not compute where hidden objects are: they would stand still while hidden. Yields whether there are
    any.
    """
    with _restored() as change:
        found = False
        for obj in objects:
            for curve in _animation_of(obj, "hide_viewport"):
                found = True
                change(curve, "mute", True)
                change(obj, "hide_viewport", False)
        yield found


@contextmanager
def _restored() -> Iterator[Callable[[Any, str, Any], None]]:
    """Yield the function change(owner, property, value), and restore all changed properties at the end."""
    changed: list[tuple[Any, str, Any]] = []

    def change(owner: Any, name: str, value: Any) -> None:
        before = getattr(owner, name)
        if before != value:
            changed.append((owner, name, before))
            setattr(owner, name, value)

    try:
        yield change
    finally:
        for owner, name, before in reversed(changed):
            setattr(owner, name, before)


def _animation_of(obj: bpy.types.Object, path: str) -> list[Any]:
    """Return the driver and the F-curves of the object's property at `path`, those of strips included."""
    animation = obj.animation_data
    if animation is None:
        return []
    found = [animation.drivers.find(path)]
    strips = [strip for track in animation.nla_tracks for strip in track.strips]
    owners: list[Any] = [animation, *strips]
    for owner in owners:
        if owner.action is not None and owner.action_slot is not None:
            bag = anim_utils.action_get_channelbag_for_slot(owner.action, owner.action_slot)
            found.append(bag.fcurves.find(path) if bag is not None else None)
    return [curve for curve in found if curve is not None]


def _visibility_path(modifier: str) -> str:
    """Return the path from an object to the visibility in the viewport of one of its modifiers."""
    return f'modifiers["{bpy.utils.escape_identifier(modifier)}"].show_viewport'


def _switch_off_modifiers(obj: bpy.types.Object, modifiers: list[str], change: Any) -> None:
    """Hide those of `modifiers` and of the types GENERATIVE by `change(owner, property, value)`."""
    for name in [modifier.name for modifier in obj.modifiers]:
        if name in modifiers or obj.modifiers[name].type in GENERATIVE:
            for curve in _animation_of(obj, _visibility_path(name)):
                change(curve, "mute", True)     # otherwise the next frame switches the modifier on again
            change(obj.modifiers[name], "show_viewport", False)


def _switch_off_bake(obj: bpy.types.Object, change: Any) -> None:
    """Hide the shape keys of a bake, and modifiers that play one, by `change(owner, property, value)`."""
    for modifier in obj.modifiers:
        if baked_record.is_own(modifier):
            change(modifier, "show_viewport", False)
    record = baked_record.load(obj)
    if record is None or record.modifier:
        return
    keys = obj.data.shape_keys
    if record.absolute:
        change(keys, "use_relative", True)      # the keys of the bake have the value 0
        change(obj, "show_only_shape_key", False)
        return
    for name in baked_record.own_keys(keys, record):
        change(keys.key_blocks[name], "mute", True)
