# SPDX-License-Identifier: GPL-3.0-or-later
"""Coefficients of friction of all surfaces at one time, which change where those of a fabric or collider are keyed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray


@dataclass(frozen=True)
class FrictionCoefficients:
    """Coulomb coefficients [-]; that of a contact is the geometric mean of both sides.

    Attributes:
        on_solids: (N,) of particles in contact with colliders.
        on_cloth: (N,) of particles in contact with cloth.
        solids: (S,) of the colliders.
    """

    on_solids: FloatArray
    on_cloth: FloatArray
    solids: FloatArray


FrictionAt = Callable[[float], FrictionCoefficients]
"""Time [s] -> the coefficients at it."""


def over_time(given: FloatArray | FrictionAt, solids: Sequence[float]) -> FrictionAt:
    """Return coefficients over time: those `given`, or for an array (N,) those of cloth on everything at all times,
    with the coefficients of the colliders."""
    if callable(given):
        return given
    always = FrictionCoefficients(given, given, np.array(solids, dtype=np.float64))
    return lambda time: always
