# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending length: the closed form of the cantilever test, ASTM D1388 and BS 3356 (Peirce 1930).

A strip is pushed over an edge until its tip hangs on a plane at 41.5 degrees below the horizontal. The bending length c
[m] is half of the length that hangs over, and the flexural rigidity per width is

    B = sigma g c^3 [N m]

with the areal density sigma [kg/m^2]. Warp and weft are measured apart; a fabric has the geometric mean of both.
"""

from __future__ import annotations

from ..arrays import LARGEST, is_number
from ..errors import MaterialError

STANDARD_GRAVITY = 9.80665
"""Acceleration of gravity of the standards [m/s^2]."""


def bending_stiffness(areal_density: float, bending_length: float) -> float:
    """Return the bending stiffness B [N m] of a fabric of an areal density [kg/m^2] and a bending length [m].

    Raises:
        MaterialError: one of them is not above 0.
    """
    _check(areal_density=areal_density, bending_length=bending_length)
    return areal_density * STANDARD_GRAVITY * bending_length ** 3


def bending_length(areal_density: float, stiffness: float) -> float:
    """Return the bending length c [m] of a fabric of an areal density [kg/m^2] and a bending stiffness [N m].

    Raises:
        MaterialError: one of them is not above 0.
    """
    _check(areal_density=areal_density, bending_stiffness=stiffness)
    return (stiffness / (areal_density * STANDARD_GRAVITY)) ** (1.0 / 3.0)


def _check(**values: float) -> None:
    for name, value in values.items():
        if not is_number(value) or not 0.0 < value <= LARGEST:
            raise MaterialError(f"{name} is {value!r}, it must be a number above 0, in SI units: an areal density in "
                                "kg/m^2, a bending length in m, a bending stiffness in N m")
