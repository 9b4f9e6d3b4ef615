# SPDX-License-Identifier: GPL-3.0-or-later
"""The fabric of a cloth object as the core's material, which follows the constants that are keyed."""

from __future__ import annotations

from ... import core
from ..properties.air_settings import OF_LINEAR_AIR, OF_QUADRATIC_AIR
from ..properties.settings import ClothSettings
from .keyed_settings import KeyedSettings

OF_COMPRESSION = ("compression_warp", "compression_weft")
"""Constants that count only with Compression on."""
OF_SEPARATE_DAMPING = ("compression_damping", "shear_damping", "bend_damping")
"""Constants that count only with Separate Damping on."""


def material_of(name: str, settings: ClothSettings, keyed: KeyedSettings) -> core.Material | core.KeyedMaterial:
    """Return the material of a cloth, called `name` in messages: one over time if any of its constants is keyed."""
    material = settings.material(name)
    unused = {*(OF_COMPRESSION if material.compression is None else ()),
              *(OF_SEPARATE_DAMPING if material.shear_damping is None else ()),
              *(OF_LINEAR_AIR if material.air_drag is None else OF_QUADRATIC_AIR)}
    changes = {constant: keyed.setting(constant) for constant in core.KeyedMaterial.constants()
               if constant in keyed.names and constant not in unused}
    return core.KeyedMaterial(material, changes) if changes else material
