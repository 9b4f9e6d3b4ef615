# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted shrinking whose factors are keyed, or whose weights modifiers change: lengths at rest over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..properties.settings import ClothSettings
from .frame_window import FrameWindow, evaluated_object
from .garments import painted_weights
from .pins import evaluated_weights, weights_vary

FloatArray = NDArray[np.float64]
KEYED = frozenset(("shrink_min", "shrink_max"))
"""Settings that may be keyed."""


def samples(objects: Sequence[tuple[bpy.types.Object, ClothSettings]], view_layer: bpy.types.ViewLayer
            ) -> dict[str, Callable[[], FloatArray]]:
    """Return the functions for the frame window that read lengths at rest over those of the mesh (V,) [-]."""
    found: dict[str, Callable[[], FloatArray]] = {}
    for obj, settings in objects:
        group = settings.garment.shrink_group
        changed = group in obj.vertex_groups and weights_vary(obj, group)
        if changed or KEYED & set(settings.keyed):
            painted = painted_weights(obj, group, "Shrink Group") if group else np.zeros(len(obj.data.vertices))
            found[_sample_name(obj.name)] = partial(_scale, obj, view_layer, group if changed else "", painted)
    return found


def options(cloth: str, window: FrameWindow) -> dict[str, Any]:
    """Return the keyword argument of `core.Cloth` for a cloth whose shrinking is keyed, none for others."""
    name = _sample_name(cloth)
    return {"rest_scale": window.trajectory(name)} if name in window.motion.start else {}


def _scale(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, group: str, painted: FloatArray) -> FloatArray:
    """Return the scale (V,) at the scene's frame, from the evaluated weights of `group`, or painted ones (V,)."""
    weights = evaluated_weights(obj, view_layer, group) if group else painted
    values: Any = evaluated_object(obj, view_layer).muslin
    low, high = float(values.shrink_min), float(values.shrink_max)
    return 1.0 - (low + weights * (high - low))


def _sample_name(cloth: str) -> str:
    """Return a name in the frame window that no object has."""
    return f"\0rest scale of {cloth}"
