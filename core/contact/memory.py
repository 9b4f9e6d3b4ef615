# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step leaves to the next one: how contacts between pairs pressed, which is its first guess of how they will."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Memory:
    """One step's; a step that is discarded leaves none.

    Attributes:
        keys (N,): of what touched, in order. pressing (N,) [N], holding (N, 3) [N]: by which forces.
        stiffness (N,) [-]: of its spring, over the mass.
        gain (V, 3) [m/s^2]: mean acceleration, None before the first step.
        at_edges: whether edges or tips of colliders touched.
        inside (S, V): vertices of cloth in colliders, that pins keep there or have kept until lately; None if there
            are none.
    """

    keys: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    pressing: FloatArray = field(default_factory=lambda: np.zeros(0))
    holding: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    stiffness: FloatArray = field(default_factory=lambda: np.zeros(0))
    gain: FloatArray | None = None
    at_edges: bool = False
    inside: BoolArray | None = None

    def recalled(self, key: IntArray, near: BoolArray, vertex_of: Callable[[IntArray], IntArray]
                 ) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray]:
        """Which pairs, of these keys (C,), touched; their pressing (C,), holding (C, 3) and stiffness (C,).

        A vertex that has slid on to the next triangle, and is `near` it (C,), presses there as it did on the one
        before: `vertex_of` keys, -1 of pairs of edges.
        """
        count = len(key)
        known, pressing, holding = np.zeros(count, dtype=np.bool_), np.zeros(count), np.zeros((count, 3))
        stiffness = np.zeros(count)
        if len(self.keys) == 0 or count == 0:
            return known, pressing, holding, stiffness
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        known = (self.keys[at] == key) & (key >= 0)                 # crossings are numbered anew in each step
        pressing[known], holding[known] = self.pressing[at[known]], self.holding[at[known]]
        stiffness[known] = self.stiffness[at[known]]

        gone = np.ones(len(self.keys), dtype=np.bool_)
        gone[at[known]] = False
        gone &= self.pressing > 0.0
        before, now = vertex_of(self.keys), vertex_of(key)
        left, new = np.flatnonzero(gone & (before >= 0)), np.flatnonzero(near & ~known & (now >= 0) & (key >= 0))
        if len(left) == 0 or len(new) == 0:
            return known, pressing, holding, stiffness
        vertex, place = np.unique(before[left], return_inverse=True)
        to = np.minimum(np.searchsorted(vertex, now[new]), len(vertex) - 1)
        same = vertex[to] == now[new]
        new, to = new[same], to[same]
        share = 1.0 / np.bincount(to, minlength=len(vertex))[to]
        known[new] = True
        pressing[new] = share * np.bincount(place, self.pressing[left], minlength=len(vertex))[to]
        for axis in range(3):
            holding[new, axis] = share * np.bincount(place, self.holding[left, axis], minlength=len(vertex))[to]
        stiffest = np.zeros(len(vertex))
        np.maximum.at(stiffest, place, self.stiffness[left])
        stiffness[new] = stiffest[to]
        return known, pressing, holding, stiffness
