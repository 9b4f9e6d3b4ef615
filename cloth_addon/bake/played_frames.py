# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that the file which a Mesh Cache plays has all frames of its bake: Blender shows no error if some are missing.
"""

from __future__ import annotations

from typing import Any

import bpy

from ... import core
from ...core.cache.pc2 import Pc2File
from ..properties import baked_record
from ..write import mesh_cache
from . import relink, takes


def damage_text(obj: bpy.types.Object) -> str:
    """Return that the frames which the bake of `obj` plays are cut off or damaged; empty if they are whole as far as is
    known, or gone, which `relink.missing_text` says. Fast enough for drawing."""
    record = baked_record.known(obj)
    used = takes.in_use(obj) if record is not None and record.modifier else None
    modifier: Any = obj.modifiers.get(record.modifier) if used is not None else None
    if modifier is None:
        return ""
    path = mesh_cache.absolute_path(modifier.filepath, library=obj.library)
    if used.reached is None or used.reached < record.last:
        damage = used.damage or f"{path}: it is cut off after frame {used.reached}"
        return f"The bake does not play as it was made. {damage}. Press Resume, or bake again"
    try:
        last = used.start + Pc2File.open(path).count - 1            # its head says how many frames Blender plays
    except core.CacheError as error:
        return str(error)
    return "" if last >= record.last else (f"The bake does not play as it was made. {path} says that it ends at frame "
                                           f"{last}: its start is damaged. Bake again")


def are_whole(obj: bpy.types.Object) -> bool:
    """Return whether the bake of `obj` plays as it was made, as far as is known. Fast enough for drawing."""
    return not (relink.missing_text(obj) or damage_text(obj))
