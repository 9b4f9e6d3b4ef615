# SPDX-License-Identifier: GPL-3.0-or-later
"""The attribute of velocities at which vertices start, and its name in earlier versions.

Renderers take an attribute `velocity` for the motion at every frame. Cycles then blurs the bake by these vectors and
not by its motion, which it finds by itself where there is no such attribute. Earlier versions of Muslin read the start
velocity from there. It still counts, so that files of these versions keep their motion, until the user renames it.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..properties.settings import kind_of

NAME, EARLIER_NAME = "start_velocity", "velocity"
"""Names of the points' attribute of initial velocity, in the object's space [Blender units/s], now and earlier."""


def attribute_name(mesh: Any) -> str:
    """Return the name of the attribute that is read: the earlier one if the mesh has that alone."""
    names = [name for name in (NAME, EARLIER_NAME) if _is_velocity(mesh.attributes.get(name))]
    return names[0] if names else NAME


def with_earlier_name(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the cloth objects whose start velocity has the earlier name, sorted by name. Fast enough for drawing."""
    return sorted((obj for obj in scene.objects if obj.type == "MESH" and kind_of(obj, scene) == "CLOTH"
                   and attribute_name(obj.data) == EARLIER_NAME), key=lambda obj: obj.name)


def note(obj: bpy.types.Object) -> str:
    """Return what is wrong with the earlier name, and what to do."""
    return (f"'{obj.name}' starts with its attribute '{EARLIER_NAME}', which Cycles takes for the motion at every "
            "frame: motion blur of the bake is wrong. Press Rename Attribute in the Bake panel")


def rename(obj: bpy.types.Object) -> None:
    """Give the attribute the name of this version. Earlier versions do not read it then."""
    mesh: Any = obj.data
    mesh.attributes[EARLIER_NAME].name = NAME


def _is_velocity(attribute: Any) -> bool:
    return attribute is not None and attribute.domain == "POINT" and attribute.data_type == "FLOAT_VECTOR"
