# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights of gravity and of force fields for one cloth, as the core takes them."""

from __future__ import annotations

from collections.abc import Sequence

import bpy

from ... import core
from ..properties.field_weights_settings import FIELD_WEIGHTS, FieldWeightsSettings
from .force_fields import field_names
from .frame_window import FrameWindow


def field_weights(obj: bpy.types.Object, settings: FieldWeightsSettings, objects: Sequence[bpy.types.Object],
                  window: FrameWindow) -> core.FieldWeights:
    """Return the weights of a cloth object; `objects` have the fields of the scene.

    A field does not act on its own object, as in Blender.
    """
    names = field_names(objects)
    acting = [field for field in objects if field != obj
              and (not settings.effector_collection or field.name_full in settings.effectors)]
    keyed = window.settings(obj)
    return core.FieldWeights(**{name: keyed.setting(f"weight_{name}") for name in FIELD_WEIGHTS},
                             fields=None if len(acting) == len(objects) else [names[field] for field in acting])


def notes(obj: bpy.types.Object, settings: FieldWeightsSettings, objects: Sequence[bpy.types.Object]) -> list[str]:
    """Return a note on an Effector Collection that leaves a cloth none of the scene's force fields, in `objects`."""
    others = [field for field in objects if field != obj]
    if not settings.effector_collection or not others or any(field.name_full in settings.effectors for field in others):
        return []
    return [f"{obj.name}: its Effector Collection '{settings.effector_collection}' has no force field, so that none of "
            f"the scene acts on it ({', '.join(field.name for field in others)}). Put them into the collection, or "
            "choose another one"]
