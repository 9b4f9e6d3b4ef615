# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene: cloths, colliders, gravity and wind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays import LARGEST, FloatArray, is_number, is_series, takes
from ..did_you_mean import names_arguments_of, perhaps
from ..errors import SceneError
from ..number_text import number_text
from .arguments import keeps_arguments
from .cloth import Cloth
from .collider import Collider
from .force_fields import ForceField
from .vertex_values import shown
from .wind import Wind, vector

AIR_DENSITY = 1.204
"""Density of dry air of 20 degrees at 101325 Pa [kg/m^3]."""


@names_arguments_of(SceneError)
@keeps_arguments
class Scene:
    """Cloths and colliders, with the gravity and wind that act on all cloths.

    Args:
        cloths: at least one. What collides with what: `ClothContact`.
        colliders: solids and surfaces.
        gravity: (3,) [m/s^2], or a function of time t [s] -> (3,).
        wind: velocity of the air (3,) [m/s]; a function of time t [s] -> (3,); or a field, a function of time and
            positions (t [s], (V, 3) [m]) -> (V, 3).
        fields: force fields; the air of those of kind "wind" moves besides `wind`.
        air_density: of the air [kg/m^3], for the quadratic drag of fabrics; 0 for a vacuum.

    Attributes:
        cloths, colliders: as given.
        gravity: (3,) at time 0 [m/s^2].
        gravity_changes: whether it is a function of time.
        air_density: as given [kg/m^3].
    """

    def __init__(self, cloths: Sequence[Cloth], colliders: Sequence[Collider] = (), gravity: Any = (0.0, 0.0, -9.81),
                 wind: Any = (0.0, 0.0, 0.0), *, fields: Sequence[ForceField] = (),
                 air_density: float = AIR_DENSITY) -> None:
        for what, given, kind in (("cloths", cloths, Cloth), ("colliders", colliders, Collider),
                                  ("fields", fields, ForceField)):
            if not is_series(given) or not all(isinstance(item, kind) for item in given):
                raise SceneError(f"{what} is {given!r}, it must be a list of {kind.__name__}")
        self.cloths, self.colliders, self.fields = tuple(cloths), tuple(colliders), tuple(fields)
        if not self.cloths:
            raise SceneError("there is no cloth to simulate; add at least one")
        for number, cloth in enumerate(self.cloths):
            if any(cloth is other for other in self.cloths[:number]):
                raise SceneError(f"cloths has '{cloth.name}' twice, again at {number}: two cloths in one place; make "
                                 "another Cloth, at other positions")
        self._check_contact()
        if callable(gravity) and not takes(gravity, 1):
            raise SceneError(f"gravity is {shown(gravity)}, it must take the time alone, as lambda t: (0, 0, -9.81) "
                             "does")
        self._gravity, self.gravity_changes = gravity, callable(gravity)
        self.gravity = vector(gravity(0.0), "gravity at 0 s") if callable(gravity) else vector(gravity, "gravity")
        self._wind = Wind(wind)
        if not is_number(air_density) or not 0.0 <= air_density <= LARGEST:
            raise SceneError(f"air_density is {shown(air_density)}, it must be a number from 0 to "
                             f"{number_text(LARGEST)} [kg/m^3]; air at sea level has {AIR_DENSITY}")
        self.air_density = float(air_density)

    def gravity_at(self, time: float) -> FloatArray:
        """Return the gravity (3,) [m/s^2] at `time` [s].

        Raises:
            SceneError: its function returns no three finite numbers.
        """
        return vector(self._gravity(time), f"gravity at {time:.4f} s") if self.gravity_changes else self.gravity

    def _check_contact(self) -> None:
        """Raise SceneError if a cloth's contact names an object that is not in the scene."""
        names = [*(cloth.name for cloth in self.cloths), *(solid.name for solid in self.colliders)]
        for cloth in self.cloths:
            for name in cloth.contact.colliders or ():
                if name not in names:
                    raise SceneError(f"colliders of its contact names '{name}', and the scene has no collider or cloth "
                                     f"of that name{perhaps(name, names)}; take one of: {', '.join(names)}",
                                     object_name=cloth.name)

    def wind_at(self, time: float, x: FloatArray | None = None) -> FloatArray:
        """Return the velocity of the air [m/s] at `time` [s]: (3,), or of a field (V, 3) at positions x (V, 3) [m]."""
        return self._wind.at(time, x)
