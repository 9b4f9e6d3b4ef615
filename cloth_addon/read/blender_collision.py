# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own Collision physics: objects that have it and are no colliders of Muslin, and its settings.

    friction    mu = friction / 100, the slider of the collider (Blender ignores that of the cloth)      [-]
    absorption  of force fields: as it is                                                                [-]
    thickness   8/9 of the outer thickness                                                 [Blender units]
"""

from __future__ import annotations

from typing import Any

import bpy

from ..properties.settings import kind_of

OUTER_PART = 8.0 / 9.0
"""Distance that cloth keeps in Blender's own simulation, over the outer thickness that is set [-]; measured."""


def ignored_collisions(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the mesh objects with Blender's Collision that take no part in Muslin's simulation, sorted by name.

    Fast enough for drawing a panel.
    """
    return sorted((obj for obj in scene.objects if has_collision(obj) and kind_of(obj, scene) == "NONE"),
                  key=lambda obj: obj.name)


def has_collision(obj: bpy.types.Object) -> bool:
    """Return whether Blender's cloth would collide with the object."""
    settings = getattr(obj, "collision", None)
    return obj.type == "MESH" and settings is not None and settings.use and any(
        modifier.type == "COLLISION" for modifier in obj.modifiers)


def notes(scene: bpy.types.Scene) -> list[str]:
    """Return a note that names these objects; none if there are none."""
    names = [f"'{obj.name}'" for obj in ignored_collisions(scene)]
    if not names:
        return []
    listed = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    has, stops = ("has", "stops") if len(names) == 1 else ("have", "stop")
    return [f"{listed} {has} Blender's Collision, but {stops} nothing here: press Use as Collider"]


def take_over(obj: Any) -> None:
    """Make the object a collider of Muslin with the settings of Blender's Collision."""
    settings = obj.collision
    obj.muslin.kind = "COLLIDER"
    obj.muslin.friction = settings.cloth_friction / 100.0
    obj.muslin.absorption = settings.absorption
    obj.muslin.thickness = OUTER_PART * settings.thickness_outer
