# SPDX-License-Identifier: GPL-3.0-or-later
"""The collision settings of a cloth as a plain record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ContactSettings:
    """Collisions of one cloth object. Groups are names, "" for none.

    Attributes:
        object_collisions: whether it collides with colliders and other cloth.
        collision_collection: name of the collection that limits these, "" for all.
        members: names of the mesh objects in that collection, sorted.
        object_collision_group, self_collision_group: vertex groups that are left out.
        self_collisions: whether it collides with itself.
        self_friction: coefficient of cloth on cloth [-], None for that on colliders.
        self_distance: distance between two layers [m], None for twice the thickness.
        layer: order of cloths that cross.
    """

    object_collisions: bool
    collision_collection: str
    members: tuple[str, ...]
    object_collision_group: str
    self_collisions: bool
    self_collision_group: str
    self_friction: float | None
    self_distance: float | None
    layer: int

    @property
    def groups(self) -> set[str]:
        """Names of the vertex groups that are used."""
        return {self.object_collision_group, self.self_collision_group} - {""}


def contact_settings_of(values: Any, unit: float) -> ContactSettings:
    """Return the collision settings in an object's `muslin`. `unit` is the length of a Blender unit [m]."""
    chosen, distance = values.collision_collection, float(values.self_distance) * unit
    return ContactSettings(
        object_collisions=bool(values.use_collision), collision_collection=chosen.name_full if chosen else "",
        members=tuple(sorted(obj.name_full for obj in chosen.all_objects if obj.type == "MESH")) if chosen else (),
        object_collision_group=values.object_collision_group, self_collisions=bool(values.use_self_collision),
        self_collision_group=values.self_collision_group,
        self_friction=float(values.self_friction) if values.use_self_friction else None,
        self_distance=distance if distance > 0.0 else None, layer=int(values.layer))
