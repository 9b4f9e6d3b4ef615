# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object's rest shape: a shape key, and a rest shape that moves."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, StringProperty

from . import baked_record


def keys_of_user(values: Any, _context: bpy.types.Context, _text: str) -> list[str]:
    """Return the names of the mesh's shape keys that no bake has made: a bake adds one for each frame."""
    obj = values.id_data
    keys = getattr(obj.data, "shape_keys", None)
    if keys is None:
        return []
    record = baked_record.known(obj)
    made = set() if record is None else {*baked_record.own_keys(keys, record)}
    return [block.name for block in keys.key_blocks
            if block.name not in made and block.slider_min != baked_record.MARK]


class RestProperties:
    """Settings of an object's rest shape; a base class of `MuslinObject`."""

    __slots__ = ()

    rest_shape_key: StringProperty(
        name="Rest Shape Key", description="Shape key in which the fabric is not stretched or bent. Empty: the mesh at "
        "the first frame, where it starts in any case",
        options=set(), search=keys_of_user, search_options=set(),
    )
    use_dynamic_mesh: BoolProperty(
        name="Dynamic Mesh", description="The rest shape follows the object's animation: what shape keys and modifiers "
        "stretch, shrink or bend in the mesh from frame to frame, they change in the fabric",
        default=False, options=set(),
    )
