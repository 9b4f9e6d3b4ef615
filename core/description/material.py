# SPDX-License-Identifier: GPL-3.0-or-later
"""A fabric: constants in SI per area and per width, which do not depend on the mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import LARGEST, is_number, is_series
from ..did_you_mean import names_arguments, names_arguments_of, perhaps
from ..errors import MaterialError
from ..number_text import number_text
from .presets import UNITS, FabricFile, load_preset, preset_names, read_fabric, write_fabric

PAIRS = ("stretch", "bend", "compression")
"""Constants of warp and weft."""
NOT_GIVEN = ("compression", "compression_damping", "shear_damping", "bend_damping", "air_drag")
"""Constants that may be None: others act in their place."""


@names_arguments_of(MaterialError)
@dataclass(frozen=True, kw_only=True)
class Material:
    """Constants of a fabric, given one by one or by a preset: `Material.preset("cotton", friction=0.5)`.

    Attributes:
        areal_density: mass per area [kg/m^2], above 0.
        stretch: membrane stiffness along warp (u) and weft (v) [N/m].
        shear: stiffness against shear between warp and weft [N/m].
        bend: bending stiffness per width when curved along warp and along weft [N m].
        compression: membrane stiffness against compression along warp and weft [N/m]; `stretch` if not given.
        damping: deformation-rate damping as a ratio to the stiffness [s].
        compression_damping, shear_damping, bend_damping: this ratio for compression, shear and bending [s]; `damping`
            if not given.
        isotropic_damping: k_d of dashpots along the edges, against every relative motion of their ends [kg/s].
        spring_damping: k_d of dashpots along the edges, against changes of their lengths only [kg/s].
        friction: Coulomb coefficient [-].
        drag_coefficient: C_N of the pressure of the wind on the surface, rho/2 C_N |w_n| w_n, for the component w_n of
            its velocity along the normal [-].
        skin_friction: C_T of the friction of the wind along both sides, rho/2 C_T |w_t| w_t, for its component w_t
            in the plane [-].
        slow_drag_speed: s, the speed of the wind across the surface below which its pressure grows linearly,
            rho/2 C_N sqrt(w_n^2 + s^2) w_n [m/s].
        air_drag: k_d of a drag that is linear in the velocity along the normal [kg/(m^2 s)], as in 002. If it is given,
            0 included, it acts instead of `drag_coefficient`, `skin_friction` and `slow_drag_speed`.
        viscous_drag: drag against still air in every direction [kg/(m^2 s)].
        thread_width: width of the strip of fabric that a loose edge represents [m].

    Raises:
        MaterialError: a constant is out of range; the message has its name, value and range.
    """

    areal_density: float
    stretch: tuple[float, float]
    shear: float
    bend: tuple[float, float] = (0.0, 0.0)
    damping: float = 0.0
    friction: float = 0.3
    drag_coefficient: float = 0.0
    skin_friction: float = 0.0
    slow_drag_speed: float = 0.0
    air_drag: float | None = None
    viscous_drag: float = 0.0
    isotropic_damping: float = 0.0
    spring_damping: float = 0.0
    thread_width: float = 0.005
    compression: tuple[float, float] | None = None
    compression_damping: float | None = None
    shear_damping: float | None = None
    bend_damping: float | None = None
    name: str = "material"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise MaterialError(f"name is {self.name!r}, it must be text")
        for field, above_zero in (("areal_density", True), ("stretch", False), ("shear", False), ("bend", False),
                                  ("damping", False), ("friction", False), ("drag_coefficient", False),
                                  ("skin_friction", False), ("slow_drag_speed", False), ("air_drag", False),
                                  ("viscous_drag", False), ("isotropic_damping", False), ("spring_damping", False),
                                  ("thread_width", True), ("compression", False), ("compression_damping", False),
                                  ("shear_damping", False), ("bend_damping", False)):
            if field in NOT_GIVEN and getattr(self, field) is None:
                continue
            values = self._pair(field) if field in PAIRS else (getattr(self, field),)
            for value in values:
                if not is_number(value) or value < 0.0 or (above_zero and value == 0.0):
                    wanted = "above 0" if above_zero else "0 or more"
                    shown = value if is_number(value) else repr(value)              # '0.1' is not 0.1
                    raise MaterialError(f"{field} is {shown}, it must be a number {wanted}", object_name=self.name)
                if value > LARGEST:
                    raise MaterialError(f"{field} is {number_text(value)}, it must be {number_text(LARGEST)} at most",
                                        object_name=self.name)
            numbers = tuple(float(value) for value in values)
            object.__setattr__(self, field, numbers if field in PAIRS else numbers[0])

    @property
    def two_sided(self) -> bool:
        """Whether compression has a stiffness or damping of its own."""
        return self.compression is not None or self.compression_damping is not None

    def damping_of(self, what: str) -> float:
        """Return the damping [s] of "compression", "shear" or "bend"."""
        own: float | None = getattr(self, f"{what}_damping")
        return self.damping if own is None else own

    def _pair(self, field: str) -> tuple[Any, ...]:
        """Return warp and weft of a constant that may be given as one number for both."""
        given = getattr(self, field)
        several = isinstance(given, (Sequence, np.ndarray)) and is_series(given) and not isinstance(given, str)
        pair = tuple(given) if several else (given, given)
        if len(pair) != 2:
            raise MaterialError(f"{field} needs 2 values (warp, weft), got {len(pair)}", object_name=self.name)
        return pair

    @staticmethod
    def presets() -> tuple[str, ...]:
        """Return the names of the fabrics that come with Muslin, sorted."""
        return preset_names()

    @classmethod
    @names_arguments(MaterialError)
    def preset(cls, name: str, **changes: Any) -> Material:
        """Return the fabric of presets/fabrics/`name`.toml, with any constants changed by keyword.

        Raises:
            PresetError: if there is no such preset or its file is damaged.
        """
        fabric = load_preset(name, cls)
        constants = [field.name for field in fields(cls)]
        unknown = [key for key in changes if key not in constants]
        if unknown:
            raise MaterialError(f"a fabric has no constant '{unknown[0]}'; there are: {', '.join(constants)}"
                                + perhaps(unknown[0], constants), object_name=name)
        return replace(fabric, **changes)

    @classmethod
    def load(cls, path: str | Path) -> Material:
        """Return the fabric of a file of the form of presets/fabrics/*.toml, as `save` writes it.

        Raises:
            PresetError: if the file is damaged or cannot be read.
        """
        return read_fabric(Path(path), cls)[0]

    def save(self, path: str | Path, *, title: str = "", description: str = "", source: str = "") -> None:
        """Write the fabric to a file of the form of presets/fabrics/*.toml, which `load` reads.

        Args:
            path: of the file; its folder exists.
            title: name for users; the material's own if it is empty.
            description: what such a fabric is used for.
            source: where the values come from.

        Raises:
            PresetError: if the file cannot be written.
        """
        given = {constant: getattr(self, constant) for constant in UNITS}
        write_fabric(Path(path), FabricFile(title or self.name, description),
                     {constant: value for constant, value in given.items() if value is not None}, source)
