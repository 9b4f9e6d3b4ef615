# SPDX-License-Identifier: GPL-3.0-or-later
"""The pressure of an enclosed gas as a function of its volume.

    p(V) = u + g (V_0 / V - 1),     E(V) = - int p dV = - (u - g) V - g V_0 ln (V / V_0)

-dp/dV = g V_0 / V^2 is never negative, so that E is convex. Below the volume of a piece whose sides are in contact, p
goes on along its tangent: a flat piece then has a finite pressure, which falls as it opens.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray


@dataclass(frozen=True)
class GasState:
    """The gas of pieces.

    Attributes:
        pressure: (P,) p [Pa].
        stiffness: (P,) -dp/dV [Pa/m^3].
        energy: (P,) E [J].
    """

    pressure: FloatArray
    stiffness: FloatArray
    energy: FloatArray


def gas_state(volume: FloatArray, uniform: FloatArray, gas: FloatArray, target: FloatArray,
              least: FloatArray) -> GasState:
    """Return the gas of pieces of these volumes (P,) [m^3].

    Args:
        volume: V.
        uniform, gas: u and g (P,) [Pa].
        target: V_0 (P,) [m^3]; where it is 0, the gas has no effect.
        least: (P,) volume below which p is linear [m^3], above 0.
    """
    known = target > 0.0
    target, gas = np.where(known, target, 1.0), np.where(known, gas, 0.0)
    bounded = np.maximum(volume, np.where(known, least, -np.inf))
    ratio = np.where(known, bounded / target, 1.0)
    beyond = volume - bounded                                                          # 0 or below
    pressure, stiffness = uniform + gas * (1.0 / ratio - 1.0), gas / (target * ratio ** 2)
    energy = -(uniform - gas) * bounded - gas * target * np.log(ratio) - (pressure - 0.5 * stiffness * beyond) * beyond
    return GasState(pressure - stiffness * beyond, stiffness, energy)
