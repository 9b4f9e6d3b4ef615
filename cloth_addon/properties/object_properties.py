# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that a .blend file stores for each object, and the registration of all property groups. No running state.

Values are in SI, except where Blender converts units by itself: lengths and velocities are stored in Blender units, and
the interface shows them in the scene's units.
"""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty

from . import change_listeners
from .body_properties import BodyProperties
from .enum_items import model_items
from .fabric_properties import FabricProperties
from .garment_properties import GarmentProperties, MapProperties
from .scene_properties import MuslinScene


class MuslinObject(FabricProperties, GarmentProperties, MapProperties, BodyProperties, bpy.types.PropertyGroup):
    """Settings of an object: `object.muslin`."""

    __slots__ = ()                                                # a misspelt name in a script is an error

    kind: EnumProperty(
        name="Type",
        description="Role of the object in Muslin's simulation",
        items=[
            ("NONE", "None", "Not part of the simulation"),
            ("CLOTH", "Cloth", "Simulated as cloth"),
            ("COLLIDER", "Collider", "Cloth rests on it and slides over it"),
        ],
        default="NONE", options=set(), update=change_listeners.notify,
    )
    model: EnumProperty(
        name="Model", description="What kind of material to simulate",
        items=model_items(), options=set(),
    )
    pin_group: StringProperty(
        name="Pin Group",
        description="Vertex group of vertices that follow the object's own animation: exactly at weight 1, by a spring "
        "below",
        options=set(),
    )
    grain: EnumProperty(
        name="Grain", description="Direction of the warp threads",
        items=[
            ("OBJECT_X", "Object X", "Along the object's X axis, projected onto the surface"),
            ("UV", "UV Map", "Along U of a UV map"),
        ],
        default="OBJECT_X", options=set(),
    )
    uv_map: StringProperty(
        name="UV Map", description="UV map of the grain and the pattern. Empty: the active one", options=set(),
    )
    thickness: FloatProperty(
        name="Thickness",
        description="Distance kept from other surfaces. For cloth, 0 means: from the length of the mesh's edges",
        default=0.0, min=0.0, soft_max=0.1, step=0.1, precision=4, subtype="DISTANCE", unit="LENGTH", options=set(),
    )


classes = (MuslinObject, MuslinScene)


def attach() -> None:
    """Add the settings to Blender's objects and scenes."""
    about = "Settings of Muslin's simulation"
    bpy.types.Object.muslin = PointerProperty(type=MuslinObject, name="Muslin", description=about)
    bpy.types.Scene.muslin = PointerProperty(type=MuslinScene, name="Muslin", description=about)


def detach() -> None:
    """Remove the settings from Blender's objects and scenes."""
    del bpy.types.Scene.muslin
    del bpy.types.Object.muslin
