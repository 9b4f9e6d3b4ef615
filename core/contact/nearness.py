# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of the pairs that are close are contacts of a surface with itself.

The distance between two pieces of surface has a minimum in few of the pairs that are close. A vertex over the inside of
a triangle is one. Over an edge or a vertex of the other piece it is one if all triangles there say so: beside it, the
next triangle is nearer. Two edges are one if both surfaces fold away from each other there, like two ridges that cross:
in flat places vertices over triangles say it all, and better. Without this choice contacts push along the surfaces,
and a mesh would feel its own triangles.

What colliders are concerned, only their ridges and tips count: on their flat and smooth places the vertices of the
cloth say it all. Over a ridge, cloth may be flat: all its edges that cross it are contacts, as long as the triangles
there do not lean towards the ridge.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..kernels.numpy.minima import LEANING, SHARP
from ..row_ops import length
from .continuous import Pairs


class Primitives(Protocol):
    """What has triangles and edges."""

    @property
    def triangles(self) -> IntArray:
        """(T, 3)."""

    @property
    def edges(self) -> IntArray:
        """Of the triangles (E, 2), in lexicographic order."""


class Features:
    """Faces, edges and vertices of a surface of V vertices, T triangles and E edges, and their keys.

    Args:
        cloth: vertices from this number on are those of colliders; all are cloth's if not given.
        some: triangles (T,) that take part in contact; all if not given. Beside the others the surface ends.

    Attributes:
        table (T, 7): numbers of each triangle's features, by the feature codes of `distance`: faces first, then edges,
            then vertices. degree (T + E + V,): triangles of each. opposite (E, 2): vertices opposite each edge, -1 for
            none; of more than two, the first ones.
    """

    def __init__(self, surface: Primitives, vertex_count: int, *, cloth: int | None = None,
                 some: BoolArray | None = None) -> None:
        t, edges = surface.triangles, surface.edges
        self._vertices, self._edges = vertex_count, edges
        self._cloth = vertex_count if cloth is None else cloth
        self._neighbours, self._begin = _rings(edges[edges[:, 0] >= self._cloth], vertex_count)
        sides = np.sort(np.stack([t, np.roll(t, -1, axis=1)], axis=-1), axis=-1)             # (T, 3, 2)
        keys = edges[:, 0] * vertex_count + edges[:, 1]
        edge = np.searchsorted(keys, sides[:, :, 0] * vertex_count + sides[:, :, 1])
        self.table = np.concatenate([np.arange(len(t))[:, None], len(t) + edge, len(t) + len(edges) + t], axis=1)
        self.count = len(t) + len(edges) + vertex_count
        table, corner = self.table, np.roll(t, -2, axis=1)
        if some is not None:
            table, edge, corner = table[some], edge[some], corner[some]
        self.degree = np.bincount(table.ravel(), minlength=self.count)
        self.opposite = np.full((len(edges), 2), -1)
        flat, corner = edge.ravel(), corner.ravel()
        order = np.argsort(flat, kind="stable")
        rank = np.arange(len(flat)) - np.searchsorted(flat[order], flat[order])
        some = rank < 2
        self.opposite[flat[order][some], rank[some]] = corner[order][some]

    def keys(self, pairs: Pairs) -> IntArray:
        """A number for each pair (P,): of the vertex and the feature its closest point lies on, or of both edges."""
        keys: IntArray = current().minima.keys(pairs.primitives, pairs.weights, pairs.faces, self.table, self.count,
                                               len(self._edges), self._vertices)
        return keys

    def vertex_of(self, keys: IntArray) -> IntArray:
        """The vertices (P,) of pairs with triangles by their keys (P,); -1 of pairs of edges."""
        return np.where(keys < self._vertices * self.count, keys // self.count, -1)

    def minima(self, pairs: Pairs, x: FloatArray) -> IntArray:
        """Rows, ascending, of the pairs at whose closest points the distance has a minimum, each key once."""
        n = pairs.faces
        faces = current().minima.whole(self.keys(pairs)[:n], self.degree)
        faces = faces[self._tips(pairs, x, faces)]
        ridges = current().minima.ridges(pairs.vertices[n:], pairs.primitives[n:], pairs.weights[n:], pairs.normal[n:],
                                         self.opposite, x, self._cloth)
        return np.concatenate([faces, n + np.flatnonzero(ridges)])

    def _tips(self, pairs: Pairs, x: FloatArray, rows: IntArray) -> BoolArray:
        """Which of the rows, pairs with a triangle, have a vertex of cloth, or one of a collider that stands out."""
        result: BoolArray = np.ones(len(rows), dtype=np.bool_)
        solid = np.flatnonzero(pairs.vertices[rows, 0] >= self._cloth)
        if len(solid):
            vertex = pairs.vertices[rows[solid], 0]
            count = self._begin[vertex + 1] - self._begin[vertex]
            pair = np.repeat(np.arange(len(solid)), count)
            place = np.arange(len(pair)) - np.repeat(np.cumsum(count) - count, count) + self._begin[vertex][pair]
            away = x[self._neighbours[place]] - x[vertex[pair]]
            size = length(away)
            sine = np.einsum("ri,ri->r", away, pairs.normal[rows[solid[pair]]]) / np.where(size > 0.0, size, 1.0)
            lowest, highest = np.full(len(solid), np.inf), np.full(len(solid), -np.inf)
            np.minimum.at(lowest, pair, sine)
            np.maximum.at(highest, pair, sine)
            result[solid] = (lowest >= -LEANING) & (highest >= SHARP)
        return result


def _rings(edges: IntArray, vertex_count: int) -> tuple[IntArray, IntArray]:
    """Neighbours by edges (E, 2), vertex by vertex (2 E,), and where those of each begin (V + 1,)."""
    one, other = np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]])
    order = np.argsort(one, kind="stable")
    return other[order], np.searchsorted(one[order], np.arange(vertex_count + 1))
