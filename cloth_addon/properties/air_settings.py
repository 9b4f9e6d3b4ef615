# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of the air's drag on a cloth as a plain record, and their values for a fabric."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ... import core
from ...core.description.scene import AIR_DENSITY as AIR_DENSITY
from .enum_items import chosen

OF_QUADRATIC_AIR = ("drag_coefficient", "skin_friction", "slow_drag_speed")
"""Settings that count only with the quadratic law."""
OF_LINEAR_AIR = ("air_drag",)
"""Settings that count only with the linear law."""


@dataclass(frozen=True, kw_only=True)
class AirSettings:
    """Drag of the air; `air_drag` [kg/(m^2 s)] is None with the quadratic law, whose coefficients have no unit;
    `slow_drag_speed` is in m/s."""

    drag_coefficient: float
    skin_friction: float
    slow_drag_speed: float
    air_drag: float | None

    def material_options(self) -> dict[str, Any]:
        """Return keyword arguments of `core.Material`."""
        return asdict(self)


def air_settings_of(values: Any) -> AirSettings:
    """Return the settings in an object's `muslin`."""
    return AirSettings(drag_coefficient=float(values.drag_coefficient), skin_friction=float(values.skin_friction),
                       slow_drag_speed=float(values.slow_drag_speed),
                       air_drag=float(values.air_drag) if chosen(values, "air_law") == "LINEAR" else None)


def air_values(fabric: core.Material) -> dict[str, Any]:
    """Return the values of the settings for a fabric. Linear drag that it does not give equals that of 1 m/s."""
    linear = fabric.air_drag
    return {"air_law": "QUADRATIC" if linear is None else "LINEAR",
            "air_drag": 0.5 * AIR_DENSITY * fabric.drag_coefficient if linear is None else linear,
            "drag_coefficient": fabric.drag_coefficient, "skin_friction": fabric.skin_friction,
            "slow_drag_speed": fabric.slow_drag_speed}


def air_constants(values: dict[str, Any]) -> dict[str, Any]:
    """Return the constants of `core.Material` for values of the settings."""
    used = OF_LINEAR_AIR if values["air_law"] == "LINEAR" else OF_QUADRATIC_AIR
    return {name: values[name] for name in used}


def unused_air(values: dict[str, Any]) -> tuple[str, ...]:
    """Return the settings that do not count with these values."""
    return OF_QUADRATIC_AIR if values["air_law"] == "LINEAR" else OF_LINEAR_AIR
