# SPDX-License-Identifier: GPL-3.0-or-later
"""The internal springs of a cloth object as an argument of `core.Cloth`."""

from __future__ import annotations

from typing import Any

import bpy

from ... import core
from ..properties.internal_springs_settings import InternalSpringsSettings
from .garments import painted_weights
from .keyed_settings import KeyedSettings

PASCALS = 1e3
"""Pascals in the unit of the panel's moduli."""


def internal_springs_options(obj: bpy.types.Object, settings: InternalSpringsSettings, keyed: KeyedSettings
                             ) -> dict[str, Any]:
    """Return keyword arguments of `core.Cloth`; none without internal springs.

    Raises:
        core.ClothError: there is no such vertex group, or it makes the stiffness negative.
    """
    if not settings.used:
        return {}
    scale: Any = 1.0
    if settings.group:
        scale = 1.0 + painted_weights(obj, settings.group, "Vertex Group of Internal Springs") * (settings.factor - 1.0)
    return {"internal_springs": core.InternalSprings(
        keyed.setting("internal_tension", PASCALS), keyed.setting("internal_compression", PASCALS),
        max_length=settings.max_length, max_diversion=settings.max_diversion, check_normals=settings.check_normals,
        scale=scale, damping=settings.damping)}
