# SPDX-License-Identifier: GPL-3.0-or-later
"""The momentum of bodies in flight at the end of a step.

What acts between particles of a body has no sum. Its rounding has: where inner forces are 1e15 times the weight, their
sum in the equations is as large as the weight. Nothing in the equations can say what it should be; the momentum can.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import merged
from .step_contacts import StepContacts


class Flight:
    """Bodies that neither pins nor solids hold in a step; bodies near each other are one.

    Args:
        contacts: of the step.
    """

    def __init__(self, contacts: StepContacts) -> None:
        system, pairs = contacts.system, contacts.pairs
        self._mass: FloatArray = system.mass
        groups: IntArray | None = None
        if not contacts.on_solids:
            groups = system.sewn if pairs is None else pairs.free_groups()
            if pairs is not None and groups is not None and system.has_seams:
                groups = merged(groups, system.sewn)
        self._groups: IntArray | None = groups
        if groups is None:
            return
        self._count = int(groups.max()) + 1
        self._total = np.maximum(np.bincount(groups, weights=self._mass, minlength=self._count), np.finfo(float).tiny)
        self._free = self._without(contacts.pins.rows)
        self._falls = self._free & self._without(np.flatnonzero(system.outer_forces))

    def without_momentum(self, change: FloatArray) -> FloatArray:
        """Return a change of motions or velocities (V, 3) without its momentum.

        Cutting motions and shortening edges are internal: only relative motions change.
        """
        return change if self._groups is None else change - self._mean(change, self._free)

    def missed(self, v: FloatArray, expected: FloatArray) -> FloatArray:
        """Return the change of velocities v (V, 3) [m/s] after which falling bodies have the momentum of the `expected`
        velocities (V, 3) [m/s]; 0 on bodies on which anything but weight acts."""
        if self._groups is None or not self._falls.any():
            return np.zeros_like(v)
        return self._mean(expected - v, self._falls)

    def _without(self, rows: IntArray) -> BoolArray:
        """Return whether bodies have none of the particles in `rows`."""
        assert self._groups is not None
        some = np.ones(self._count, dtype=np.bool_)
        some[self._groups[rows]] = False
        return some

    def _mean(self, values: FloatArray, some: BoolArray) -> FloatArray:
        """Return at each particle the mean of values (V, 3) by mass over its body; 0 on bodies that are not `some`."""
        groups = self._groups
        assert groups is not None
        mean = np.stack([np.bincount(groups, weights=self._mass * column, minlength=self._count)
                         for column in values.T], axis=1)
        at_each: FloatArray = np.where(some[:, None], mean / self._total[:, None], 0.0)[groups]
        return at_each
