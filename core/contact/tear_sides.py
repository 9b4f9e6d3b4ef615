# SPDX-License-Identifier: GPL-3.0-or-later
"""The two sides of a tear that has hardly opened keep to their sides.

Both start at one place, where no distance says which side is which. What does is the cloth around: vertices a and b
that were one part along n, from the neighbours of b to those of a.

    gap      d = n . (x_a - x_b)                                                      [m]
    n = (c_a - c_b) / |c_a - c_b|,    c = sum over the edges at the vertex of what leads to the other end

Where c_a . c_b is not negative, one side is folded onto the other, and they may slide over each other. Like any pair in
contact they are kept from coming nearer than they may be, which is 0, and slowly put back there (see `repulsion`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray, IntArray
from ..row_ops import unit
from .pair_contacts import RECOVERY, lever
from .repulsion import LATE_OVERLAP, Contacts
from .untangling import wanting


@dataclass(frozen=True)
class TearSides:
    """Pairs of vertices that were one, and are nearer than where contact begins.

    Attributes:
        pairs: (N, 2). normal: (N, 3) from the side of the second to that of the first.
        start: (N,) gap at the start of the step [m]. thickness: (N,) of both [m].
    """

    pairs: IntArray
    normal: FloatArray
    start: FloatArray
    thickness: FloatArray

    @staticmethod
    def at(x: FloatArray, pairs: IntArray, edges: IntArray, thickness: FloatArray) -> TearSides:
        """Return those of the pairs (N, 2) that lie beside each other at x (V, 3) [m]; edges: (E, 2) of cloth.
        thickness: (V,) [m]."""
        mine = np.zeros(len(x), dtype=np.bool_)
        mine[pairs] = True
        some = edges[mine[edges].any(axis=1)]
        away = x[some[:, 1]] - x[some[:, 0]]
        around = np.stack([np.bincount(some[:, 0], a, len(x)) - np.bincount(some[:, 1], a, len(x)) for a in away.T],
                          axis=1)
        one, other = around[pairs[:, 0]], around[pairs[:, 1]]
        beside = np.flatnonzero(np.einsum("ni,ni->n", one, other) < 0.0)
        pairs, normal = pairs[beside], unit(one[beside] - other[beside])
        return TearSides(pairs, normal, _gaps(x, pairs, normal), thickness[pairs].sum(axis=1))

    def press(self, x: FloatArray) -> bool:
        """Return whether any of them is clearly beyond its side at x (V, 3) [m]."""
        return bool((_gaps(x, self.pairs, self.normal) < -LATE_OVERLAP * self.thickness).any())

    def contacts(self, x: FloatArray, inverse_mass: FloatArray, h: float, unheld: FloatArray | None) -> Contacts:
        """Return their contacts in a step of h [s] from x (V, 3) [m], other arguments as of
        `pair_contacts.make_contacts`. None touches yet."""
        some = np.flatnonzero(inverse_mass[self.pairs].sum(axis=1) > 0.0)
        vertices, start = self.pairs[some][:, [0, 0, 1, 1]], self.start[some]
        weights = np.tile([1.0, 0.0, -1.0, 0.0], (len(some), 1))
        mass, _ = lever(inverse_mass[self.pairs[some]].sum(axis=1), weights, vertices, unheld)
        more = np.where(start > 0.0, 1.0, min(1.0, h * RECOVERY)) * -start
        found = wanting(vertices, weights, self.normal[some], more, x, mass)
        return replace(found, touches=np.zeros(len(some), dtype=np.bool_))


def _gaps(x: FloatArray, pairs: IntArray, normal: FloatArray) -> FloatArray:
    gaps: FloatArray = np.einsum("ni,ni->n", x[pairs[:, 0]] - x[pairs[:, 1]], normal)
    return gaps
