# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the pressure inside an object as a plain record in SI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PASCALS = 1e3
"""Pascals in a kilopascal, and kg/m^3 in a kg/l."""


@dataclass(frozen=True, kw_only=True)
class PressureSettings:
    """Pressure inside one cloth object.

    Attributes:
        used: whether there is any.
        uniform: uniform pressure, over the scale [-].
        scale: [Pa].
        target_volume: [m^3], None for the volume at the start.
        fluid_density: [kg/m^3].
        group: vertex group or attribute, "" for none.
        unit_volume: volume of a cube of one Blender unit [m^3].
    """

    used: bool
    uniform: float
    scale: float
    target_volume: float | None
    fluid_density: float
    group: str
    unit_volume: float


def pressure_settings_of(values: Any, unit: float) -> PressureSettings:
    """Return the settings in an object's `muslin`. `unit` is the length of one Blender unit [m]."""
    return PressureSettings(
        used=bool(values.use_pressure), uniform=float(values.uniform_pressure_force),
        scale=PASCALS * float(values.pressure_factor),
        target_volume=float(values.target_volume) * unit ** 3 if values.use_pressure_volume else None,
        fluid_density=PASCALS * float(values.fluid_density), group=values.pressure_group,
        unit_volume=unit ** 3)
