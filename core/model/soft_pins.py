# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins of a weight below 1, as springs of rest length zero to the positions that they follow."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..description.pins import Pins
from ..stencils.springs.soft_pin import SoftPin, point_stencil
from ..stencils.stencil import ElementForce

SOFT_PIN_FREQUENCY = 5.0
"""Frequency of a free particle on a pin of weight 1/2 [Hz]."""


class SoftPinForce:
    """The springs of one cloth's soft pins.

    Stiffness k = w / (1 - w) m (2 pi f)^2 [N/m] for a pin of weight w on a mass m, so that weights act alike on any
    mesh.

    Args:
        pins: of the cloth.
        masses: (V,) of its vertices [kg].
        first: number of its first vertex among those of all cloths.
    """

    def __init__(self, pins: Pins, masses: FloatArray, first: int = 0) -> None:
        self._pins, vertices = pins, pins.pulled
        weights = pins.weights[vertices]
        self._stiffness = weights / (1.0 - weights) * masses[vertices] * (2.0 * np.pi * SOFT_PIN_FREQUENCY) ** 2
        self._stencil = point_stencil(vertices + first)

    def at(self, time: float) -> ElementForce:
        """Return the springs at `time` [s].

        Raises:
            PinError: a trajectory gives something else than positions.
        """
        targets = self._pins.positions(self._pins.pulled, time)
        return ElementForce(self._stencil, SoftPin(), (self._stiffness, *targets.T.copy()))
