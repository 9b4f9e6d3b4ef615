# SPDX-License-Identifier: GPL-3.0-or-later
"""The momentum of bodies in flight at the end of a step.

What acts between particles of a body has no sum. Its rounding has: where inner forces are 1e15 times the weight, their
sum in the equations is as large as the weight. Nothing in the equations can say what it should be; the momentum can.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .step_contacts import StepContacts


class Flight:
    """Bodies that neither pins nor solids hold in a step; bodies near each other are one.

    Args:
        contacts: of the step.
    """

    def __init__(self, contacts: StepContacts) -> None:
        system, pairs = contacts.system, contacts.pairs
        self._mass = system.mass
        self._groups = None if contacts.on_solids else system.sewn if pairs is None else pairs.free_groups()
        if self._groups is None:
            return
        self._count = int(self._groups.max()) + 1
        self._total = np.maximum(np.bincount(self._groups, self._mass, self._count), np.finfo(float).tiny)
        self._free = self._without(contacts.pins.rows)
        self._falls = self._free & self._without(np.flatnonzero(system.outer_forces))

    def without_momentum(self, change: FloatArray) -> FloatArray:
        """Return a change of motions or velocities (V, 3) without its momentum.

        Cutting motions and shortening edges are internal: only relative motions change.
        """
        return change if self._groups is None else change - self._mean(change, self._free)

    def missed(self, v: FloatArray, expected: FloatArray) -> FloatArray:
        """Return the velocities (V, 3) [m/s] that bodies on which nothing but weight acts lack of the momentum that
        they have at `expected` velocities (V, 3) [m/s], at velocities v (V, 3) [m/s]."""
        if self._groups is None or not self._falls.any():
            return np.zeros_like(v)
        return self._mean(expected - v, self._falls)

    def _without(self, rows: IntArray) -> BoolArray:
        """Return whether bodies have none of the particles in `rows`."""
        some = np.ones(self._count, dtype=np.bool_)
        some[self._groups[rows]] = False                                                          # type: ignore[index]
        return some

    def _mean(self, values: FloatArray, some: BoolArray) -> FloatArray:
        """Return at each particle the mean of values (V, 3) by mass over its body; 0 on bodies that are not `some`."""
        groups = self._groups
        assert groups is not None
        mean = np.stack([np.bincount(groups, self._mass * column, self._count) for column in values.T], axis=1)
        mean = np.where(some[:, None], mean / self._total[:, None], 0.0)
        result: FloatArray = mean[groups]
        return result
