# SPDX-License-Identifier: GPL-3.0-or-later
"""Crossings and the smallest gap of all cloths and colliders at once, without the pairs that are excluded from contact.

Where nothing is excluded, all cloths are one surface and all colliders another. Otherwise each two objects that collide
are searched by themselves, with those of their triangles that take part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, IntArray
from ..contact.exclusions import ITSELF, OTHER, Exclusions
from ..contact.gaps import meet
from ..contact.triangle_surface import TriangleSurface


@dataclass(frozen=True)
class Crossings:
    """Edges that pierce triangles: vertices (N, 2) of the edges and triangles (N,), in the numbering of all cloths, or
    of all colliders where `edges_of_solids` or `triangles_of_solids`."""

    edges: IntArray
    triangles: IntArray
    edges_of_solids: bool = False
    triangles_of_solids: bool = False


@dataclass(frozen=True)
class Meetings:
    """All crossings, and the smallest gap [m]: the radius of the search if there is no smaller one."""

    crossings: list[Crossings]
    gap: float

    def any_crossings(self, *, with_solids: bool = False) -> bool:
        """Return whether there are crossings, or with solids only."""
        return any(len(c.edges) > 0 for c in self.crossings
                   if not with_solids or c.edges_of_solids or c.triangles_of_solids)


def all_meetings(cloth: TriangleSurface, solid: TriangleSurface, radius: float) -> Meetings:
    """Return how cloth meets colliders and itself, nothing excluded, within a radius [m]."""
    within = meet(cloth, cloth, radius)
    between = meet(cloth, solid, within.gap)                         # layers are nearer to each other than to solids
    return Meetings([
        Crossings(cloth.edges[within.crossings[:, 0]], within.crossings[:, 1]),
        Crossings(cloth.edges[between.crossings[:, 0]], between.crossings[:, 1], triangles_of_solids=True),
        Crossings(solid.edges[between.reverse[:, 0]], between.reverse[:, 1], edges_of_solids=True)], between.gap)


class PartialMeetings:
    """Searches where something is excluded.

    Args:
        exclusions: of the cloths.
        cloth, solid: surfaces of all cloths and of all colliders.
        first_triangle: (S + 1,) where the triangles of each collider begin.
    """

    def __init__(self, exclusions: Exclusions, cloth: TriangleSurface, solid: TriangleSurface,
                 first_triangle: Sequence[int]) -> None:
        self._pairs: list[tuple[_Part, _Part]] = []
        count, meets = exclusions.cloth_count, exclusions.meets
        owner = exclusions.object_of[cloth.triangles[:, 0]]
        of_thread = exclusions.object_of[cloth.edges[cloth.threads, 0]]
        thread = ~exclusions.marked[:, cloth.edges[cloth.threads]].all(axis=2)
        outer = [_Part.of(cloth, exclusions.triangle[OTHER] & (owner == k), thread[OTHER] & (of_thread == k))
                 for k in range(count)]
        nothing = np.zeros(0, dtype=np.bool_)
        number = np.arange(len(solid.triangles))
        outer += [_Part.of(solid, (number >= begin) & (number < end), nothing, of_solids=True)
                  for begin, end in zip(first_triangle[:-1], first_triangle[1:], strict=True)]
        for k in range(count):
            if meets[k, k]:
                part = _Part.of(cloth, exclusions.triangle[ITSELF] & (owner == k), thread[ITSELF] & (of_thread == k))
                self._pairs.append((part, part))
            self._pairs += [(outer[k], outer[j]) for j in range(k + 1, len(outer)) if meets[k, j]]

    def find(self, cloth: TriangleSurface, solid: TriangleSurface, radius: float) -> Meetings:
        """Return how cloth meets colliders and itself within a radius [m]; the surfaces are at their positions."""
        placed: dict[int, TriangleSurface] = {}
        for part in {id(part): part for pair in self._pairs for part in pair}.values():
            placed[id(part)] = part.surface.at((solid if part.of_solids else cloth).positions)
        nothing = np.zeros((0, 2), dtype=np.int64)
        found, gap = [Crossings(nothing, nothing[:, 0])], radius
        for one, other in self._pairs:
            a, b = placed[id(one)], placed[id(other)]
            meeting = meet(a, b, gap)
            gap = meeting.gap
            found.append(Crossings(a.edges[meeting.crossings[:, 0]], other.rows[meeting.crossings[:, 1]],
                                   one.of_solids, other.of_solids))
            found.append(Crossings(b.edges[meeting.reverse[:, 0]], one.rows[meeting.reverse[:, 1]],
                                   other.of_solids, one.of_solids))
        return Meetings(found, gap)


@dataclass(frozen=True, eq=False)
class _Part:
    """Triangles of one object that take part: their surface, and their `rows` (T,) in the whole one."""

    surface: TriangleSurface
    rows: IntArray
    of_solids: bool

    @staticmethod
    def of(whole: TriangleSurface, triangles: BoolArray, threads: BoolArray, *, of_solids: bool = False) -> _Part:
        """Return the part of the triangles (T,) and threads (K,) of a whole surface."""
        return _Part(whole.part(triangles, threads), np.flatnonzero(triangles), of_solids)
