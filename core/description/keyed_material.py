# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric some of whose constants change over time, as keyed settings do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..arrays import LARGEST
from ..did_you_mean import names_arguments_of, perhaps
from ..errors import MaterialError
from .keyed import Setting, check_setting, checked_number_at, number_at
from .material import Material
from .vertex_values import shown

PLACES: Mapping[str, tuple[str, int | None]] = {
    "stretch_warp": ("stretch", 0), "stretch_weft": ("stretch", 1), "shear": ("shear", None),
    "bend_warp": ("bend", 0), "bend_weft": ("bend", 1), "damping": ("damping", None), "friction": ("friction", None),
    "drag_coefficient": ("drag_coefficient", None), "skin_friction": ("skin_friction", None),
    "slow_drag_speed": ("slow_drag_speed", None),
    "air_drag": ("air_drag", None), "viscous_drag": ("viscous_drag", None),
    "isotropic_damping": ("isotropic_damping", None), "spring_damping": ("spring_damping", None),
    "compression_warp": ("compression", 0), "compression_weft": ("compression", 1),
    "compression_damping": ("compression_damping", None), "shear_damping": ("shear_damping", None),
    "bend_damping": ("bend_damping", None)}
"""Constants that may change: field of `Material`, and place in it where it has one of warp and one of weft."""
STIFFNESS_NAMES = ("stretch_warp", "stretch_weft", "shear", "bend_warp", "bend_weft", "compression_warp",
                   "compression_weft")
"""Those that are stiffness."""
DAMPING_NAMES = ("damping", "compression_damping", "shear_damping", "bend_damping", "isotropic_damping",
                 "spring_damping")
"""Those that damp deformation."""


@names_arguments_of(MaterialError)
@dataclass(frozen=True, eq=False)
class KeyedMaterial:
    """A fabric with constants that are functions of the time.

        KeyedMaterial(Material.preset("silk"), {"bend_warp": lambda t: 1e-6 * (1 + t), "friction": 0.5})

    The mass of a cloth never changes, and so `areal_density` and `thread_width` do not either.

    Attributes:
        material: the fabric whose other constants are used.
        changes: {name: number or function of the time t [s] -> number}, with names of `PLACES` and units of `Material`.

    Raises:
        MaterialError: there is no such constant, or its value at time 0 is out of range.
    """

    material: Material
    changes: Mapping[str, Setting] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.material, Material):
            raise MaterialError(f"material is {shown(self.material)}, it must be a Material")
        if not isinstance(self.changes, Mapping):
            raise MaterialError(f"changes is {shown(self.changes)}, it must be a table of constants and their values, "
                                'as {"friction": lambda t: 0.1 * t}', object_name=self.material.name)
        object.__setattr__(self, "changes", dict(self.changes))
        for name, value in self.changes.items():
            if name not in PLACES:
                raise MaterialError(f"a fabric has no constant '{name}' that can change over time; there are: "
                                    f"{', '.join(PLACES)}{perhaps(str(name), PLACES)}", object_name=self.material.name)
            check_setting(value, name, self.material.name, least=0.0, most=LARGEST, error=MaterialError)

    @staticmethod
    def constants() -> tuple[str, ...]:
        """Return the names of the constants that may change."""
        return tuple(PLACES)

    @property
    def name(self) -> str:
        """Name of the fabric."""
        return self.material.name

    def at(self, time: float) -> Material:
        """Return the fabric at `time` [s].

        Raises:
            MaterialError: a function gives a number that is out of range.
        """
        return self.with_values({name: checked_number_at(value, time, name, self.name, least=0.0, most=LARGEST,
                                                         error=MaterialError)
                                 for name, value in self.changes.items()})

    def values(self, time: float) -> dict[str, float]:
        """Return the changing constants at `time` [s], by name."""
        return {name: number_at(value, time) for name, value in self.changes.items()}

    def with_values(self, values: Mapping[str, float]) -> Material:
        """Return the fabric with these values of its constants."""
        given: dict[str, Any] = {}
        for name, value in values.items():
            constant, place = PLACES[name]
            if place is None:
                given[constant] = value
            else:
                pair = list(given.get(constant) or getattr(self.material, constant) or self.material.stretch)
                pair[place] = value
                given[constant] = tuple(pair)
        return replace(self.material, **given)
