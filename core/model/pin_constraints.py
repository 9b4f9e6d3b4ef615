# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact pins, attachments and unborn particles as constraints of a step's velocities.

A vertex whose pin has just caught it, away from its target, keeps its offset d from the target at first. The offset
decays by d(t + h) = d(t) exp(-2 f h), with the frequency f of soft pins, so that the cloth is not thrown; this does not
depend on the steps. Below the precision of meshes it is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import SINGLE_PRECISION, FloatArray, IntArray
from ..description.cloth import Cloth
from ..description.pins import Pins
from ..linear.constraint_filter import ConstraintFilter
from ..state import State
from .emission import Emission
from .soft_pins import SOFT_PIN_FREQUENCY


class PinConstraints:
    """The exact pins and attachments of all cloths.

    Args:
        cloths: the cloths.
        slices: range of each cloth's vertices among all particles.
        count: number of all particles.
        emission: particles that are held until they are born.

    Attributes:
        always: (n,) particles that are held exactly at all times.
    """

    def __init__(self, cloths: Sequence[Cloth], slices: Sequence[slice], count: int, emission: Emission) -> None:
        self._emission = emission
        self._pins = [(cloth.pins, span) for cloth, span in zip(cloths, slices, strict=True)]
        self._held = ConstraintFilter(count)
        for pins, span in self._pins:
            self._held.fix(pins.held + span.start, np.zeros((len(pins.held), 3)))
        self.always: IntArray = self._held.rows

    def at(self, state: State, step: float) -> ConstraintFilter:
        """Return the filter of a step of `step` [s] from `state`. Its z are the velocity changes [m/s] that bring
        pinned and attached particles to their positions at the end of the step."""
        result = self._held.copy()
        unborn = self._emission.unborn(state)
        if len(unborn):
            result.fix(unborn, -state.v[unborn])
        end = state.time + step
        for pins, span in self._pins:
            x, v = state.x[span], state.v[span]
            if len(pins.held):
                wanted = (pins.positions(pins.held, end) - x[pins.held]) / step
                result.z[pins.held + span.start] = wanted - v[pins.held]
            caught = pins.caught(end)
            if len(caught):
                result.fix(caught + span.start, (_drawn(pins, caught, x, state.time, step) - x[caught]) / step
                           - v[caught])
            for attachment in pins.attachments:
                i = attachment.vertex
                wanted = (pins.attachment_target(attachment, end) - x[i]) / step - v[i]
                for direction in np.asarray(attachment.directions):
                    unit = direction / np.linalg.norm(direction)
                    result.constrain(np.array([i + span.start]), unit[None], np.array([wanted @ unit]))
        return result

    def ends(self, state: State, step: float) -> tuple[IntArray, FloatArray]:
        """Return the particles (n,) that are held exactly at the end of a step of `step` [s] from `state`, and their
        positions (n, 3) [m] there."""
        held, at = self.positions(state.time + step)
        for pins, span in self._pins:
            caught = pins.caught(state.time + step)
            if len(caught):
                held = np.concatenate([held, caught + span.start])
                at = np.concatenate([at, _drawn(pins, caught, state.x[span], state.time, step)])
        return held, at

    def positions(self, time: float) -> tuple[IntArray, FloatArray]:
        """Return the particles (n,) that are held exactly at all times, and their positions (n, 3) [m] at `time` [s].
        """
        held = [pins.held + span.start for pins, span in self._pins]
        at = [pins.positions(pins.held, time) for pins, _ in self._pins if len(pins.held)]
        return np.concatenate(held), np.concatenate(at) if at else np.zeros((0, 3))


def _drawn(pins: Pins, caught: IntArray, x: FloatArray, time: float, step: float) -> FloatArray:
    """Return where `caught` vertices (n,) at x (V, 3) [m] and `time` [s] are after a step of `step` [s] (n, 3) [m]."""
    offset = x[caught] - pins.positions(caught, time)
    size = float(np.abs(x).max(initial=0.0))
    offset[np.abs(offset).max(axis=1, initial=0.0) <= SINGLE_PRECISION * size] = 0.0
    drawn: FloatArray = pins.positions(caught, time + step) + np.exp(-2.0 * SOFT_PIN_FREQUENCY * step) * offset
    return drawn
