# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges at which a mesh is split, so that it can tear there: two borders at one place, joined until they tear.

A split mesh has all vertices that any tear may need from the start, so that every frame has the same number of them.
While an edge is whole, the ends of its two sides are joined pairwise: both are one vertex of the simulation, the one
with the smallest number. A vertex therefore comes apart where torn edges and borders divide the faces around it into
several fans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, index_rows
from ..errors import MeshError
from .topology import bodies


@dataclass(frozen=True)
class SplitEdges:
    """The W edges of a mesh of V vertices that may tear.

    Attributes:
        ends: (W, 2, 2) vertices: the two ends, at the same places, of side 0 and of side 1.
        corners: (W, 2) corner opposite the edge on each side, as 3 t + i for corner i of triangle t.
        always: (N, 2) vertices that are joined for good: sides of edges that more than two faces share.
        vertex_count: V.
    """

    ends: IntArray
    corners: IntArray
    always: IntArray
    vertex_count: int

    @staticmethod
    def of(positions: FloatArray, triangles: IntArray) -> SplitEdges:
        """Return the edges of triangles (T, 3) that borders at one place make, vertices at rest at positions (V, 3).
        """
        n = len(positions)
        _, place = np.unique(positions, axis=0, return_inverse=True)
        place = place.ravel()
        first, second = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
        opposite = np.arange(len(first)) // 3 * 3 + (np.arange(len(first)) + 2) % 3
        _, at, count = np.unique(np.minimum(first, second) * n + np.maximum(first, second), return_inverse=True,
                                 return_counts=True)
        border = np.flatnonzero(count[at.ravel()] == 1)
        a, b = first[border], second[border]
        swapped = place[a] > place[b]
        a, b = np.where(swapped, b, a), np.where(swapped, a, b)
        keys = place[a] * n + place[b]
        order = np.argsort(keys, kind="stable")
        a, b, border, keys = a[order], b[order], border[order], keys[order]
        _, start, number = np.unique(keys, return_index=True, return_counts=True)
        pair = start[number == 2]
        ends = np.stack([np.stack([a[pair], b[pair]], axis=1), np.stack([a[pair + 1], b[pair + 1]], axis=1)], axis=1)
        many = np.repeat(number, number) > 2
        head = np.repeat(start, number)[many]
        always = np.concatenate([np.stack([a[head], a[many]], axis=1), np.stack([b[head], b[many]], axis=1)])
        return SplitEdges(ends, np.stack([opposite[border[pair]], opposite[border[pair + 1]]], axis=1),
                          always[always[:, 0] != always[:, 1]], n)

    def __len__(self) -> int:
        return len(self.ends)

    def joined(self, torn: BoolArray) -> IntArray:
        """Return the vertex of the simulation that each vertex (V,) is, while the edges `torn` (W,) have torn."""
        whole = self.ends[~torn]
        links = np.concatenate([whole[:, :, 0], whole[:, :, 1], self.always])
        component = bodies(links, self.vertex_count)
        first: IntArray = np.unique(component, return_index=True)[1]
        return first[component]


def split_faces(faces: Sequence[Sequence[int]], edges: object = None) -> tuple[list[list[int]], IntArray]:
    """Split a mesh along edges, for a cloth that can tear there.

    Args:
        faces: vertex numbers of each face.
        edges: (E, 2) edges along which it is split; all of them if not given.

    Returns:
        The faces with further vertices, and for each vertex (V',) the number of the one that it is a copy of: its
        position, uv and weights are those of that one. The first copy of each vertex keeps its number.

    Raises:
        MeshError: the edges are no pairs of vertex numbers.
    """
    rings = [[int(v) for v in face] for face in faces]
    corner = np.array([v for ring in rings for v in ring], dtype=np.int64)
    sizes = np.array([len(ring) for ring in rings], dtype=np.int64)
    start = np.repeat(np.cumsum(sizes) - sizes, sizes)
    here = np.arange(len(corner))
    following = start + (here - start + 1) % np.repeat(sizes, sizes)
    n = int(corner.max(initial=-1)) + 1
    low, high = np.minimum(corner, corner[following]), np.maximum(corner, corner[following])
    keys = low * n + high
    if edges is None:
        kept = np.zeros(len(keys), dtype=np.bool_)
    else:
        try:
            cut = np.sort(index_rows(edges, 2), axis=1)
        except ValueError as error:
            raise MeshError(f"edges: {error}; give pairs of vertex numbers, or None for all edges") from None
        kept = ~np.isin(keys, cut[:, 0] * n + cut[:, 1])
    # the corners of one vertex on both sides of an edge that is kept are one vertex
    side = np.flatnonzero(kept)
    order = side[np.argsort(keys[side], kind="stable")]
    same = keys[order[1:]] == keys[order[:-1]]
    one, other = order[:-1][same], order[1:][same]
    turned = corner[one] != corner[other]
    links = np.concatenate([np.stack([one, np.where(turned, following[other], other)], axis=1),
                            np.stack([following[one], np.where(turned, other, following[other])], axis=1)])
    fan = bodies(links, len(corner))
    first = np.unique(fan, return_index=True)[1]                            # corner at which each fan begins
    of_fan = corner[first]
    is_first = np.zeros(len(first), dtype=np.bool_)
    is_first[np.unique(of_fan, return_index=True)[1]] = True
    number = np.where(is_first, of_fan, 0)
    number[~is_first] = n + np.arange(int((~is_first).sum()))
    origin: IntArray = np.concatenate([np.arange(n), of_fan[~is_first]])
    flat = number[fan].tolist()
    bounds = np.cumsum([0, *sizes]).tolist()
    return [flat[a:b] for a, b in zip(bounds[:-1], bounds[1:], strict=True)], origin
