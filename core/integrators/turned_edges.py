# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that turn by more than a linear step can follow keep their length.

A linearised step takes both ends of an edge along straight lines. To its forces the edge is as long as its part along
the direction n in which it was taken to lie,

    l_linear = n . (x_j - x_i) ,

and at that length they are in balance. Where the edge turns by an angle phi in the step, it is 1 / cos phi times as
long as that, of which the solve knows nothing: at a fold, whose edges are short beside the way they go in a step,
single ones came out at twice their length and were back at it a step later. Shorter steps cure that, at a price that
all the cloth pays. Where a step in free motion is linearised as its elements turn, its end stays as it is.

So edges longer by more than `TURNED_GROWTH` than both what they were and l_linear are brought back to
`TURNED_GROWTH_LEFT` beyond that, together with those around them, as *Limit Stretch* does it (`strain_limit`): by
opposite impulses along each, which leave momentum as it is. What is stretched by forces is so along itself: the solve
has seen that, and it stays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..contact.effort import Effort
from ..contact.half_spaces import HalfSpaces
from ..model.particle_system import ParticleSystem
from ..model.strain_limit import NO_BOUNDS, StrainLimit
from ..row_ops import any_of, pick

TURNED_GROWTH = 0.05
"""Growth beyond what the solve has seen up to which an edge is left as it is, over its rest length [-]. From 0.01 to
0.1 the longest edges of a drape, twice their length before, are 1.15 to 1.3 times that; with less than 0.05 what slides
around the edge of a table is now and then held there."""
TURNED_GROWTH_LEFT = 0.5 * TURNED_GROWTH
"""The same to which one that grew by more is brought back [-]. At 0, what would hold a step later is brought back, too,
and more steps are halved."""
RINGS = 3
"""Edges from the ends of one that is too long to the last vertices that may give way for it."""
NO_PINS = np.zeros(0, dtype=np.int64)


class TurnedEdges:
    """How long a step may make the edges of a system; a limit like `StrainLimit`.

    Args:
        system: whose edges.
        start: lengths of the edges (E,) [m] at the start of the step. linearised: returns the edges (E, 3) [m] along
            which its forces were linearised last.
        reached: where it leads, whose edges are along their direction as long as the solve takes them to be.
    """

    def __init__(self, system: ParticleSystem, start: FloatArray, linearised: Callable[[], FloatArray],
                 reached: FloatArray) -> None:
        self._system, self._edges, self._rest = system, system.edges, system.rest_lengths
        self._linearised, self._reached = linearised, reached
        self._was: FloatArray = np.maximum(start, self._rest)

    @cached_property
    def _longest(self) -> FloatArray:
        """What the edges were or the solve takes them to be (E,) [m]; in most steps nobody asks."""
        taken, (i, j) = self._linearised(), self._edges.T
        found = pick(self._reached, j) - pick(self._reached, i)
        length = np.sqrt(np.einsum("ei,ei->e", taken, taken))
        linear = np.einsum("ei,ei->e", taken, found) / np.maximum(length, np.finfo(float).tiny)
        longest: FloatArray = np.maximum(self._was, linear)
        return longest

    def _too_long(self, lengths: FloatArray) -> BoolArray:
        """Return which edges of these `lengths` (E,) [m] are brought back (E,)."""
        much = TURNED_GROWTH * self._rest
        over: BoolArray = lengths > self._was + much
        return lengths > self._longest + much if over.any() else over

    def any_longer(self, lengths: FloatArray) -> bool:
        """Return whether any edge of these `lengths` (E,) [m] is brought back."""
        return bool(self._too_long(lengths).any())

    def excess(self, x: FloatArray) -> float:
        """Largest length of an edge at x (V, 3) [m] over the one up to which it is left as it is, less 1 [-]; -1 if
        none is longer than that."""
        lengths = self._system.edge_lengths(x)
        over = self._too_long(lengths)
        if not over.any():
            return -1.0
        most = self._longest[over] + TURNED_GROWTH * self._rest[over]
        return float(np.max(lengths[over] / most)) - 1.0

    def holds(self, x: FloatArray) -> bool:
        """Whether no edge at x (V, 3) [m] is longer than that."""
        return not self.any_longer(self._system.edge_lengths(x))

    def relaxed(self, x: FloatArray, held: IntArray, bounds: HalfSpaces = NO_BOUNDS, effort: Effort | None = None
                ) -> FloatArray:
        """x (V, 3) [m] with those that are too long brought back, within `bounds`; the very array where none is.
        Vertices `held` (n,) stay; `effort` counts the sweeps."""
        over = self._too_long(self._system.edge_lengths(x))
        if not over.any():
            return x
        near = np.zeros(len(x), dtype=np.bool_)
        near[self._edges[over]] = True
        for _ in range(RINGS - 1):
            near[self._edges[any_of(pick(near, self._edges))]] = True
        some = any_of(pick(near, self._edges))
        lengths = self._longest[some] + TURNED_GROWTH_LEFT * self._rest[some]
        return StrainLimit(self._edges[some], lengths, self._system.carried, NO_PINS).relaxed(
            x, held, bounds, effort)
