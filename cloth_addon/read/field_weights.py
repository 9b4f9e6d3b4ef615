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
