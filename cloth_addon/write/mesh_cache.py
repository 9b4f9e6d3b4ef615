# SPDX-License-Identifier: GPL-3.0-or-later
"""Mesh Cache modifiers that play the frames of a take from disk: the result of a bake, or the view of a running one.

Blender reads the PC2 file of a take, which holds positions in the object's space, at every frame, also while the file
grows. The modifier replaces what the modifiers above it have made of the mesh, so that it comes below all that deform
the cloth and above the first that changes vertices or faces, such as Subdivision.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ..properties import baked_record
from ..read.unbaked_state import GENERATIVE, SHAPELESS

PREVIEW = f"{baked_record.MODIFIER} Preview"
"""Name of the modifier that shows a running bake."""
RESULT = f"{baked_record.MODIFIER} Cache"
"""Name of the modifier that plays a finished bake."""


def add(obj: bpy.types.Object, name: str, path: Path, start: int, time_ratio: float) -> bpy.types.Modifier:
    """Add the modifier that plays the PC2 file at `path`, whose first sample is frame `start`.

    Raises:
        core.SceneError: a modifier that deforms is below one that changes vertices or faces.
    """
    place = place_in_stack(obj)
    modifier: Any = obj.modifiers.new(name, "MESH_CACHE")
    modifier.cache_format = "PC2"
    modifier.filepath = blend_path(path)
    modifier.deform_mode = "OVERWRITE"
    modifier.interpolation = "LINEAR"
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.frame_start, modifier.frame_scale = start, 1.0 / time_ratio
    modifier.show_in_editmode = False
    modifier.show_expanded = False
    obj.modifiers.move(len(obj.modifiers) - 1, place)
    return modifier


def place_in_stack(obj: bpy.types.Object) -> int:
    """Return the place of the modifier among the others: before the first that changes vertices or faces.

    Raises:
        core.SceneError: a modifier that deforms is below one that changes vertices or faces.
    """
    place, blocking = len(obj.modifiers), ""
    for number, modifier in enumerate(obj.modifiers):
        if not modifier.show_viewport or baked_record.is_own(modifier):
            continue
        if modifier.type in GENERATIVE or modifier.type == "NODES":
            if not blocking:
                place, blocking = number, modifier.name
        elif blocking and modifier.type not in SHAPELESS:
            raise core.SceneError(f"its modifier '{modifier.name}' deforms the mesh below '{blocking}', which changes "
                                  "vertices or faces, so that no Mesh Cache fits between; move it above "
                                  f"'{blocking}', or choose Shape Keys as the result", object_name=obj.name)
    return place


def remove(obj: bpy.types.Object, name: str) -> bool:
    """Remove the modifier called `name`. Return whether it was there."""
    modifier = obj.modifiers.get(name)
    if modifier is None or not baked_record.is_own(modifier):
        return False
    obj.modifiers.remove(modifier)
    return True


def missing_file(obj: bpy.types.Object) -> str:
    """Return that the file is gone which the bake of `obj` plays; empty if it is there. Fast enough for drawing."""
    record = baked_record.known(obj)
    modifier: Any = obj.modifiers.get(record.modifier) if record is not None and record.modifier else None
    if modifier is None or not baked_record.is_own(modifier):
        return ""
    path = absolute_path(modifier.filepath, library=obj.library)
    return "" if path.is_file() else (f"The frames of the bake are gone: {path}. Put the folder back, press Find "
                                      "Cache, or bake again")


def blend_path(path: Path, folder: str = "") -> str:
    """Return a path as Blender stores it: relative to the .blend where it is on the same drive, else absolute.

    `folder` is that of the .blend, instead of where the open file is.
    """
    folder = folder or (os.path.dirname(bpy.data.filepath) if bpy.data.filepath else "")
    if not folder:
        return str(path)
    try:
        return str(bpy.path.relpath(str(path), start=folder))
    except ValueError:                                              # another drive on Windows
        return str(path)


def absolute_path(path: str, folder: str = "", library: Any = None) -> Path:
    """Return the path that Blender stores as `path`, in the open file, a .blend in `folder`, or a library."""
    return Path(os.path.abspath(bpy.path.abspath(path, start=folder or None, library=library)))
