# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending stiffness from a drape coefficient, by a dimensionless curve.

Of a fabric that hardly stretches, the coefficient depends on the shape of the meter and on the bending length over the
width that hangs over,

    s = c / (R - r),   c = (B / (sigma g))^(1/3)

The curve was simulated with this drape meter. Between its points it is linear. A measured coefficient also holds the
friction of the yarns, which keeps a fabric stiffer than its B: the stiffness found here makes the fabric drape as
measured, and may be above the one of a bending test.
"""

from __future__ import annotations

import numpy as np

from ..arrays import is_number
from ..errors import MaterialError
from ..number_text import number_text
from .bending_length import bending_length, bending_stiffness
from .drape_meter import PLATE_DIAMETER, DrapeMeter

CURVES: dict[float, tuple[tuple[float, ...], tuple[float, ...]]] = {
    0.24: ((0.25, 0.30, 0.36, 0.43, 0.52, 0.65, 0.85),
           (0.477, 0.579, 0.721, 0.868, 0.926, 0.959, 0.985)),
    0.30: ((0.16, 0.20, 0.25, 0.30, 0.36, 0.43, 0.52, 0.65, 0.85),
           (0.277, 0.342, 0.477, 0.655, 0.800, 0.885, 0.939, 0.948, 0.985)),
    0.36: ((0.25, 0.30, 0.36, 0.43, 0.52, 0.65, 0.85),
           (0.420, 0.567, 0.723, 0.824, 0.900, 0.954, 0.987)),
}
"""Values of s [-] and drape coefficients [-], by diameter of the specimen [m], with plates of 0.18 m. From fabrics of
0.15 kg/m^2 with stretch 5000 N/m and shear 272 N/m, 12 rings, mean of two seeds; below s = 0.25 with 20 rings."""
SAME_LENGTH = 1e-6
"""Difference up to which two diameters are the same [m]."""


def coefficient(areal_density: float, stiffness: float, meter: DrapeMeter | None = None) -> float:
    """Return the drape coefficient [-] that the curve gives for an areal density [kg/m^2] and a stiffness [N m].

    Raises:
        MaterialError: the meter is none of the standards, or the fabric is outside of the curve.
    """
    meter = meter or DrapeMeter()
    s = bending_length(areal_density, stiffness) / _width(meter)
    lengths, curve = _curve(meter)
    low, high = lengths[0], lengths[-1]
    if not low <= s <= high:
        raise MaterialError(f"a bending stiffness of {number_text(stiffness)} N m at {number_text(areal_density)} "
                            f"kg/m^2 is a bending length of {s:.2f} times the width that hangs over; the curve has "
                            f"{number_text(low)} to {number_text(high)}; simulate the fabric in the drape meter "
                            "instead")
    return float(np.interp(s, lengths, curve))


def stiffness_of_coefficient(areal_density: float, measured: float, meter: DrapeMeter | None = None) -> float:
    """Return the bending stiffness B [N m] with which a fabric has a `measured` drape coefficient [-].

    areal_density: [kg/m^2].

    Raises:
        MaterialError: the meter is none of the standards, or the coefficient is outside of the curve.
    """
    meter = meter or DrapeMeter()
    lengths, curve = _curve(meter)
    if not is_number(measured) or not curve[0] <= measured <= curve[-1]:
        shown = f"{number_text(100.0 * measured)} %" if is_number(measured) else repr(measured)
        raise MaterialError(f"a drape coefficient of {shown} is outside of the curve, which has {100.0 * curve[0]:.0f} "
                            f"to {100.0 * curve[-1]:.0f} % with a specimen of {number_text(100.0 * meter.diameter)} "
                            "cm; use 24 cm for limp fabrics and 36 cm for stiff ones")
    s = float(np.interp(measured, curve, lengths))
    return bending_stiffness(areal_density, s * _width(meter))


def _width(meter: DrapeMeter) -> float:
    """Return the width that hangs over [m]."""
    return 0.5 * (meter.diameter - meter.plate)


def _curve(meter: DrapeMeter) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the values of s and the coefficients of the curve of a meter.

    Raises:
        MaterialError: the curve was not simulated for its size.
    """
    for diameter, curve in CURVES.items():
        if abs(meter.diameter - diameter) < SAME_LENGTH and abs(meter.plate - PLATE_DIAMETER) < SAME_LENGTH:
            return curve
    raise MaterialError(f"there is no curve for a specimen of {number_text(100.0 * meter.diameter)} cm on plates of "
                        f"{number_text(100.0 * meter.plate)} cm; take one of 24, 30 and 36 cm on plates of 18 cm")
