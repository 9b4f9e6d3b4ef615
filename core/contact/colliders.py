# SPDX-License-Identifier: GPL-3.0-or-later
"""A collider's surface: what is fixed about it, and how it moves in one step.

`SurfaceShape` is made once from the triangles: which parts are closed, which way is out, which features (faces, edges,
vertices) triangles share, and the tree. `MovingSurface` is one step: positions at its start and end, with the tree
fitted around both.

A *part* is what hangs together through edges of exactly two triangles. A part is closed if all its edges are such and
its triangles can be wound alike; its winding is then turned so that its volume is positive, whatever the mesh's was:
normals of closed parts point out. Anything else, and a closed part that encloses nothing, is an open sheet with two
equal sides, and so is the wall of a room with cloth in it (see `rooms`). A hollow wall without any counts as filled:
the inner shell is a closed part of its own.
Vertices at the same place count as one here, so that a mesh cut along a seam is still closed.

On which side of a closed part a point lies, the pseudo-normal of the closest feature tells: the face normal, the sum of
both for an edge, the sum weighted by the angles for a vertex (Baerentzen and Aanaes 2005).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import unit
from .bvh import BVH, element_boxes
from .sides import Sides

EMPTY_VOLUME = 1e-9
"""Volume over area^(3/2) below which a closed part encloses nothing [-]. A plate has its thickness / (3 width)."""


@dataclass(frozen=True)
class SurfaceShape:
    """What does not change about a surface of V vertices and T triangles.

    Features are numbered: faces first, then edges, then vertices; F in all.

    Attributes:
        triangles (T, 3): closed parts wound so that normals point out.
        closed (T,): whether the triangle belongs to a closed part.
        part (T,): number of the triangle's part. inward (T,): whether it is closed and all of its faces pointed in.
        features (T, 7): number of each triangle's features, by the feature codes of `distance`.
        degree (F,): how many triangles share the feature.
        seams (S, 2): vertices at the same place, each with the first one there.
        tree: hierarchy over the triangles, fitted to the positions it was made from.
    """

    triangles: IntArray
    closed: BoolArray
    part: IntArray
    inward: BoolArray
    features: IntArray
    degree: IntArray
    seams: IntArray
    tree: BVH

    @staticmethod
    def build(positions: FloatArray, triangles: IntArray) -> SurfaceShape:
        """The shape of triangles (T, 3) on positions (V, 3) [m]."""
        count = len(triangles)
        _, first, place = np.unique(positions + 0.0, axis=0, return_index=True, return_inverse=True)
        place = place.reshape(-1)
        seams = np.stack([np.arange(len(positions)), first[place]], axis=1)
        welded = place[triangles]
        directed = np.stack([welded, np.roll(welded, -1, axis=1)], axis=-1).reshape(-1, 2)
        ends, edge = np.unique(np.sort(directed, axis=1), axis=0, return_inverse=True)
        edge = edge.reshape(count, 3)
        corners, corner = np.unique(welded, return_inverse=True)
        features = np.concatenate(
            [np.arange(count)[:, None], count + edge, count + len(ends) + corner.reshape(count, 3)], axis=1
        ).astype(np.int64)
        degree = np.bincount(features.ravel(), minlength=count + len(ends) + len(corners))

        part, flipped, closed = _parts(edge, directed[:, 0].reshape(count, 3) < directed[:, 1].reshape(count, 3))
        turned, closed = _outward(positions, triangles, part, flipped, closed)
        inward = closed & (np.bincount(part, ~turned, minlength=count)[part] == 0)
        triangles, features = _turned_round(triangles, features, turned)
        tree = BVH.build(*element_boxes(triangles, positions))
        return SurfaceShape(triangles, closed, part, inward, features, degree, seams[seams[:, 0] != seams[:, 1]], tree)

    def opened(self, walls: BoolArray) -> SurfaceShape:
        """The same with closed parts that count as open ones, all triangles of `walls` (T,), those that pointed in as
        they were."""
        triangles, features = _turned_round(self.triangles, self.features, walls & self.inward)
        return replace(self, triangles=triangles, features=features, closed=self.closed & ~walls,
                       inward=self.inward & ~walls)

    def between(self, x_t0: FloatArray, x_t1: FloatArray) -> tuple[SurfaceShape, BoolArray]:
        """The same for a step between positions x_t0 and x_t1 (V, 3) [m], and which triangles (T,) pointed in when it
        began. A closed part that was mirrored has all its faces inside out: they are turned round, to point out at the
        end. Where it is flat, on its way there, it has no inside and is open."""
        if not self.closed.any():
            return self, self.closed
        begins = self._side_out(x_t0)
        ends = begins if x_t1 is x_t0 else self._side_out(x_t1)
        whole = (begins != 0) & (ends != 0)
        turned, mirrored = self.closed & whole & (ends < 0), self.closed & whole & (begins != ends)
        if not turned.any() and whole[self.closed].all():
            return self, mirrored
        triangles, features = _turned_round(self.triangles, self.features, turned)
        return replace(self, triangles=triangles, features=features, closed=self.closed & whole), mirrored

    def _side_out(self, x: FloatArray) -> IntArray:
        """Of each triangle (T,), where its part has its outside at x (V, 3) [m]: 1 where normals point, -1 behind them,
        0 where it encloses nothing."""
        volume = _volumes(x, self.triangles, self.part)
        return np.where(_encloses(volume, x, self.triangles, self.part), np.sign(volume), 0.0).astype(np.int64)

    def normals(self, positions: FloatArray) -> FloatArray:
        """Pseudo-normals (F, 3) of all features, of length 1, or 0 where undefined."""
        corner = [positions[self.triangles[:, k]] for k in range(3)]
        along = [unit(corner[(k + 1) % 3] - corner[k]) for k in range(3)]
        face = unit(np.cross(along[0], along[1]))
        total = np.zeros((len(self.degree), 3))
        cosine = [np.clip(-(along[k] * along[k - 1]).sum(axis=1), -1.0, 1.0) for k in range(3)]
        weights = [np.ones(len(face))] * 4 + [np.arccos(c) for c in cosine]
        numbers, weight = self.features.T.ravel(), np.concatenate(weights)
        for axis in range(3):
            total[:, axis] = np.bincount(numbers, weight * np.tile(face[:, axis], 7), minlength=len(total))
        return unit(total)

    def moving(
        self, x_t0: FloatArray, x_t1: FloatArray, *, thickness: float = 0.0,
        before: MovingSurface | None = None
    ) -> MovingSurface:
        """The surface in a step from positions x_t0 to x_t1 (V, 3) [m]; `before`: in the step that ended at x_t0."""
        drift = (x_t1 - x_t0).mean(axis=0)
        tree = self.tree.around(self.triangles, x_t0 + drift if drift.any() else x_t0, x_t1)
        shape, mirrored = self.between(x_t0, x_t1)
        return MovingSurface(shape, x_t0, x_t1, thickness, drift, tree, mirrored, PseudoNormals(shape, x_t1),
                             None if before is None else before.end)


class PseudoNormals:
    """Pseudo-normals of a surface at positions x (V, 3) [m], found when they are first asked for."""

    def __init__(self, shape: SurfaceShape, x: FloatArray) -> None:
        self._shape, self._x = shape, x

    @cached_property
    def values(self) -> FloatArray:
        """(F, 3), see `SurfaceShape.normals`."""
        return self._shape.normals(self._x)


@dataclass(frozen=True)
class MovingSurface:
    """A surface during one step.

    Attributes:
        x_t0, x_t1 (V, 3) [m]: positions at the start and the end of the step.
        thickness [m]: distance kept from it, on top of the cloth's.
        drift (3,) [m]: mean motion. The tree is fitted around x_t0 + drift and x_t1, to keep its boxes small.
        mirrored (T,): triangles of closed parts that are turned inside out in the step, and point in at its start.
        end, start: pseudo-normals there; `start` is None where there was no step before.
    """

    shape: SurfaceShape
    x_t0: FloatArray
    x_t1: FloatArray
    thickness: float
    drift: FloatArray
    tree: BVH
    mirrored: BoolArray
    end: PseudoNormals
    start: PseudoNormals | None = None

    @cached_property
    def shape_t0(self) -> SurfaceShape:
        """The shape with normals that point out at the start."""
        if not self.mirrored.any():
            return self.shape
        triangles, features = _turned_round(self.shape.triangles, self.shape.features, self.mirrored)
        return replace(self.shape, triangles=triangles, features=features)

    @cached_property
    def normals_t0(self) -> FloatArray:
        """Pseudo-normals (F, 3) at the start."""
        if self.x_t0 is self.x_t1:
            return self.normals_t1
        return self.shape_t0.normals(self.x_t0) if self.start is None else self.start.values

    @property
    def normals_t1(self) -> FloatArray:
        """Pseudo-normals (F, 3) at the end."""
        return self.end.values

    @cached_property
    def tree_t1(self) -> BVH:
        """Tree around the end positions alone."""
        return self.tree if self.x_t0 is self.x_t1 else self.tree.around(self.shape.triangles, self.x_t1)

    @cached_property
    def sealed(self) -> bool:
        """Whether what is closed stays so all the way: vertices that were at the same place when the shape was made
        are so at the start and the end, and with that in between."""
        one, other = self.shape.seams.T
        return all(np.array_equal(x[one], x[other]) for x in (self.x_t0, self.x_t1))

    def inside_t0(self, points: FloatArray, clear: FloatArray) -> BoolArray:
        """Which points (Q, 3) [m] are inside closed parts at the start, as they are wound for the end, when the surface
        is at least `clear` (Q,) [m] away from them; a new array."""
        return self._sides_t0.within(points, clear, self.tree_t0)

    @cached_property
    def _sides_t0(self) -> Sides:
        """Kept as long as the surface rests: it is the same object in all these steps."""
        return Sides(self.x_t0, self.shape.triangles, self.shape.closed)

    @cached_property
    def tree_t0(self) -> BVH:
        """Tree around the start positions alone."""
        return self.tree if self.x_t0 is self.x_t1 else self.tree.around(self.shape.triangles, self.x_t0)


def axes_of(corners: FloatArray) -> FloatArray:
    """Orthonormal axes (n, 3, 3), as rows, that triangles (n, 3, 3) [m] take along when they move and turn."""
    first = corners[:, 1] - corners[:, 0]
    normal = np.cross(first, corners[:, 2] - corners[:, 0])
    axes = np.stack([first, np.cross(normal, first), normal], axis=1)
    size = np.linalg.norm(axes, axis=2, keepdims=True)
    axes /= np.where(size > 0.0, size, 1.0)
    return axes


def _turned_round(triangles: IntArray, features: IntArray, which: BoolArray) -> tuple[IntArray, IntArray]:
    """Triangles (T, 3) and their features (T, 7), some wound the other way: corners (a, b, c) become (c, b, a)."""
    reversed_codes = [0, 2, 1, 3, 6, 5, 4]
    return (np.where(which[:, None], triangles[:, ::-1], triangles),
            np.where(which[:, None], features[:, reversed_codes], features))


def _parts(edge: IntArray, upward: BoolArray) -> tuple[IntArray, BoolArray, BoolArray]:
    """Part (T,), whether its winding differs from its part's first triangle (T,), whether its part is closed (T,).

    edge (T, 3): number of the edge at each side; upward (T, 3): whether the side runs from its smaller vertex.
    Each triangle takes over the smallest key of its neighbours, 2 part + flipped, until nothing changes.
    """
    count = len(edge)
    sides = edge.ravel()
    order = np.argsort(sides, kind="stable")
    twice = np.bincount(sides)[sides[order]] == 2
    pairs = order[twice].reshape(-1, 2)                               # the two sides of every edge of two triangles
    neighbour = np.repeat(np.arange(count), 3)
    neighbour[pairs[:, 0]], neighbour[pairs[:, 1]] = pairs[:, 1] // 3, pairs[:, 0] // 3
    unlike = np.zeros(3 * count, dtype=np.int64)
    run = upward.ravel()
    unlike[pairs] = (run[pairs[:, 0]] == run[pairs[:, 1]])[:, None]
    neighbour, unlike = neighbour.reshape(count, 3), unlike.reshape(count, 3)

    key = 2 * np.arange(count)
    while True:
        nearest = np.minimum(key, (key[neighbour] ^ unlike).min(axis=1))
        if (nearest == key).all():
            break
        key = nearest
    part, flipped = key // 2, key % 2 == 1
    whole = np.zeros(3 * count, dtype=bool)
    whole[pairs] = True
    sound = whole.reshape(count, 3) & (key[:, None] == key[neighbour] ^ unlike)
    return part, flipped, np.bincount(part, ~sound.all(axis=1), minlength=count)[part] == 0


def _outward(
    x: FloatArray, triangles: IntArray, part: IntArray, flipped: BoolArray, closed: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """Triangles to turn round for a positive volume of each closed part (T,), and `closed` without empty parts."""
    volume = _volumes(x, triangles, part, np.where(flipped, -1.0, 1.0))
    closed = closed & _encloses(volume, x, triangles, part)
    return closed & (flipped != (volume < 0.0)), closed


def _volumes(x: FloatArray, triangles: IntArray, part: IntArray, facing: FloatArray | float = 1.0) -> FloatArray:
    """Volume of each triangle's part (T,) [m^3], above 0 where normals times `facing` (T,) point out."""
    centre = x[triangles].mean(axis=1)
    count = np.bincount(part)
    middle = np.stack([np.bincount(part, centre[:, axis]) for axis in range(3)], axis=1)
    a, b, c = (x[triangles[:, k]] - (middle / np.maximum(count, 1)[:, None])[part] for k in range(3))
    swept = (a * np.cross(b, c)).sum(axis=1) * facing
    return np.asarray(np.bincount(part, swept)[part] / 6.0)


def _encloses(volume: FloatArray, x: FloatArray, triangles: IntArray, part: IntArray) -> BoolArray:
    """Whether the volume of each triangle's part (T,) [m^3] is more than rounding."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    area = np.bincount(part, np.linalg.norm(np.cross(b - a, c - a), axis=1))[part] / 2.0
    result: BoolArray = np.abs(volume) > EMPTY_VOLUME * area**1.5
    return result
