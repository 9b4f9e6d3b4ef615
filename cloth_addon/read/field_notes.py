# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes that name force fields, and settings of them, that do nothing here."""

from __future__ import annotations

from typing import Any

import bpy

from .field_fluid import domain_settings
from .field_texture import has_color
from .force_fields import CHOICES, READ_ONCE, acting_objects, is_split, keyed_settings

ON_PARTICLES_ONLY = ("CHARGE", "LENNARDJ")
"""Types of fields that move particles and no cloth, in Blender either; those of boids and guides go without a note."""


def notes_on_ignored(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Return notes on force fields that are switched on and left out, wholly or in part. Fast enough for a panel."""
    notes = []
    for obj in sorted(scene.objects, key=lambda obj: obj.name_full):
        if obj.field is not None and obj.field.type in ON_PARTICLES_ONLY and (
                obj.evaluated_get(view_layer.depsgraph).is_evaluated):
            notes.append(f"The force field '{obj.name}' ({_title(obj.field)}) moves particles only, not cloth")
        notes += _notes_on_particles(obj)
    for obj in acting_objects(scene, view_layer):
        notes += _notes_on_field(obj)
    return notes


def _notes_on_field(obj: Any) -> list[str]:
    field = obj.field
    what = f"The force field '{obj.name}' ({_title(field)})"
    notes = []
    if field.type == "TEXTURE":
        if field.texture is None:
            notes.append(f"{what} is left out: choose its Texture")
        elif field.texture_nabla == 0.0 and not (field.texture_mode == "RGB" and has_color(field.texture)):
            notes.append(f"{what} does nothing: its Nabla is 0, and a slope of the texture needs a distance, such as "
                         "0.025")
    if field.type == "FLUID_FLOW" and domain_settings(field.source_object) is None:
        wanted = "choose its Domain Object" if field.source_object is None else (
            f"'{field.source_object.name}' is no fluid domain without Adaptive Domain")
        notes.append(f"{what} is left out: {wanted}")
    ignored = keyed_settings(obj, READ_ONCE) + ([] if is_split(obj) else keyed_settings(obj, CHOICES))
    if ignored:
        names = ", ".join(field.bl_rna.properties[name].name for name in ignored)
        notes.append(f"{what} has keys or drivers of {names} that do nothing: these settings count as they are when "
                     "the bake begins")
    return notes


def _notes_on_particles(obj: Any) -> list[str]:
    """Return a note on force fields of an object's particles, none if there are none."""
    for system in getattr(obj, "particle_systems", ()):
        settings = system.settings
        if any(field is not None and field.type != "NONE" for field in (settings.force_field_1,
                                                                        settings.force_field_2)):
            return [f"The force field of the particles '{system.name}' of '{obj.name}' is left out: put the field on "
                    "an object, with the shape Points for many places"]
    return []


def _title(field: Any) -> str:
    return str(field.bl_rna.properties["type"].enum_items[field.type].name)
