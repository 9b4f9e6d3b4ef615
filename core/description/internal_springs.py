# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs through the inside of a shell, from each vertex to the opposite side, as of a cushion's filling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import LARGEST, FloatArray, float_array, is_flag, is_number
from ..did_you_mean import names_arguments_of
from ..errors import ClothError
from ..number_text import number_text
from .keyed import Setting, check_setting, checked_number_at


@names_arguments_of(ClothError)
@dataclass(frozen=True, eq=False)
class InternalSprings:
    """Springs from each vertex along its normal inwards to the point where the ray leaves the mesh.

    Together they resist as a filling with Young's modulus E between the two sides does, whatever the mesh.

    Attributes:
        tension: modulus against being pulled apart [Pa], a number or a function of the time [s].
        compression: modulus against being pushed together [Pa], likewise; `tension` if not given.
        max_length: longest spring [m]; no limit if not given.
        max_diversion: largest angle between a spring and the normal of its vertex [rad]. Rays at angles up to this are
            tried where the one along the normal finds no valid point.
        check_normals: whether the surface must face away from the vertex where the spring ends.
        scale: factor of the stiffness (V,), or one number, 0 or more [-].
        damping: tau of the springs [s].

    Raises:
        ClothError: a value is out of range.
    """

    tension: Setting
    compression: Setting | None = None
    max_length: float | None = None
    max_diversion: float = 0.25 * math.pi
    check_normals: bool = True
    scale: Any = 1.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for name, modulus in (("tension", self.tension), ("compression", self.compression)):
            if modulus is not None:
                check_setting(modulus, f"{name} of the internal springs", "internal springs", least=0.0, most=LARGEST)
        for name, most, unit in (("max_length", LARGEST, "m"), ("max_diversion", 0.5 * math.pi, "rad"),
                                 ("damping", LARGEST, "s")):
            value = getattr(self, name)
            if value is None and name == "max_length":
                continue
            if not (is_number(value) and 0.0 <= value <= most):
                raise ClothError(f"{name} of the internal springs is {value!r}, it must be a number from 0 to "
                                 f"{number_text(most)} [{unit}]")
            object.__setattr__(self, name, float(value))
        if not is_flag(self.check_normals):
            raise ClothError(f"check_normals of the internal springs is {self.check_normals!r}, it must be True or "
                             "False")

    @property
    def changes(self) -> bool:
        """Whether a modulus is a function of the time."""
        return callable(self.tension) or callable(self.compression)

    def moduli(self, time: float, name: str) -> tuple[float, float | None]:
        """Return tension and compression [Pa] at `time` [s]; the latter None if not given. `name`: of the cloth.

        Raises:
            ClothError: a function leaves its range.
        """
        push = self.compression
        return (checked_number_at(self.tension, time, "tension of the internal springs", name, least=0.0, most=LARGEST),
                None if push is None else checked_number_at(push, time, "compression of the internal springs", name,
                                                            least=0.0, most=LARGEST))

    def scales(self, count: int, name: str) -> FloatArray:
        """Return the factors (V,) of the `count` vertices of the cloth `name`.

        Raises:
            ClothError: another shape, or a factor below 0.
        """
        try:
            values = float_array(self.scale)
        except ValueError as error:
            raise ClothError(f"scale of the internal springs: {error}", object_name=name) from None
        values = np.full(count, float(values)) if values.ndim == 0 else values
        if values.shape != (count,):
            raise ClothError(f"scale of the internal springs has shape {values.shape}, expected one number or "
                             f"({count},), one per vertex", object_name=name)
        good = (values >= 0.0) & (values <= LARGEST)                                                # nan fails too
        if not good.all():
            vertex = int(np.argmin(good))
            raise ClothError(f"scale of the internal springs is {number_text(values[vertex])} at vertex {vertex}, it "
                             f"must be from 0 to {number_text(LARGEST)}", object_name=name)
        return values
