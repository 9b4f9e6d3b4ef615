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

    Stiffness k = P w / (1 - w) m (2 pi f)^2 [N/m] for a pin of weight w and stiffness P [-] on a mass m, so that
    weights act alike on any mesh. Pins of weight 1 hold exactly and pull no more; their k here is 0.

    Args:
        pins: of the cloth.
        masses: (V,) of its vertices [kg].
        first: number of its first vertex among those of all cloths.
    """

    def __init__(self, pins: Pins, masses: FloatArray, first: int = 0) -> None:
        self._pins, self._masses = pins, masses
        self._stencil = point_stencil(pins.pulled + first)

    def key(self, time: float) -> tuple[float, bytes]:
        """Return a key that is equal at times [s] of the same stiffness."""
        pins = self._pins
        return (pins.stiffness_at(time), pins.weights_at(time).tobytes()) if pins.changes else (0.0, b"")

    @property
    def changes(self) -> bool:
        """Whether the stiffness changes with time."""
        return self._pins.changes

    def at(self, time: float) -> ElementForce:
        """Return the springs at `time` [s].

        Raises:
            PinError: a trajectory gives something else than positions.
        """
        pins, vertices = self._pins, self._pins.pulled
        weights, stiffness = pins.weights_at(time)[vertices], pins.stiffness_at(time)
        share = np.divide(weights, 1.0 - weights, out=np.zeros_like(weights), where=weights < 1.0)
        k = share * self._masses[vertices] * (2.0 * np.pi * SOFT_PIN_FREQUENCY) ** 2
        targets = pins.positions(vertices, time)
        return ElementForce(self._stencil, SoftPin(), (k if stiffness == 1.0 else stiffness * k, *targets.T.copy()))
