# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles that are born while the simulation runs: until then they are held where they start.

A particle is born at the start of the first step that does not begin before its time, and then has the velocity it was
given. It counts as having flown freely before, for integrators that look back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .arrays import FloatArray, IntArray
from .cloth import Cloth
from .state import Before, State

SOON = 1e-9
"""How long before its time a particle may be born [s]: times of steps are rounded."""


@dataclass(frozen=True)
class Births:
    """Those that are not there from the start: vertices (n,), their times (n,) [s] and velocities (n, 3) [m/s]."""

    vertices: IntArray
    times: FloatArray
    velocities: FloatArray

    @staticmethod
    def of(cloths: Sequence[Cloth], slices: Sequence[slice]) -> Births | None:
        """Of the cloths' particles, which are the ranges `slices` of all; None where all are there from the start."""
        later = [np.flatnonzero((c.births > 0.0) & (c.pin_weights < 1.0)) for c in cloths]
        if not any(len(rows) for rows in later):
            return None
        return Births(np.concatenate([rows + s.start for rows, s in zip(later, slices, strict=True)]),
                      np.concatenate([c.births[rows] for c, rows in zip(cloths, later, strict=True)]),
                      np.concatenate([c.velocities[rows] for c, rows in zip(cloths, later, strict=True)]))

    def unborn(self, time: float) -> IntArray:
        """Those not there yet in a step from `time` [s]."""
        return self.vertices[self.times > time + SOON]

    def delivered(self, state: State, unborn: IntArray, gravity: FloatArray) -> State:
        """`state` with those of the `unborn` moving whose time has come, with gravity (3,) [m/s^2]."""
        row = np.flatnonzero((self.times <= state.time + SOON) & np.isin(self.vertices, unborn))
        if len(row) == 0:
            return state
        at, v = self.vertices[row], state.v.copy()
        v[at] = self.velocities[row]
        before = state.before
        if before is not None:
            x0, v0, h = before.x.copy(), before.v.copy(), before.step
            x0[at] = state.x[at] - h * v[at] + 0.5 * h * h * gravity
            v0[at] = v[at] - h * gravity
            before = Before(x0, v0, h)
        return replace(state, v=v, before=before)
