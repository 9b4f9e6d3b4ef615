# SPDX-License-Identifier: GPL-3.0-or-later
"""The cloth as its user authored it: without an earlier bake, on the mesh's own vertices.

Modifiers that deform are part of what is simulated. Modifiers that make other vertices (Subdivision, Mirror,
Solidify, ...) act after the bake: they are switched off while the cloth is read and on again at once, so that
nothing of the file is changed between two frames of a bake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy_extras import anim_utils

from ... import core
from ..write import baked_record

GENERATIVE = frozenset((
    "ARRAY", "BEVEL", "BOOLEAN", "BUILD", "DECIMATE", "EDGE_SPLIT", "EXPLODE", "MASK", "MESH_TO_VOLUME", "MIRROR",
    "MULTIRES", "OCEAN", "PARTICLE_INSTANCE", "REMESH", "SCREW", "SKIN", "SOLIDIFY", "SUBSURF", "TRIANGULATE",
    "VOLUME_TO_MESH", "WELD", "WIREFRAME"))
"""Modifiers that change vertices or faces."""

SHAPELESS = frozenset((
    "COLLISION", "DATA_TRANSFER", "NORMAL_EDIT", "PARTICLE_SYSTEM", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT",
    "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "WEIGHTED_NORMAL"))
"""Modifiers that leave every vertex where it is."""

SIMULATING = {"CLOTH": "Cloth", "SOFT_BODY": "Soft Body"}
"""Blender's own simulations, which would move the cloth a second time."""


def check_modifiers(obj: bpy.types.Object) -> None:
    for modifier in obj.modifiers:
        if modifier.show_viewport and modifier.type in SIMULATING:
            raise core.SceneError(f"has Blender's own {SIMULATING[modifier.type]} modifier '{modifier.name}', which "
                                  "would move it a second time; remove it or switch it off in the viewport",
                                  object_name=obj.name)


def generative_modifiers(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Names of the modifiers that make other vertices than the mesh's own, geometry nodes judged by what they do."""
    names = [modifier.name for modifier in obj.modifiers if modifier.type in GENERATIVE]
    for modifier in obj.modifiers:
        if modifier.type == "NODES" and modifier.show_viewport:
            others = [m.name for m in obj.modifiers if m.type == "NODES" and m != modifier]
            with as_authored({obj: [*names, *others]}):
                view_layer.update()
                evaluated = obj.evaluated_get(view_layer.depsgraph).data
                changed = (len(evaluated.vertices) != len(obj.data.vertices)
                           or len(evaluated.polygons) != len(obj.data.polygons))
            if changed:
                names.append(modifier.name)
    return names


def deforms(obj: bpy.types.Object, generative: Iterable[str]) -> bool:
    """Whether something between the shape keys and the object's space moves vertices."""
    without = set(generative)
    return obj.parent_type in ("ARMATURE", "LATTICE") or any(
        modifier.show_viewport and modifier.name not in without and modifier.type not in SHAPELESS
        for modifier in obj.modifiers)


@contextmanager
def as_authored(objects: dict[bpy.types.Object, list[str]]) -> Iterator[None]:
    """Switches off the objects' earlier bakes and the modifiers named for each, and back exactly as they were."""
    changed: list[tuple[Any, str, Any]] = []

    def put(owner: Any, name: str, value: Any) -> None:
        before = getattr(owner, name)
        if before != value:
            changed.append((owner, name, before))
            setattr(owner, name, value)

    try:
        for obj, modifiers in objects.items():
            for name in modifiers:
                if name in obj.modifiers:
                    for curve in _animating(obj, f'modifiers["{bpy.utils.escape_identifier(name)}"].show_viewport'):
                        put(curve, "mute", True)    # or the next frame switches the modifier on again
                    put(obj.modifiers[name], "show_viewport", False)
            _without_bake(obj, put)
        yield
    finally:
        for owner, name, before in reversed(changed):
            setattr(owner, name, before)


def _animating(obj: bpy.types.Object, path: str) -> list[Any]:
    """The driver and the F-curve of the object's property at `path`."""
    animation = obj.animation_data
    if animation is None:
        return []
    found = [animation.drivers.find(path)]
    if animation.action is not None and animation.action_slot is not None:
        bag = anim_utils.action_get_channelbag_for_slot(animation.action, animation.action_slot)
        found.append(bag.fcurves.find(path) if bag is not None else None)
    return [curve for curve in found if curve is not None]


def _without_bake(obj: bpy.types.Object, put: Any) -> None:
    record = baked_record.load(obj)
    if record is None:
        return
    keys = obj.data.shape_keys
    if record.absolute:
        put(keys, "use_relative", True)     # the bake's keys have the value 0
        put(obj, "show_only_shape_key", False)
        return
    for name in record.keys:
        block = keys.key_blocks.get(name)
        if block is not None:
            put(block, "mute", True)
