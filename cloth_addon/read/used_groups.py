# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the vertex groups of an object that its modifiers and shape keys use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import bpy

from . import rna_settings

OF_ALL = frozenset(("NODES", "DATA_TRANSFER"))
"""Types of modifiers that may use any vertex group, without its name in a setting."""


def used_groups(obj: bpy.types.Object, modifiers: Sequence[Any]) -> list[str]:
    """Return the names of the vertex groups of `obj` that `modifiers` or its shape keys use, in the object's order."""
    names = [group.name for group in obj.vertex_groups]
    if not names or any(modifier.type in OF_ALL for modifier in modifiers):
        return names
    keys = getattr(obj.data, "shape_keys", None)
    used = {block.vertex_group for block in keys.key_blocks} if keys is not None else set()
    for modifier in modifiers:
        used.update(_texts(modifier))
        if modifier.type == "ARMATURE" and modifier.object is not None and modifier.object.type == "ARMATURE":
            used.update(bone.name for bone in modifier.object.data.bones)
    return [name for name in names if name in used]


def _texts(struct: Any) -> Iterator[str]:
    """Yield the texts in the settings of a struct and of the structs in it, which names of vertex groups are among."""
    for name, kind, _ in rna_settings.settings(struct):
        value = getattr(struct, name, None)
        if kind == "STRING" and value:
            yield value
        elif kind == "POINTER" and value is not None and not isinstance(value, bpy.types.ID):
            yield from _texts(value)
        elif kind == "COLLECTION":
            for item in value or ():
                if not isinstance(item, bpy.types.ID):
                    yield from _texts(item)
