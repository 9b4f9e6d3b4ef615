# SPDX-License-Identifier: GPL-3.0-or-later
"""Emission: particles that are born during the simulation, and are held at their start positions until then.

A particle is born at the start of the first step that does not begin before its time of birth, with its initial
velocity. `State.emitted` is the start of the present step and `State.emitted_before` that of the step before: particles
with a later time of birth are unborn, those with a time between the two are newborn. Multistep integrators take a
newborn particle to have moved with its present acceleration before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.cloth import Cloth
from ..state import Before, State

BIRTH_TOLERANCE = 1e-5
"""Largest time by which a particle may be born too early [s]: times in files are rounded to single precision."""


class Emission:
    """Particles that are born after the start.

    Args:
        vertices: (n,), ascending.
        times: (n,) times of birth [s].
        velocities: (n, 3) at birth [m/s].
    """

    def __init__(self, vertices: IntArray, times: FloatArray, velocities: FloatArray) -> None:
        self._vertices, self._times, self._velocities = vertices, times, velocities

    @staticmethod
    def of(cloths: Sequence[Cloth], slices: Sequence[slice]) -> Emission:
        """Return the emission of the cloths, whose particles are the ranges `slices` of all."""
        later = [np.flatnonzero((c.births > 0.0) & (c.pins.weights < 1.0)) for c in cloths]
        return Emission(np.concatenate([rows + s.start for rows, s in zip(later, slices, strict=True)]),
                        np.concatenate([c.births[rows] for c, rows in zip(cloths, later, strict=True)]),
                        np.concatenate([c.velocities[rows] for c, rows in zip(cloths, later, strict=True)]))

    def unborn(self, state: State) -> IntArray:
        """Return the particles (u,) that are not born before the end of the step from `state`."""
        return self._vertices[self._waits(state.emitted)]

    def newborn(self, state: State) -> IntArray:
        """Return the particles (m,) that are born at the start of the step from `state`."""
        return self._vertices[self._is_newborn(state)]

    def begin(self, state: State) -> State:
        """Return `state` at the start of a step, with the velocities of the newborn particles. A step that is taken
        again from the same time begins alike."""
        if state.time > state.emitted:
            state = replace(state, emitted=state.time, emitted_before=state.emitted)
        new = self._is_newborn(state)
        if not new.any():
            return state
        v = state.v.copy()
        v[self._vertices[new]] = self._velocities[new]
        return replace(state, v=v)

    def remembered(self, before: Before, state: State, a: FloatArray) -> Before:
        """Return the start of the last step with emitted particles set as if they had existed then.

        Unborn particles rest at their places. Particles born since then are moved back along their paths, with
        velocities `state.v` and accelerations a (V, 3) [m/s^2].
        """
        unborn, new = self.unborn(state), self.newborn(state)
        if len(unborn) == 0 and len(new) == 0:
            return before
        x, v, h = before.x.copy(), before.v.copy(), before.step
        x[unborn], v[unborn] = state.x[unborn], 0.0
        x[new] = state.x[new] - h * state.v[new] + 0.5 * h * h * a[new]
        v[new] = state.v[new] - h * a[new]
        return Before(x, v, h)

    def _waits(self, time: float) -> BoolArray:
        """Return which of the particles (n,) are not born at `time` [s]."""
        waits: BoolArray = self._times > time + BIRTH_TOLERANCE
        return waits

    def _is_newborn(self, state: State) -> BoolArray:
        return self._waits(state.emitted_before) & ~self._waits(state.emitted)
