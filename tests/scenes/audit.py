# SPDX-License-Identifier: GPL-3.0-or-later
"""An independent audit of a frame: the IPC toolkit finds intersections, and winding numbers find vertices inside
solids.

It shares no code with the solver or with the project's own audit. `ipctk` is a dependency of the tests only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.core.contact.shapes import winding

KINDS = ("cloth edge through cloth", "cloth edge through solid", "solid edge through cloth")
"""Kinds of an edge through a triangle: the owner of the edge, and that of the triangle."""


@dataclass(frozen=True)
class Finding:
    """The defects of one frame.

    Attributes:
        crossings: number of pairs of an edge and a triangle that intersect, by KINDS.
        inside: number of cloth vertices inside a closed solid, or outside of an enclosure.
        deepest: depth of the deepest such vertex [m].
        finite: True if all positions are finite; if not, nothing else was checked.
    """

    crossings: tuple[int, int, int] = (0, 0, 0)
    inside: int = 0
    deepest: float = 0.0
    finite: bool = True

    @property
    def total(self) -> int:
        """Return the number of intersections of all kinds."""
        return sum(self.crossings)

    def __str__(self) -> str:
        if not self.finite:
            return "not a number"
        parts = [f"{n} x {kind}" for n, kind in zip(self.crossings, KINDS, strict=True) if n]
        parts += [f"{self.inside} vertices inside by {1e3 * self.deepest:.3f} mm"] if self.inside else []
        return ", ".join(parts) or "clean"


class Judge:
    """Audit of the frames of a scene.

    Args:
        cloths: positions (V, 3) [m] and triangles (T, 3) of each cloth.
        solids: positions and triangles of each solid; none may intersect itself, but they may intersect each other.
        enclosures: numbers of the solids that enclose all of the cloth: closed, with inward normals.
    """

    def __init__(self, cloths, solids=(), enclosures=()):
        import ipctk

        self._tool = ipctk
        firsts = np.cumsum([0, *(len(x) for x, _ in cloths)])
        self._count = int(firsts[-1])
        self._own = np.concatenate([np.asarray(t) + first for (_, t), first in zip(cloths, firsts, strict=False)])
        self._solids = [np.asarray(t) for _, t in solids]
        self._closed = [_is_closed(t) for t in self._solids]
        self._enclosures = [number in enclosures for number in range(len(self._solids))]
        start = np.concatenate([x for x, _ in cloths])
        self._alone = self._mesh(start, self._own)
        self._beside = [self._mesh(np.concatenate([start, x]), np.concatenate([self._own, t + self._count]))
                        for (x, _), t in zip(solids, self._solids, strict=True)]

    def look(self, cloths, solids=()) -> Finding:
        """Return the finding at positions (V, 3) [m] of each cloth and each solid."""
        x = np.concatenate(cloths)
        if not np.isfinite(x).all():
            return Finding(finite=False)
        counts = np.zeros(3, dtype=int)
        if self._cross(self._alone, x):
            counts[0] = len(self.pierced(x, self._own, sides_of(self._own), self._own))
        inside, deepest = 0, 0.0
        for mesh, triangles, closed, enclosure, at in zip(self._beside, self._solids, self._closed, self._enclosures,
                                                          solids, strict=True):
            both = np.concatenate([x, at])
            if counts[0] or self._cross(mesh, both):
                theirs = triangles + self._count
                counts[1] += len(self.pierced(both, self._own, sides_of(self._own), theirs))
                counts[2] += len(self.pierced(both, theirs, sides_of(theirs), self._own))
            if closed:
                depths = self._depths(x, at, triangles, enclosure)
                inside, deepest = inside + len(depths), max(deepest, float(depths.max(initial=0.0)))
        return Finding(tuple(counts.tolist()), inside, deepest)

    def pierced(self, x, of_edges, edges, triangles):
        """Return pairs (N, 2) of an edge and a triangle that intersect and have no common vertex."""
        both = np.concatenate([of_edges, triangles]) if of_edges is not triangles else triangles
        first = len(both) - len(triangles)
        grid = self._tool.HashGrid()
        grid.build(np.asfortranarray(x), edges.astype(np.int32), both.astype(np.int32), 0.0)
        found = []
        for candidate in grid.detect_edge_face_candidates():
            e, t = edges[candidate.edge_id], both[candidate.face_id]
            if candidate.face_id >= first and not np.isin(t, e).any() \
                    and self._tool.is_edge_intersecting_triangle(x[e[0]], x[e[1]], x[t[0]], x[t[1]], x[t[2]]):
                found.append((candidate.edge_id, candidate.face_id - first))
        return np.array(found, dtype=int).reshape(-1, 2)

    def _mesh(self, x, triangles):
        return self._tool.CollisionMesh(np.asfortranarray(x), sides_of(triangles).astype(np.int32),
                                        triangles.astype(np.int32))

    def _cross(self, mesh, x) -> bool:
        return self._tool.has_intersections(mesh, np.asfortranarray(x))

    def _depths(self, x, at, triangles, enclosure):
        near = x if enclosure else x[((x > at.min(axis=0)) & (x < at.max(axis=0))).all(axis=1)]
        if not len(near):
            return np.zeros(0)
        turns = winding(near, at, triangles)
        within = near[turns > -0.5] if enclosure else near[np.abs(turns) > 0.5]
        distance = self._tool.point_triangle_distance
        return np.sqrt([min(distance(p, *at[t]) for t in triangles) for p in within])


def sides_of(triangles):
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    return np.unique(sides, axis=0)


def _is_closed(triangles) -> bool:
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    return bool((np.unique(sides, axis=0, return_counts=True)[1] == 2).all())
