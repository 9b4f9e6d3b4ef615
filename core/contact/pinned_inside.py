# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot leave a solid, because pins hold cloth inside of it.

A cape is pinned to a shoulder somewhat below the skin, a flag to the middle of its pole. What is next to the pins
starts inside, too, and 001's contact would put it out to where the surface is nearest: by any force, and the pins hold
it back by as much. Cloth is stretched to twice its length there, presses with ten thousand times its weight, and
whatever it slides by shakes the rest of it for ever.

From a vertex that is held at a depth D no way to the surface is shorter than D. What is nearer to it than that along
the cloth cannot get out without being stretched, and stays where weight and its neighbours take it. So it is let in,
where pins go into a solid in the course of the simulation; and `face_contacts` move it out again when they do not hold
it there any longer.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import Topology


class PinnedInside:
    """Cloth as a net of V vertices at rest.

    Args:
        edges (E, 2), triangles (T, 3). rest (V, 3) [m]. scale (V,): lengths at rest over those of `rest` [-]; None
            where they are the same.
    """

    def __init__(self, edges: IntArray, triangles: IntArray, rest: FloatArray, scale: FloatArray | None = None) -> None:
        across = Topology(triangles).hinges[:, 2:]               # along edges alone diagonals are two fifths too long
        ends = np.concatenate([edges, across])
        self._ends: IntArray = np.concatenate([ends, ends[:, ::-1]])
        self._length: FloatArray = np.linalg.norm(rest[self._ends[:, 1]] - rest[self._ends[:, 0]], axis=1)
        if scale is not None:
            self._length *= scale[self._ends].mean(axis=1)

    def kept(self, held: BoolArray, depth: FloatArray) -> BoolArray:
        """Which vertices (V,) cannot be outside of a solid, for those that are `held` (V,) in it, at a `depth` (V,) [m]
        below where they would be."""
        spare: FloatArray = np.where(held, -depth, 0.0)          # length along cloth over depth, of the worst pin [m]
        while True:
            row = np.flatnonzero(spare[self._ends[:, 0]] + self._length < spare[self._ends[:, 1]])
            if len(row) == 0:
                return (spare < 0.0) & ~held
            np.minimum.at(spare, self._ends[row, 1], spare[self._ends[row, 0]] + self._length[row])
