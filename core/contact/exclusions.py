# SPDX-License-Identifier: GPL-3.0-or-later
"""Exclusion of pairs from contact by the `ClothContact` settings of the cloths.

Objects are numbered, cloths first, then colliders. A pair of triangles is excluded if their objects do not collide, or
if one of the two is left out of that kind of contact: of a cloth with itself, or with other objects. A vertex or edge
of cloth takes part if one of its triangles does, a thread unless both of its ends are marked, and a vertex by itself
unless it is marked. So the pairs of primitives that may act are those that some pair of triangles needs.

Excluded pairs are taken out of the candidates, wherever these are made: nothing later finds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, IntArray
from ..description.cloth_contact import ClothContact
from .all_surfaces import AllSurfaces

OTHER, ITSELF = 0, 1
"""Kinds of contact: with other objects, and of a cloth with itself."""


class Exclusions:
    """Pairs of C cloths and S colliders that may be in contact, and the primitives that take part.

    Args:
        contacts: settings of each cloth. counts: (C,) vertices of each, V in all.
        names: of the cloths and then of the colliders.
        triangles: (T, 3). threads: (K, 2) edges without triangles.

    Attributes:
        cloth_count: C. object_of: (V,) cloth of each vertex. marked: (2, V) vertices that `ClothContact` marks.
        meets: (C + S, C + S) whether two objects collide; symmetric.
        vertex, triangle, thread: (2, V), (2, T), (2, K) whether each takes part in contact of the kinds OTHER and
            ITSELF.
    """

    def __init__(self, contacts: Sequence[ClothContact], counts: Sequence[int], names: Sequence[str],
                 triangles: IntArray, threads: IntArray) -> None:
        self.cloth_count = len(contacts)
        self.object_of: IntArray = np.repeat(np.arange(len(contacts)), counts)
        wants = np.ones((len(names), len(names)), dtype=np.bool_)
        for number, contact in enumerate(contacts):
            wants[number] = [contact.names(name) for name in names]
        self.meets: BoolArray = wants & wants.T
        for number, contact in enumerate(contacts):
            self.meets[number, number] = contact.self_collision
        marks = [(contact.not_objects, contact.not_self) for contact in contacts]
        self.marked: BoolArray = np.concatenate([np.zeros((2, 0), dtype=np.bool_), *(
            np.stack([np.zeros(count, dtype=np.bool_) if given is None else given for given in both])
            for both, count in zip(marks, counts, strict=True))], axis=1)
        self.triangle, self.thread = (~self.marked[:, ends].all(axis=2) for ends in (triangles, threads))
        self.vertex: BoolArray = ~self.marked
        self.vertex[:, triangles] = self.vertex[:, threads] = False
        for kind in (OTHER, ITSELF):
            self.vertex[kind, triangles[self.triangle[kind]]] = True
            self.vertex[kind, threads[self.thread[kind]]] = True

    @property
    def exclude(self) -> bool:
        """Whether there is anything that does not take part, or any two objects that do not collide."""
        cloth = self.meets[:self.cloth_count]
        return not (cloth.all() and self.vertex.all() and self.triangle.all() and self.thread.all())

    @property
    def cloth_meets_cloth(self) -> bool:
        """Whether any cloth collides with itself or with another one."""
        return bool(self.meets[:self.cloth_count, :self.cloth_count].any())

    def with_solids(self) -> BoolArray:
        """Return which vertices of cloth (S, V) may be in contact with each collider."""
        found: BoolArray = self.meets[self.cloth_count:, self.object_of] & self.vertex[OTHER]
        return found


class PairFilter:
    """Exclusions for pairs of primitives, in the numbering of all surfaces.

    Args:
        exclusions: of the cloths.
        surfaces: cloth and colliders.

    Attributes:
        with_solids: (S, V) as of `Exclusions`.
    """

    def __init__(self, exclusions: Exclusions, surfaces: AllSurfaces) -> None:
        self.with_solids, self._meets = exclusions.with_solids(), exclusions.meets
        cloth, inner = surfaces.cloth, surfaces.count - len(exclusions.object_of)
        own: IntArray = np.pad(exclusions.object_of, (0, inner))
        solid = surfaces.solid_of[surfaces.count:] + exclusions.cloth_count
        self._object: IntArray = np.concatenate([own, solid])
        self._vertex = _with_more(exclusions.vertex, surfaces.total)
        self._triangle = _with_more(exclusions.triangle, len(surfaces.triangles))
        self._edge = _with_more(_edges(exclusions, cloth.edges, cloth.triangles, cloth.threads), len(surfaces.edges))
        self._triangles, self._edges = surfaces.triangles, surfaces.edges

    @cached_property
    def groups(self) -> tuple[BoolArray, IntArray]:
        """Return whether each collider collides with each of G groups of vertices of cloth (S, G), and the group of
        each vertex (V,)."""
        sets, group = np.unique(self.with_solids, axis=1, return_inverse=True)
        return sets, group.reshape(-1)

    def taking_part(self, kind: int) -> BoolArray:
        """Return which triangles (T,) of all surfaces take part in contact of a kind."""
        return self._triangle[kind]

    def candidates(self, found: tuple[IntArray, IntArray]) -> tuple[IntArray, IntArray]:
        """Return those of the pairs of vertices with triangles (N, 2), and of edges with edges (M, 2), that may act."""
        return found[0][self.of_faces(found[0])], found[1][self.of_edges(found[1])]

    def of_faces(self, pairs: IntArray) -> BoolArray:
        """Return which pairs (N, 2) of a vertex and a triangle may act."""
        vertex, triangle = pairs.T
        return self._may(self._object[vertex], self._vertex[:, vertex],
                         self._object[self._triangles[triangle, 0]], self._triangle[:, triangle])

    def of_vertices(self, pairs: IntArray) -> BoolArray:
        """Return which pairs (N, 2) of vertices of a cloth may act."""
        one, other = pairs.T
        return self._may(self._object[one], self._vertex[:, one], self._object[other], self._vertex[:, other])

    def of_edges(self, pairs: IntArray) -> BoolArray:
        """Return which pairs (N, 2) of two edges may act."""
        one, other = pairs.T
        return self._may(self._object[self._edges[one, 0]], self._edge[:, one],
                         self._object[self._edges[other, 0]], self._edge[:, other])

    def of_piercings(self, pairs: IntArray) -> BoolArray:
        """Return which pairs (N, 2) of an edge and a triangle may act."""
        edge, triangle = pairs.T
        return self._may(self._object[self._edges[edge, 0]], self._edge[:, edge],
                         self._object[self._triangles[triangle, 0]], self._triangle[:, triangle])

    def itself(self, vertices: IntArray) -> BoolArray:
        """Return which pairs (P, 4) of primitives, by their vertices, belong to one object."""
        same: BoolArray = self._object[vertices[:, 0]] == self._object[vertices[:, 3]]
        return same

    def _may(self, one: IntArray, takes_part: BoolArray, other: IntArray, also: BoolArray) -> BoolArray:
        kind, row = np.where(one == other, ITSELF, OTHER), np.arange(len(one))
        may: BoolArray = self._meets[one, other] & takes_part[kind, row] & also[kind, row]
        return may


def kept_off(pair_filter: PairFilter | None, solid: int, vertices: IntArray) -> IntArray:
    """Return those of the vertices of cloth (N,) that may be in contact with collider number `solid`."""
    return vertices if pair_filter is None else vertices[pair_filter.with_solids[solid, vertices]]


def _with_more(known: BoolArray, count: int) -> BoolArray:
    """Return flags (2, n) extended to `count` by True, for colliders and inner nodes."""
    return np.pad(known, ((0, 0), (0, count - known.shape[1])), constant_values=True)


def _edges(exclusions: Exclusions, edges: IntArray, triangles: IntArray, threads: IntArray) -> BoolArray:
    """Return which edges (2, E) of cloth take part: those of triangles that do, and threads that do."""
    found = np.zeros((2, len(edges)), dtype=np.bool_)
    count = int(edges.max(initial=0)) + 1
    keys = edges[:, 0] * count + edges[:, 1]
    side = np.sort(np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1), axis=-1)
    row = np.searchsorted(keys, side[..., 0] * count + side[..., 1])
    for kind in (OTHER, ITSELF):
        found[kind, row[exclusions.triangle[kind]]] = True
    found[:, threads] = ~exclusions.marked[:, edges[threads]].all(axis=2)
    return found
