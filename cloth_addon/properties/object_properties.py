# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that a .blend file stores for each object, and the registration of all property groups. No running state.

Values are in SI, except where Blender converts units by itself: lengths and velocities are stored in Blender units, and
the interface shows them in the scene's units.
"""

from __future__ import annotations

import typing
from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty, PointerProperty, StringProperty

from . import baked_record, change_listeners
from .body_properties import BodyProperties
from .compression_properties import CompressionProperties
from .contact_properties import ContactProperties
from .enum_items import model_items
from .fabric_properties import FabricProperties
from .field_weights_properties import FieldWeightsProperties
from .garment_properties import GarmentProperties, MapProperties
from .internal_springs_properties import InternalSpringsProperties
from .pin_properties import PinProperties
from .plasticity_properties import PlasticityProperties
from .pressure_properties import PressureProperties
from .rest_properties import RestProperties
from .scene_properties import MuslinScene
from .tearing_properties import TearingProperties


class MuslinObject(FabricProperties, GarmentProperties, MapProperties, BodyProperties, RestProperties,
                   CompressionProperties, FieldWeightsProperties, ContactProperties, InternalSpringsProperties,
                   PlasticityProperties, TearingProperties, PressureProperties, PinProperties, bpy.types.PropertyGroup):
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
        "below. Modifiers such as Vertex Weight Mix may change the weights over time: at 0 a vertex is let go",
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
    result: EnumProperty(
        name="Result", description="What a bake leaves in the file. Both can be made from the same bake, and switched "
        "afterwards without simulating again",
        items=[("SHAPE_KEYS", "Shape Keys", "Stored in the .blend, one key per frame. They play in every Blender, also "
                "without Muslin and without its cache", 0),
               ("MESH_CACHE", "Mesh Cache", "A Mesh Cache modifier that plays the cache on disk (PC2). For long shots "
                "and large meshes: the .blend stays small, and the files must stay beside it", 1)],
        default="SHAPE_KEYS", options=set(),
    )
    key_mode: EnumProperty(
        name="Keys", description="Kind of the shape keys",
        items=[("AUTO", "Automatic", "Absolute, or relative if the mesh has shape keys of its own", 0),
               ("ABSOLUTE", "Absolute", "One animation curve for all frames: they play fast, however many there are. "
                "Not for a mesh with shape keys of its own", 1),
               ("RELATIVE", "Relative", "One value for each frame, beside other shape keys: for exports to glTF and "
                "FBX, and to mix with other keys. The more frames, the slower they play", 2)],
        default="AUTO", options=set(),
    )
    thickness: FloatProperty(
        name="Thickness",
        description="Distance kept from other surfaces. For cloth, 0 means: from the length of the mesh's edges, and "
                    "less where it starts nearer to a collider",
        default=0.0, min=0.0, soft_max=0.1, step=0.1, precision=4, subtype="DISTANCE", unit="LENGTH", options=set(),
    )


def _overridable(cls: type) -> dict[str, Any]:
    """Return the properties of a property group, its bases' included, such that library overrides may change them."""
    found = typing.get_type_hints(cls)
    for deferred in found.values():
        deferred.keywords["override"] = {"LIBRARY_OVERRIDABLE"}
    return found


MuslinObject.__annotations__ = _overridable(MuslinObject)
classes = (MuslinObject, MuslinScene)


def attach() -> None:
    """Add the settings to Blender's objects and scenes."""
    about = "Settings of Muslin's simulation"
    bpy.types.Object.muslin = PointerProperty(type=MuslinObject, name="Muslin", description=about,
                                             override={"LIBRARY_OVERRIDABLE"})
    bpy.types.Scene.muslin = PointerProperty(type=MuslinScene, name="Muslin", description=about)
    baked_record.attach()


def detach() -> None:
    """Remove the settings from Blender's objects and scenes."""
    baked_record.detach()
    del bpy.types.Scene.muslin
    del bpy.types.Object.muslin
