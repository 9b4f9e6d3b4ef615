# SPDX-License-Identifier: GPL-3.0-or-later
"""The surface that encloses the gas of cloths: their triangles, turned so that all of a piece face outwards.

A piece is a connected set of triangles; vertices that seams join count as one, at the mean of their positions, so that
sewn panels are one closed piece. All triangles of a piece are turned to one side across their edges. A closed piece
faces the side to which its volume is positive, an open one that of most of its area.

An open piece is closed by lids, cones from its boundary edges to the middle of each boundary. They count for the
volume alone; there is no pressure on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import SINGLE_PRECISION, BoolArray, FloatArray, IntArray
from ..description.cloth import Cloth
from ..description.topology import bodies
from ..kernels import current
from ..kernels.layouts import HalfEdges
from ..stencils.stencil import Stencil


@dataclass(frozen=True)
class Weld:
    """Vertices that seams join.

    Attributes:
        vertices: (m,) joined vertices.
        places: (m,) the vertex that stands for each of them.
        share: (m,) one over the number of vertices at that place [-].
    """

    vertices: IntArray
    places: IntArray
    share: FloatArray

    def positions(self, x: FloatArray) -> FloatArray:
        """Return x (V, 3) with the mean of the joined vertices at their places."""
        if len(self.vertices) == 0:
            return x
        result = x.copy()
        result[self.places] = 0.0
        np.add.at(result, self.places, self.share[:, None] * x[self.vertices])
        return result

    def spread(self, f: FloatArray) -> FloatArray:
        """Return f (V, 3) with the forces at the places shared among the joined vertices: the transpose of
        `positions`."""
        if len(self.vertices):
            f[self.vertices] = self.share[:, None] * f[self.places]
        return f


@dataclass(frozen=True)
class Fans:
    """Half-edges of closed pieces, each of which has a twin in the opposite direction.

    Attributes:
        half_edges: of all vertices.
        opposite: (H, 2) the vertex opposite each half-edge, and that opposite its twin.
        piece: (H,) of each.
    """

    half_edges: HalfEdges
    opposite: IntArray
    piece: IntArray

    @staticmethod
    def of(triangles: IntArray, piece: IntArray, count: int) -> Fans:
        """Return those of closed pieces of triangles (T, 3), of `count` vertices in all; piece (T,)."""
        starts, ends, opposite = (np.roll(triangles, -turn, axis=1).ravel() for turn in range(3))
        order, twin = np.lexsort((ends, starts)), np.lexsort((starts, ends))
        first: IntArray = np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=count))])
        return Fans(HalfEdges(first, ends[order].astype(np.int32)),
                    np.stack([opposite[order], opposite[twin]], axis=1), np.repeat(piece, 3)[order])


@dataclass(frozen=True)
class GasSurface:
    """The triangles of all cloths with pressure, piece by piece.

    Attributes:
        stencil: the triangles (T, 3) with a third of each corner.
        weights: (T,) part of the pressure that acts [-].
        piece: (T,) piece of each triangle, ascending.
        cloth: (P,) cloth of each piece.
        closed: (P,) whether a piece has no boundary and the whole pressure acts on it.
        anchor: (P,) a vertex of each piece.
        rims: (L, 2) boundary edges, in the direction that closes the piece.
        rim_loop: (L,) boundary of each.
        rim_piece: (L,) piece of each.
        weld: vertices that seams join.
    """

    stencil: Stencil
    weights: FloatArray
    piece: IntArray
    cloth: IntArray
    closed: BoolArray
    anchor: IntArray
    rims: IntArray
    rim_loop: IntArray
    rim_piece: IntArray
    weld: Weld

    @property
    def triangles(self) -> IntArray:
        """Return the triangles (T, 3)."""
        return self.stencil.vertices

    @staticmethod
    def of(cloths: Sequence[Cloth], slices: Sequence[slice], start: FloatArray) -> GasSurface | None:
        """Return the surface of the cloths with pressure, whose vertices are the ranges `slices` of all at start
        (V, 3) [m]; None without any triangle."""
        parts = [(number, cloth, span.start) for number, (cloth, span) in enumerate(zip(cloths, slices, strict=True))
                 if cloth.pressure is not None and len(cloth.mesh.triangles)]
        if not parts:
            return None
        weld = _weld(np.concatenate([cloth.seams + first for _, cloth, first in parts]), len(start))
        place = np.arange(len(start))
        place[weld.vertices] = weld.places
        triangles = place[np.concatenate([cloth.mesh.triangles + first for _, cloth, first in parts])]
        owner = np.repeat([number for number, _, _ in parts], [len(cloth.mesh.triangles) for _, cloth, _ in parts])
        weights = np.concatenate([_weights(cloth) for _, cloth, _ in parts])
        label = bodies(triangles[:, [0, 1, 1, 2]].reshape(-1, 2), len(start))[triangles[:, 0]]
        first, piece = np.unique(label, return_index=True, return_inverse=True)[1:]
        order = np.argsort(piece.reshape(-1), kind="stable")
        return _turned(triangles[order], weights[order], piece.reshape(-1)[order], owner[first], weld, start)

    def lids(self, x: FloatArray) -> FloatArray:
        """Return the middle (L, 3) [m] of the boundary of each rim, at welded positions x (V, 3) [m]."""
        count = np.bincount(self.rim_loop)
        middle = np.stack([np.bincount(self.rim_loop, axis) / count for axis in x[self.rims[:, 0]].T], axis=1)
        lids: FloatArray = middle[self.rim_loop]
        return lids

    def volumes(self, x: FloatArray, N: FloatArray) -> FloatArray:
        """Return the volumes (P,) [m^3] at welded positions x (V, 3) [m], where the triangles have the area vectors
        N (T, 3) [m^2]."""
        origin, count = x[self.anchor], len(self.anchor)
        cones = current().area_vectors.cone_volumes(self.triangles, origin, self.piece, x, N)
        volume: FloatArray = np.bincount(self.piece, cones, count).astype(np.float64)
        if len(self.rims):
            at = origin[self.rim_piece]
            i, j = x[self.rims[:, 0]] - at, x[self.rims[:, 1]] - at
            closing = np.einsum("li,li->l", np.cross(i, j), self.lids(x) - at)
            volume = volume + np.bincount(self.rim_piece, closing, count) / 6.0
        return volume


def _weights(cloth: Cloth) -> FloatArray:
    """Return the part of the pressure that acts on each triangle (T,) [-]."""
    assert cloth.pressure is not None
    corners = cloth.pressure.checked_weights(len(cloth.positions), cloth.name)[cloth.mesh.triangles]
    return np.where(corners.min(axis=1) > 0.0, corners.mean(axis=1), 0.0)


def _weld(seams: IntArray, count: int) -> Weld:
    """Return the vertices that seams (S, 2) join, of `count` vertices."""
    label = bodies(seams, count)
    sizes = np.bincount(label, minlength=1)
    vertices = np.flatnonzero(sizes[label] > 1)
    firsts = np.unique(label, return_index=True)[1]
    return Weld(vertices, firsts[label[vertices]], 1.0 / sizes[label[vertices]])


def _turned(triangles: IntArray, weights: FloatArray, piece: IntArray, cloth: IntArray, weld: Weld,
            start: FloatArray) -> GasSurface:
    """Return the surface of triangles (T, 3) with their pieces (T,), each piece turned outwards."""
    x, count = weld.positions(start), len(cloth)
    away = _to_one_side(triangles)
    area = np.linalg.norm(current().area_vectors.area_vectors(triangles, x), axis=1)
    most = np.bincount(piece, np.where(away, area, -area), count) > 0.0
    triangles = _reversed(triangles, away ^ most[piece])

    def made() -> GasSurface:
        rims = _rims(triangles)
        anchor = triangles[np.searchsorted(piece, np.arange(count)), 0]
        rim_piece = piece[rims // 3]
        edges = np.stack([triangles.ravel()[rims], np.roll(triangles, -1, axis=1).ravel()[rims]], axis=1)
        loop = np.unique(bodies(edges, len(start))[edges[:, 0]], return_inverse=True)[1].reshape(-1)
        closed = (np.bincount(rim_piece, minlength=count) == 0) & (np.bincount(piece, weights != 1.0, count) == 0.0)
        stencil = Stencil(triangles, np.full((len(triangles), 3, 1), 1.0 / 3.0), held=True)
        return GasSurface(stencil, weights, piece, cloth, closed, anchor, edges[:, ::-1], loop, rim_piece, weld)

    surface = made()
    volumes = surface.volumes(x, current().area_vectors.area_vectors(triangles, x))
    inside_out = surface.closed & (volumes < -SINGLE_PRECISION * np.bincount(piece, area, count) ** 1.5)
    if inside_out.any():
        triangles = _reversed(triangles, inside_out[piece])
        surface = made()
    return surface


def _reversed(triangles: IntArray, which: BoolArray) -> IntArray:
    """Return triangles (T, 3) with the winding of those in `which` (T,) reversed."""
    return np.where(which[:, None], triangles[:, [0, 2, 1]], triangles)


def _edges(triangles: IntArray) -> tuple[IntArray, BoolArray, IntArray, IntArray]:
    """Return the corners (3 T,) ordered by the edges that begin there, whether each edge goes from the smaller vertex
    to the larger one, and where each edge's corners start, and their number."""
    begin, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    key = np.minimum(begin, end) * (int(triangles.max()) + 1) + np.maximum(begin, end)
    order = np.argsort(key, kind="stable")
    starts, sizes = np.unique(key[order], return_index=True, return_counts=True)[1:]
    return order, (begin < end)[order], starts, sizes


def _to_one_side(triangles: IntArray) -> BoolArray:
    """Return which triangles (T,) to reverse so that neighbours across the edges of two triangles face one side.

    Surfaces with one side only, as of a Moebius strip, stay as they are.
    """
    order, up, starts, sizes = _edges(triangles)
    first = starts[sizes == 2]
    one, two, same = order[first] // 3, order[first + 1] // 3, up[first] == up[first + 1]
    if not same.any():
        return np.zeros(len(triangles), dtype=np.bool_)
    # two nodes for each triangle, as it is and reversed
    joined = np.concatenate([np.stack([2 * one + side, 2 * two + (side ^ same)], axis=1) for side in (0, 1)])
    label = bodies(joined, 2 * len(triangles)).reshape(-1, 2)
    return label[:, 1] < label[:, 0]


def _rims(triangles: IntArray) -> IntArray:
    """Return the corners (L,) at which edges begin that no other triangle passes in the opposite direction."""
    order, up, starts, sizes = _edges(triangles)
    edge = np.repeat(np.arange(len(starts)), sizes)
    ups, downs = np.bincount(edge, up), np.bincount(edge, ~up)
    rank = np.empty(len(order))                                        # of each corner among those of its direction
    for direction in (up, ~up):
        running = np.cumsum(direction)
        rank[direction] = (running - (running - direction)[starts][edge])[direction]
    beyond = rank > np.where(up, downs[edge], ups[edge])
    real = triangles.ravel() != np.roll(triangles, -1, axis=1).ravel()       # seams may close a side of a triangle
    found: IntArray = order[beyond & real[order]]
    return found
