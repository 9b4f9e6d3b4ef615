# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted shrinking whose factors are keyed: lengths at rest as a function of the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..properties.settings import ClothSettings
from .frame_window import FrameWindow, evaluated_object
from .garments import painted_weights

FloatArray = NDArray[np.float64]
KEYED = frozenset(("shrink_min", "shrink_max"))
"""Settings of which one must be keyed."""


def samples(objects: Sequence[tuple[bpy.types.Object, ClothSettings]], view_layer: bpy.types.ViewLayer
            ) -> dict[str, Callable[[], FloatArray]]:
    """Return the functions for the frame window that read lengths at rest over those of the mesh (V,) [-]."""
    found: dict[str, Callable[[], FloatArray]] = {}
    for obj, settings in objects:
        if KEYED & set(settings.keyed):
            group = settings.garment.shrink_group
            weights = painted_weights(obj, group, "Shrink Group") if group else np.zeros(len(obj.data.vertices))
            found[_sample_name(obj.name)] = lambda obj=obj, weights=weights: _scale(obj, view_layer, weights)
    return found


def options(cloth: str, window: FrameWindow) -> dict[str, Any]:
    """Return the keyword argument of `core.Cloth` for a cloth whose shrinking is keyed, none for others."""
    name = _sample_name(cloth)
    return {"rest_scale": window.trajectory(name)} if name in window.motion.start else {}


def _scale(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, weights: FloatArray) -> FloatArray:
    values: Any = evaluated_object(obj, view_layer).muslin
    low, high = float(values.shrink_min), float(values.shrink_max)
    return 1.0 - (low + weights * (high - low))


def _sample_name(cloth: str) -> str:
    """Return a name in the frame window that no object has."""
    return f"\0rest scale of {cloth}"
