# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the collision settings of a cloth object for the core: names of its collection, marks of its vertex groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.contact_settings import ContactSettings
from . import mesh_data
from .keyed_settings import KeyedSettings


def contact_of(obj: bpy.types.Object, settings: ContactSettings, others: Mapping[str, bpy.types.Object],
               keyed: KeyedSettings | None = None) -> core.ClothContact:
    """Return the core's collision settings of a cloth object.

    `others` are the colliders and cloths of the core's scene, by their names there; `keyed` are the
    object's settings during a bake.

    Raises:
        core.ClothError: it has no vertex group of a name in its settings.
    """
    names = None
    if settings.collision_collection:
        members = set(settings.members)
        names = [name for name, other in others.items() if other.name_full in members and other != obj]
    friction: Any = settings.self_friction
    if friction is not None and keyed is not None:
        friction = keyed.keyed_or("self_friction", friction)
    return core.ClothContact(
        self_collision=settings.self_collisions, collisions=settings.object_collisions, colliders=names,
        not_self=_marks(obj, settings.self_collision_group, "Self Collisions"),
        not_objects=_marks(obj, settings.object_collision_group, "Object Collisions"),
        self_friction=friction, self_distance=settings.self_distance, layer=settings.layer)


def notes(obj: bpy.types.Object, contact: core.ClothContact, settings: ContactSettings) -> list[str]:
    """Return a note on a collection that leaves a cloth nothing to collide with."""
    if contact.collisions and contact.colliders is not None and not contact.colliders:
        return [f"{obj.name}: its Collision Collection '{settings.collision_collection}' has no collider and no other "
                "cloth of this bake, so it collides with none. Put them into the collection, or choose another one"]
    return []


def _marks(obj: bpy.types.Object, name: str, where: str) -> NDArray[np.bool_] | None:
    """Return which vertices (V,) have a weight above 0 in the vertex group `name`; None without a name."""
    if not name:
        return None
    group = obj.vertex_groups.get(name)
    if group is None:
        raise core.ClothError(f"has no vertex group '{name}' to leave out of {where}; choose another one in Muslin's "
                              "panel, or none", object_name=obj.name)
    marks: NDArray[np.bool_] = mesh_data.group_weights(obj.data, group.index) > 0.0
    return marks
