# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabrics by name: a preset fills an object's values, and the values say which preset they are.

The name is not stored: an object is made of cotton as long as its values are cotton's, and custom otherwise.
"""

from __future__ import annotations

import functools
from typing import Any

import bpy
import numpy as np

from ... import core

CUSTOM = "CUSTOM"

PROPERTIES = (
    "areal_density", "stretch_warp", "stretch_weft", "shear", "bend_warp", "bend_weft",
    "damping", "friction", "air_drag", "viscous_drag", "isotropic_damping", "spring_damping",
)


@functools.cache
def preset(name: str) -> dict[str, float]:
    """A preset's values by the names of the object's properties."""
    fabric = core.Material.preset(name)
    return {
        "areal_density": fabric.areal_density,
        "stretch_warp": fabric.stretch[0], "stretch_weft": fabric.stretch[1], "shear": fabric.shear,
        "bend_warp": fabric.bend[0], "bend_weft": fabric.bend[1],
        "damping": fabric.damping, "friction": fabric.friction, "air_drag": fabric.air_drag,
        "viscous_drag": fabric.viscous_drag, "isotropic_damping": fabric.isotropic_damping,
        "spring_damping": fabric.spring_damping,
    }


def title(name: str) -> str:
    return name.replace("_", " ").title()


@functools.cache
def items() -> list[tuple[str, str, str, int]]:
    """The presets as an enum; custom comes last."""
    names = core.Material.presets()
    presets = [(name, title(name), f"Fill in the values of {title(name).lower()}", i) for i, name in enumerate(names)]
    return [*presets, (CUSTOM, "Custom", "Values of your own", len(names))]


def fill(settings: Any, name: str) -> None:
    """Gives `settings` the preset's values; CUSTOM keeps what is there."""
    if name != CUSTOM:
        for prop, value in preset(name).items():
            setattr(settings, prop, value)


def name_of(settings: Any) -> str:
    """The preset whose values `settings` has (properties are single precision), or CUSTOM."""
    values = np.array([getattr(settings, prop) for prop in PROPERTIES], np.float32)
    for name in core.Material.presets():
        if np.array_equal(values, np.array([preset(name)[prop] for prop in PROPERTIES], np.float32)):
            return name
    return CUSTOM


class MUSLIN_MT_fabric(bpy.types.Menu):
    bl_label = "Fabric"
    bl_description = "Fill in the values of a fabric"

    def draw(self, context: bpy.types.Context) -> None:
        for name in core.Material.presets():
            self.layout.prop_enum(context.object.muslin, "fabric", name)


classes = (MUSLIN_MT_fabric,)
