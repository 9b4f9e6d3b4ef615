# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets on an object: load the values of a preset, and find the preset that the values belong to.

The preset's name is not stored. An object has the preset `cotton` as long as its values equal those of cotton, and
`CUSTOM` otherwise.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ... import core
from .enum_items import Item, title

CUSTOM, DEFAULT = "CUSTOM", "cotton"

PRESET_PROPERTIES = (
    "areal_density", "stretch_warp", "stretch_weft", "shear", "bend_warp", "bend_weft",
    "damping", "friction", "air_drag", "viscous_drag", "isotropic_damping", "spring_damping",
)
"""Properties of `MuslinObject` that a preset sets."""


@functools.cache
def preset_values(name: str) -> dict[str, float]:
    """Return the values of the preset `name` by property of `MuslinObject`, in SI."""
    return _values_of(core.Material.preset(name))


def _values_of(fabric: core.Material) -> dict[str, float]:
    return {
        "areal_density": fabric.areal_density,
        "stretch_warp": fabric.stretch[0], "stretch_weft": fabric.stretch[1], "shear": fabric.shear,
        "bend_warp": fabric.bend[0], "bend_weft": fabric.bend[1],
        "damping": fabric.damping, "friction": fabric.friction, "air_drag": fabric.air_drag,
        "viscous_drag": fabric.viscous_drag, "isotropic_damping": fabric.isotropic_damping,
        "spring_damping": fabric.spring_damping,
    }


@functools.cache
def readable_presets() -> tuple[tuple[str, ...], str]:
    """Return the names of the presets whose files can be read, and what is wrong with the others."""
    names, problems = [], []
    for name in core.Material.presets():
        try:
            preset_values(name)
            names.append(name)
        except core.ClothError as error:
            problems.append(str(error))
    return tuple(names), "; ".join(problems)


def default_values() -> dict[str, float]:
    """Return the values of a new object: those of cotton, or of a plain sheet if its preset cannot be read."""
    if DEFAULT in readable_presets()[0]:
        return preset_values(DEFAULT)
    return _values_of(core.Material(areal_density=0.15, stretch=(4000.0, 4000.0), shear=300.0))


@functools.cache
def preset_items() -> list[Item]:
    """Return the presets as items of an enum, Custom last."""
    names = readable_presets()[0]
    presets = [(name, title(name), f"Fill in the values of {title(name).lower()}, Friction and drags included", i)
               for i, name in enumerate(names)]
    return [*presets, (CUSTOM, "Custom", "Values of your own", len(names))]


def load_preset(settings: Any, name: str) -> None:
    """Set the properties of `settings` to the values of the preset `name`; CUSTOM leaves them unchanged."""
    if name != CUSTOM:
        for prop, value in preset_values(name).items():
            setattr(settings, prop, value)


def preset_of(settings: Any) -> str:
    """Return the name of the preset whose values `settings` has, or CUSTOM. Properties are in single precision."""
    values = np.array([getattr(settings, prop) for prop in PRESET_PROPERTIES], np.float32)
    for name in readable_presets()[0]:
        preset = preset_values(name)
        if np.array_equal(values, np.array([preset[prop] for prop in PRESET_PROPERTIES], np.float32)):
            return name
    return CUSTOM
