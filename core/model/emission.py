# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles that are born while the simulation runs: until then they are held where they start.

A particle is born at the start of the first step that does not begin before its time, and then has the velocity it was
given. To integrators that look back it came with the acceleration that it has then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray, IntArray
from ..description.cloth import Cloth
from ..state import Before, State

SOON = 1e-5
"""How long before its time a particle may be born [s]: times are rounded, to single precision where a file has them."""


class Births:
    """Those that are not there from the start.

    Args:
        vertices (n,), times (n,) [s], velocities (n, 3) [m/s] that they will have.

    Attributes:
        unborn (u,): those not there yet in the step that began last. newborn (m,): those it begins with.
    """

    def __init__(self, vertices: IntArray, times: FloatArray, velocities: FloatArray) -> None:
        self._vertices, self._times, self._velocities = vertices, times, velocities
        self.unborn, self.newborn = vertices[times > SOON], vertices[:0]
        self._begun = 0.0

    @staticmethod
    def of(cloths: Sequence[Cloth], slices: Sequence[slice]) -> Births:
        """Of the cloths' particles, which are the ranges `slices` of all."""
        later = [np.flatnonzero((c.births > 0.0) & (c.pins.weights < 1.0)) for c in cloths]
        return Births(np.concatenate([rows + s.start for rows, s in zip(later, slices, strict=True)]),
                      np.concatenate([c.births[rows] for c, rows in zip(cloths, later, strict=True)]),
                      np.concatenate([c.velocities[rows] for c, rows in zip(cloths, later, strict=True)]))

    def begin(self, state: State) -> State:
        """`state` at the start of a step, tried for the first time or again, with those moving that are born now."""
        if state.time > self._begun:
            waiting = self._times > state.time + SOON
            self.newborn = np.setdiff1d(self.unborn, self._vertices[waiting])
            self.unborn, self._begun = self._vertices[waiting], state.time
        if len(self.newborn) == 0:
            return state
        v, row = state.v.copy(), np.isin(self._vertices, self.newborn)
        v[self._vertices[row]] = self._velocities[row]
        return replace(state, v=v)

    def remembered(self, before: Before, state: State, a: FloatArray) -> Before:
        """`before` with those that waited at rest, and those born now on their way with accelerations a (V, 3)
        [m/s^2]."""
        if len(self.unborn) == 0 and len(self.newborn) == 0:
            return before
        x, v, h, new = before.x.copy(), before.v.copy(), before.step, self.newborn
        x[self.unborn], v[self.unborn] = state.x[self.unborn], 0.0
        x[new] = state.x[new] - h * state.v[new] + 0.5 * h * h * a[new]
        v[new] = state.v[new] - h * a[new]
        return Before(x, v, h)
