# SPDX-License-Identifier: GPL-3.0-or-later
"""Limit Stretch: relax edges that are longer than allowed after a step (003; Provot 1995).

An edge (i, j) of length l above L (1 + m), with m the largest elongation, is shortened to it along itself, by moving
its ends in inverse proportion to their masses; held vertices do not move. All edges are gone through many times. Edges
that share no vertex are corrected together, in a fixed order of such colours, so that two runs give the same bytes. The
two ends of an edge get opposite impulses, which conserves momentum. Velocities follow the corrected positions.

With the limit, a soft fabric, which is quick to solve, keeps its shape.

Contact and the limit are one problem: correcting edges and moving out of solids in turn converges slowly. So every
sweep goes through half spaces (`half_spaces`) as well, in which solids keep vertices and pairs keep each other. They
are found again at the result, a few times, and a step that still ends too long is rejected. The correction slides
cloth along contacts without friction.

Two departures make it converge. Relaxation alone needs n^2 sweeps for a rope of n edges that hangs from one end:
corrections are multiplied by `OVER_RELAXATION` until the last sweeps. And first of all, each vertex is moved as near to
its nearest pin as the edges between them allow (long range attachments, Kim et al. 2012).
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..contact.effort import Effort
from ..contact.half_spaces import HalfSpaces
from ..kernels import current
from ..row_ops import all_of, any_of

LENGTH_TOLERANCE = 2e-3
"""Largest elongation above the limit that is left uncorrected [-]."""
MAX_LENGTH_SWEEPS = 600
"""Largest number of sweeps over all edges."""
OVER_RELAXATION = 1.9
"""Factor of the corrections [-]."""
NO_BOUNDS = HalfSpaces.none()


class StrainLimit:
    """The largest lengths of all edges of a system, and the relaxation of edges that exceed them.

    Args:
        edges: (E, 2) vertices of all edges.
        longest: (E,) allowed lengths L (1 + m) [m], infinite without a limit.
        mass: (V,) [kg].
        pinned: (n,) vertices that are always held.
        order: `colours` of these edges, if they are known.

    Attributes:
        all_longest: `longest` as given.
    """

    def __init__(self, edges: IntArray, longest: FloatArray, mass: FloatArray, pinned: IntArray,
                 order: tuple[IntArray, IntArray] | None = None) -> None:
        limited = np.flatnonzero(np.isfinite(longest))
        self._order = colours(edges[limited], len(mass)) if order is None else order
        rows, self._starts = limited[self._order[0]], self._order[1]
        self._all, self._mass, self._pinned, self.all_longest = edges, mass, pinned, longest
        self._edges, self._longest = edges[rows], longest[rows]
        self._room = LENGTH_TOLERANCE * float(self._longest.mean())
        self._inverse = 1.0 / np.maximum(mass, np.finfo(float).tiny)
        reach, pin = reach_of(self._edges, self._longest, pinned, len(mass))
        self._tied = np.flatnonzero(np.isfinite(reach) & (reach > 0.0))
        self._reach, self._pin = reach[self._tied], pin[self._tied]

    def excess(self, x: FloatArray) -> float:
        """Return the largest edge length at x (V, 3) [m] over the allowed one, minus 1 [-]."""
        d = x[self._edges[:, 1]] - x[self._edges[:, 0]]
        return float(np.sqrt(np.max(np.einsum("ei,ei->e", d, d) / self._longest ** 2, initial=0.0))) - 1.0

    def of_lengths(self, longest: FloatArray) -> StrainLimit:
        """Return the limit of the same edges at other lengths `longest` (E,) [m], infinite for the same edges."""
        return StrainLimit(self._all, longest, self._mass, self._pinned, self._order)

    def holds(self, x: FloatArray) -> bool:
        """Return whether no edge at x (V, 3) [m] is longer than allowed, within the tolerance."""
        return self.excess(x) <= LENGTH_TOLERANCE

    def relaxed(self, x: FloatArray, held: IntArray, bounds: HalfSpaces = NO_BOUNDS, effort: Effort | None = None
                ) -> FloatArray:
        """Return x (V, 3) [m] within `bounds` and with no edge too long; the same array if it is so already.

        held: (n,) vertices that do not move. effort: counts the sweeps, of which there are fewer where they are dear.
        """
        if self.holds(x) and not (bounds.lack(x) > self._room).any():
            return x
        weights, result = self._inverse.copy(), x.copy()
        weights[held] = 0.0
        away = x[self._tied] - x[self._pin]
        part = np.minimum(self._reach / np.maximum(np.sqrt(np.einsum("vi,vi->v", away, away)),
                                                   np.finfo(float).tiny), 1.0)
        free = (part < 1.0) & (weights[self._tied] > 0.0)
        result[self._tied[free]] = x[self._pin[free]] + part[free, None] * away[free]
        order, sets = colours(bounds.corners, len(x))
        effort, count = Effort() if effort is None else effort, len(self._starts) + len(sets) - 2
        most = min(MAX_LENGTH_SWEEPS, effort.most_sweeps(count))
        taken = current().strain.relax(
            result, self._edges, self._longest, weights, self._starts, bounds.corners[order], bounds.shares[order],
            bounds.normals[order], bounds.least[order], sets, LENGTH_TOLERANCE, self._room, most, OVER_RELAXATION)
        effort.sweeps(taken, count)
        return result


def reach_of(edges: IntArray, lengths: FloatArray, sources: IntArray,
             vertex_count: int) -> tuple[FloatArray, IntArray]:
    """Return the distance from each vertex along edges to the nearest of `sources` (V,), and that source (V,).

    Args:
        edges: (E, 2). lengths: (E,) of these. sources: (n,) vertices. vertex_count: V.

    The distance is infinite where no source can be reached.
    """
    if len(sources) == 0:
        return np.full(vertex_count, np.inf), np.zeros(vertex_count, dtype=np.int64)
    start = np.concatenate([edges[:, 0], edges[:, 1]])
    order = np.argsort(start, kind="stable")
    end, along = np.concatenate([edges[:, 1], edges[:, 0]])[order], np.tile(lengths, 2)[order]
    first = np.searchsorted(start[order], np.arange(vertex_count + 1))
    distance, nearest = np.full(vertex_count, np.inf), np.zeros(vertex_count, dtype=np.int64)
    distance[sources], nearest[sources] = 0.0, sources
    front = np.unique(sources)
    while len(front):                                              # vertices whose distance has fallen
        count = first[front + 1] - first[front]
        at = np.repeat(first[front] - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(count.sum())
        told, offered = end[at], np.repeat(distance[front], count) + along[at]
        by = np.lexsort((offered, told))
        told, offered, source = told[by], offered[by], np.repeat(nearest[front], count)[by]
        best = np.concatenate([[True], told[1:] != told[:-1]]) & (offered < distance[told])
        front = told[best]
        distance[front], nearest[front] = offered[best], source[best]
    return distance, nearest


def colours(edges: IntArray, vertex_count: int) -> tuple[IntArray, IntArray]:
    """Return edges (E, 2), or elements (E, k), in sets without common vertices: an order (E,), and the begin of each
    set in it (C + 1,).

    Of edges that meet, the one with the smallest number comes first; numbers are scattered, so that few rounds are
    needed.
    """
    rank = (np.arange(len(edges), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    number = np.argsort(np.argsort(rank, kind="stable"), kind="stable")
    left = np.arange(len(edges))
    sets: list[IntArray] = []
    coloured = np.zeros(len(edges), dtype=np.bool_)
    while len(left):
        candidates, chosen = left, []
        taken = np.zeros(vertex_count, dtype=np.bool_)
        while len(candidates):
            least = np.full(vertex_count, len(edges))
            ends = edges[candidates]
            np.minimum.at(least, ends.ravel(), np.repeat(number[candidates], ends.shape[1]))
            wins = all_of(least[ends] == number[candidates][:, None])
            chosen.append(candidates[wins])
            taken[ends[wins]] = True
            candidates = candidates[~any_of(taken[ends])]
        sets.append(np.sort(np.concatenate(chosen)))
        coloured[sets[-1]] = True
        left = left[~coloured[left]]
    order: IntArray = np.concatenate(sets) if sets else np.zeros(0, dtype=np.int64)
    starts: IntArray = np.cumsum([0, *(len(s) for s in sets)]).astype(np.int64)
    return order, starts
