# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that a bake can be written to an object: the object, its mesh, and its shape keys."""

from __future__ import annotations

from typing import Any

import bpy

from ... import core
from ..properties import baked_record
from . import unbaked_state

MOST_NAMES = 3
"""Objects that an error names at most."""


def check_editable(obj: bpy.types.Object) -> None:
    """Raise SceneError if a bake cannot be written to `obj`. Called before the bake and again before writing."""
    def refuse(message: str) -> None:
        raise core.SceneError(message, object_name=obj.name)

    if obj.type != "MESH":
        refuse(f"is a {obj.type.lower()}, not a mesh; convert it (Object > Convert > Mesh)")
    mesh = obj.data
    of_modifier = obj.muslin.result == "MESH_CACHE"
    if of_modifier and baked_record.is_of_library(obj):
        refuse("its bake belongs to the file that it is linked from; delete the bake there, or make it local (Object > "
               "Relations > Make Local)")
    check_local(obj, in_modifier=of_modifier)
    if obj.mode == "EDIT" or mesh.is_editmode:
        refuse("is in Edit Mode; leave it (Tab) and bake again")
    if obj.use_dynamic_topology_sculpting:
        refuse("is sculpted with Dyntopo, which keeps no shape keys; switch Dyntopo off, or leave Sculpt Mode, and "
               "bake again")
    if mesh.library is None and obj.override_library is None and (shared := why_shared(obj)):
        refuse(shared)
    check_shape_keys(obj)


def why_shared(obj: bpy.types.Object) -> str:
    """Return that other objects show the mesh of `obj` as well, for an error; empty if none does."""
    mesh: Any = obj.data
    if mesh.users - int(mesh.use_fake_user) <= 1:
        return ""
    others = [f"'{other.name}'" for other in bpy.data.objects if other.data == mesh and other != obj]
    more = len(others) - MOST_NAMES
    which = ", ".join(others[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "") or "another data-block"
    return (f"shares its mesh '{mesh.name}' with {which}; make it single-user (Object > Relations > Make Single User > "
            "Object & Data)")


def check_local(obj: bpy.types.Object, *, in_modifier: bool) -> None:
    """Raise SceneError if the object or its mesh belongs to another file.

    A bake that a modifier plays (`in_modifier`) does not change the mesh, and a library override may have modifiers of
    its own. Then only the object itself must not be linked.
    """
    for what, item in (("it", obj), ("its mesh", obj.data)):
        if item.library is not None and (item == obj or not in_modifier):
            remedy = ("make it local (Object > Relations > Make Local), or a library override with Mesh Cache as the "
                      "Result" if item == obj else
                      "make it local (Object > Relations > Make Local), or choose Mesh Cache as the Result")
            raise core.SceneError(f"{what} is linked from {item.library.filepath} and cannot be changed here; {remedy}",
                                  object_name=obj.name)
        if item.override_library is not None and not in_modifier:
            raise core.SceneError(f"{what} is a library override; make it local (Object > Relations > Make Local), or "
                                  "choose Mesh Cache as the Result", object_name=obj.name)


def check_shape_keys(obj: bpy.types.Object) -> None:
    """Raise SceneError if a bake cannot be written beside the user's shape keys and their animation."""
    def refuse(message: str) -> None:
        raise core.SceneError(message, object_name=obj.name)

    keys = obj.data.shape_keys
    if keys is None or obj.muslin.result == "MESH_CACHE":
        return
    record = baked_record.load(obj)
    if record is not None and record.modifier:
        record = None                                               # it is in no shape keys
    if unbaked_state.users_shape_keys(obj):
        if not (keys.use_relative or record is not None):
            if left := baked_record.left_keys(obj):
                refuse(f"{left}; remove {'it' if left.startswith('1 ') else 'them'} in Object Data > Shape Keys, and "
                       "bake again")
            refuse(f"its {len(keys.key_blocks)} shape keys are absolute, and a bake needs relative ones beside it; "
                   "switch on Relative in the Shape Keys panel, or remove them")
        if obj.show_only_shape_key:
            refuse("shows its active shape key alone, which would hide the bake; switch off Solo in the Shape Keys "
                   "panel")
    animation = keys.animation_data
    if animation is None or animation.action is None or (record is not None and record.made_action):
        return
    action, slot = animation.action, animation.action_slot
    if animation.use_tweak_mode:
        refuse(f"a strip of its shape keys is in tweak mode (action '{action.name}'); leave it first")
    if action.library is not None:
        refuse(f"the action '{action.name}' of its shape keys is linked from {action.library.filepath}; make it local")
    if slot is not None and len(slot.users()) > 1:
        refuse(f"the action '{action.name}' of its shape keys animates {len(slot.users())} data-blocks in one slot; "
               "make it single-user")
