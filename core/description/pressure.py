# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure of the gas or the fluid that a cloth encloses.

    p(V) = scale (uniform + gas (V_0 / V - 1))                    [Pa]
    p(x) = p(V) + rho (g - a) . (x - mean)                        with a fluid of density rho [kg/m^3]

V is the volume of a piece of cloth, V_0 the volume at which the gas is as dense inside as outside, a the acceleration
of the piece. `gas` is the absolute pressure of the gas at V_0, 101325 Pa for air that cannot escape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import LARGEST, FloatArray, float_array
from ..errors import ClothError
from ..number_text import number_text
from .keyed import Setting, check_setting, checked_number_at

NAME = "Pressure"


@dataclass(frozen=True, eq=False)
class Pressure:
    """Pressure inside of a cloth.

    The numbers may be functions of the time t [s].

    Attributes:
        uniform: pressure that does not depend on the volume [Pa]; below 0 it sucks.
        gas: absolute pressure of the enclosed gas at the target volume [Pa]; 0 for none.
        scale: factor on both [-].
        target_volume: V_0 of all pieces of the cloth together [m^3]; the volume at the start if not given, and without
            any volume at the start the gas has no effect.
        fluid_density: density of the fluid inside the cloth [kg/m^3]; below 0 that of the fluid around it.
        weights: (V,) part of the pressure that acts on each vertex, 0..1; 1 if not given. It acts on a face by the mean
            of its corners, and not at all where a corner has 0.

    Raises:
        ClothError: a number is out of its range.
    """

    uniform: Setting = 0.0
    gas: Setting = 0.0
    scale: Setting = 1.0
    target_volume: Setting | None = None
    fluid_density: Setting = 0.0
    weights: Any = None

    def __post_init__(self) -> None:
        for what, (least, unit) in RANGES.items():
            value = getattr(self, what)
            if value is not None:
                check_setting(value, f"{what} [{unit}]", NAME, least=least, most=LARGEST)

    def number(self, what: str, time: float, name: str) -> float:
        """Return a setting at `time` [s] for the cloth `name`; a target volume that is not given is nan.

        Raises:
            ClothError: its keyframes leave the range.
        """
        value = getattr(self, what)
        least, unit = RANGES[what]
        return float("nan") if value is None else checked_number_at(
            value, time, f"{what} [{unit}] of the pressure", name, least=least, most=LARGEST)

    @property
    def changes(self) -> bool:
        """Return whether any setting depends on time."""
        return any(callable(getattr(self, what)) for what in RANGES)

    @property
    def has_fluid(self) -> bool:
        """Return whether there is a fluid inside or outside, at any time."""
        return callable(self.fluid_density) or self.fluid_density != 0.0

    def checked_weights(self, count: int, name: str) -> FloatArray:
        """Return the weights (V,) of the `count` vertices of the cloth `name`.

        Raises:
            ClothError: another shape, or a value outside 0..1.
        """
        try:
            weights = np.ones(count) if self.weights is None else float_array(self.weights)
        except ValueError as error:
            raise ClothError(f"weights of the pressure: {error}", object_name=name) from None
        if weights.shape != (count,):
            raise ClothError(f"weights of the pressure has shape {weights.shape}, it must be ({count},), one for each "
                             "vertex", object_name=name)
        bad = ~((weights >= 0.0) & (weights <= 1.0))
        if bad.any():
            vertex = int(np.argmax(bad))
            raise ClothError(f"weights of the pressure has {number_text(weights[vertex])} at vertex {vertex}, it must "
                             "be in 0..1",
                             object_name=name)
        return weights


RANGES = {"uniform": (-LARGEST, "Pa"), "gas": (0.0, "Pa"), "scale": (0.0, "-"), "target_volume": (0.0, "m^3"),
          "fluid_density": (-LARGEST, "kg/m^3")}
"""Smallest value and unit of each setting."""
