# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure inside a cloth object as an argument of `core.Cloth`."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ... import core
from ..properties.pressure_settings import PASCALS, PressureSettings
from .garments import painted_weights
from .keyed_settings import KeyedSettings


def pressure_options(obj: bpy.types.Object, settings: PressureSettings, keyed: KeyedSettings) -> dict[str, Any]:
    """Return keyword arguments of `core.Cloth`; none without pressure.

    Raises:
        core.ClothError: there is no such vertex group, or a setting is out of its range.
    """
    if not settings.used:
        return {}
    weights = None
    if settings.group:
        weights = np.clip(painted_weights(obj, settings.group, "Vertex Group of Pressure"), 0.0, 1.0)
    custom = settings.target_volume is not None
    return {"pressure": core.Pressure(
        keyed.setting("uniform_pressure_force", PASCALS), PASCALS, keyed.setting("pressure_factor"),
        keyed.setting("target_volume", settings.unit_volume) if custom else None,
        keyed.setting("fluid_density", PASCALS), weights)}
