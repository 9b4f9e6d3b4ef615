# SPDX-License-Identifier: GPL-3.0-or-later
"""No edge longer than it may be: the relaxation of excessive elongation after a step (003; Provot 1995).

An edge (i, j) of length l above L (1 + m), m the largest elongation, is brought back to it along itself, by moving the
ends in inverse proportion to their masses; what is held does not move. One edge after the other, over and over. Edges
that share no vertex are corrected together, in a fixed order of such colours, so that two runs give the same bytes.
Momentum stays: the two ends of an edge get opposite impulses. The velocities follow the corrected motion.

Stiffness then need not be what keeps cloth from stretching, and a soft fabric, quick to solve, keeps its shape.

Contact and the limit are one problem: correcting edges and moving out of solids in turn is slow, and soft cloth on a
ball kept a stretch of 1.16 for a limit of 1.05. So half spaces (`half_spaces.py`), in which solids keep vertices and
pairs that would meet keep each other, are gone through with the edges in every sweep. They are looked for again where
that led, a few times, and a step that ends too long in spite of it is done again in two. Cloth slides in that as if
there were no friction.

Two departures make it converge. By relaxation alone, a rope of n edges that hangs from one end wants n^2 sweeps: edges
are corrected by `FURTHER` times what they lack until the last sweeps. And before, each vertex is brought as near to
the pin that is nearest along the edges as those edges let it be (Kim et al. 2012), which is nothing that the edges do
not ask for themselves.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..contact.half_spaces import HalfSpaces
from ..kernels import current

CLOSE = 2e-3
"""Elongation above the largest one that is left as it is [-]."""
SWEEPS = 600
"""Times that all edges are gone through at most."""
FURTHER = 1.9
"""Over-relaxation [-]."""
NOTHING = HalfSpaces.none()


class StrainLimit:
    """The limit of a system.

    Args:
        edges: (E, 2); longest: L (1 + m) (E,) [m], infinite where there is no limit; mass: (V,) [kg].
        pinned: (n,) vertices that are always held. order: the `colours` of these very edges, where they are known.
    """

    def __init__(self, edges: IntArray, longest: FloatArray, mass: FloatArray, pinned: IntArray,
                 order: tuple[IntArray, IntArray] | None = None) -> None:
        limited = np.flatnonzero(np.isfinite(longest))
        self._order = colours(edges[limited], len(mass)) if order is None else order
        rows, self._starts = limited[self._order[0]], self._order[1]
        self._all, self._mass, self._pinned = edges, mass, pinned
        self._edges, self._longest = edges[rows], longest[rows]
        self._room = CLOSE * float(self._longest.mean())
        self._inverse = 1.0 / np.maximum(mass, np.finfo(float).tiny)
        reach, pin = reach_of(self._edges, self._longest, pinned, len(mass))
        self._tied = np.flatnonzero(np.isfinite(reach) & (reach > 0.0))
        self._reach, self._pin = reach[self._tied], pin[self._tied]

    def excess(self, x: FloatArray) -> float:
        """Largest length of an edge at x (V, 3) [m] over the one it may have, less 1 [-]."""
        d = x[self._edges[:, 1]] - x[self._edges[:, 0]]
        return float(np.sqrt(np.max(np.einsum("ei,ei->e", d, d) / self._longest ** 2, initial=0.0))) - 1.0

    def of_lengths(self, longest: FloatArray) -> StrainLimit:
        """The limit of the same edges at other lengths `longest` (E,) [m], infinite for the same ones."""
        return StrainLimit(self._all, longest, self._mass, self._pinned, self._order)

    def holds(self, x: FloatArray) -> bool:
        """Whether no edge at x (V, 3) [m] is longer than it may be, but for what is left as it is."""
        return self.excess(x) <= CLOSE

    def relaxed(self, x: FloatArray, held: IntArray, bounds: HalfSpaces = NOTHING) -> FloatArray:
        """x (V, 3) [m] within `bounds` and with no edge too long, the very array where that is so; vertices `held` (n,)
        stay."""
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
        current().strain.relax(result, self._edges, self._longest, weights, self._starts, bounds.corners[order],
                               bounds.shares[order], bounds.normals[order], bounds.least[order], sets, CLOSE,
                               self._room, SWEEPS, FURTHER)
        return result


def reach_of(edges: IntArray, lengths: FloatArray, sources: IntArray,
             vertex_count: int) -> tuple[FloatArray, IntArray]:
    """Of each vertex how far along edges (E, 2) of `lengths` (E,) the nearest of `sources` (n,) is (V,), infinite where
    none can be reached, and which it is (V,)."""
    if len(sources) == 0:
        return np.full(vertex_count, np.inf), np.zeros(vertex_count, dtype=np.int64)
    start = np.concatenate([edges[:, 0], edges[:, 1]])
    order = np.argsort(start, kind="stable")
    end, along = np.concatenate([edges[:, 1], edges[:, 0]])[order], np.tile(lengths, 2)[order]
    first = np.searchsorted(start[order], np.arange(vertex_count + 1))
    distance, nearest = np.full(vertex_count, np.inf), np.zeros(vertex_count, dtype=np.int64)
    distance[sources], nearest[sources] = 0.0, sources
    front = np.unique(sources)
    while len(front):                                              # those that came nearer tell their neighbours
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
    """Edges (E, 2), or what else has vertices (E, k), in sets that share none: an order (E,) of them and where each set
    begins in it (C + 1,).

    Of edges that meet, the one with the least number goes first; numbers are scattered, so that few rounds do.
    """
    rank = (np.arange(len(edges), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    number = np.argsort(np.argsort(rank, kind="stable"), kind="stable")
    left = np.arange(len(edges))
    sets: list[IntArray] = []
    while len(left):
        candidates, chosen = left, []
        taken = np.zeros(vertex_count, dtype=np.bool_)
        while len(candidates):
            least = np.full(vertex_count, len(edges))
            ends = edges[candidates]
            np.minimum.at(least, ends.ravel(), np.repeat(number[candidates], ends.shape[1]))
            wins = (least[ends] == number[candidates][:, None]).all(axis=1)
            chosen.append(candidates[wins])
            taken[ends[wins]] = True
            candidates = candidates[~taken[ends].any(axis=1)]
        sets.append(np.sort(np.concatenate(chosen)))
        left = np.setdiff1d(left, sets[-1], assume_unique=True)
    order: IntArray = np.concatenate(sets) if sets else np.zeros(0, dtype=np.int64)
    starts: IntArray = np.cumsum([0, *(len(s) for s in sets)]).astype(np.int64)
    return order, starts
