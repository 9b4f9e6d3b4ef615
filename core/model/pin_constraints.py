# SPDX-License-Identifier: GPL-3.0-or-later
"""Exact pins, attachments and unborn particles as constraints of a step's velocities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray, IntArray
from ..description.cloth import Cloth
from ..linear.constraint_filter import ConstraintFilter
from ..state import State
from .emission import Emission


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
            for attachment in pins.attachments:
                i = attachment.vertex
                wanted = (pins.attachment_target(attachment, end) - x[i]) / step - v[i]
                for direction in np.asarray(attachment.directions):
                    unit = direction / np.linalg.norm(direction)
                    result.constrain(np.array([i + span.start]), unit[None], np.array([wanted @ unit]))
        return result

    def positions(self, time: float) -> tuple[IntArray, FloatArray]:
        """Return the particles (n,) that are held exactly, and their positions (n, 3) [m] at `time` [s]."""
        held = [pins.held + span.start for pins, span in self._pins]
        at = [pins.positions(pins.held, time) for pins, _ in self._pins if len(pins.held)]
        return np.concatenate(held), np.concatenate(at) if at else np.zeros((0, 3))
