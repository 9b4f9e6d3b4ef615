# SPDX-License-Identifier: GPL-3.0-or-later
"""What a .blend file keeps for Muslin: the settings of each object, here put together, and of the scene. No running
state.

Values are SI, except where Blender itself converts: a thickness is a length and the wind a velocity in Blender
units, which the interface shows in the scene's units.
"""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty

from ... import core
from ..read.model_options import BodyProperties
from ..ui import crossings_overlay, fabric_menu
from .enum_numbers import number_of
from .fabric_properties import FabricProperties
from .garment_properties import GarmentProperties, MapProperties
from .scene_properties import MuslinScene


def _models() -> list[tuple[str, str, str, int]]:
    return [(name, fabric_menu.title(name), "", number_of(name)) for name in core.models()]


def _kind_changed(settings: MuslinObject, context: bpy.types.Context) -> None:
    crossings_overlay.forget()


class MuslinObject(FabricProperties, GarmentProperties, MapProperties, BodyProperties, bpy.types.PropertyGroup):
    __slots__ = ()                                                # a misspelt name in a script is an error

    kind: EnumProperty(
        name="Type",
        description="What the object is in Muslin's simulation",
        items=[
            ("NONE", "None", "Takes no part"),
            ("CLOTH", "Cloth", "Is simulated as cloth"),
            ("COLLIDER", "Collider", "Cloth rests on it and slides over it"),
        ],
        default="NONE", options=set(), update=_kind_changed,
    )
    model: EnumProperty(
        name="Model", description="The law by which the fabric resists stretching and folding",
        items=_models(), options=set(),
    )
    pin_group: StringProperty(
        name="Pin Group",
        description="Vertices that follow the object's own animation: weight 1 exactly, below 1 by a spring",
        options=set(),
    )
    grain: EnumProperty(
        name="Grain", description="Which way the warp threads run",
        items=[
            ("OBJECT_X", "Object X", "Along the object's X axis, laid over the surface"),
            ("UV", "UV Map", "Along U of a UV map"),
        ],
        default="OBJECT_X", options=set(),
    )
    uv_map: StringProperty(
        name="UV Map", description="UV map that gives the grain; empty: the active one", options=set(),
    )
    thickness: FloatProperty(
        name="Thickness",
        description="Distance kept from other surfaces. For cloth, 0 means: set from the length of the mesh's edges",
        default=0.0, min=0.0, soft_max=0.1, step=0.1, precision=4, subtype="DISTANCE", unit="LENGTH", options=set(),
    )


classes = (MuslinObject, MuslinScene)


def attach() -> None:
    about = "Settings of Muslin's simulation"
    bpy.types.Object.muslin = PointerProperty(type=MuslinObject, name="Muslin", description=about)
    bpy.types.Scene.muslin = PointerProperty(type=MuslinScene, name="Muslin", description=about)


def detach() -> None:
    del bpy.types.Scene.muslin
    del bpy.types.Object.muslin
