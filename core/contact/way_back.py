# SPDX-License-Identifier: GPL-3.0-or-later
"""Which part of what a contour of crossings parts goes back through, and in which direction.

A sheet that stands through the middle of a wider one is parted by the contour. Its smaller part is to go back, as one,
along the mean of the wider one's normals. That asks of all crossings of a part to agree about the direction: of a sheet
through the middle of a ball, the patch inside would have to go to all sides at once, along the normals around it. The
cap of the ball, though, goes back through the sheet as one. So of both smaller parts that goes which knows where to; if
both do, or neither does, the smaller one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import bodies
from ..row_ops import all_of, any_of, unit
from .piercing import Piercings

AGREEING_DIRECTIONS = 0.5
"""Length of the mean of the directions in which the crossings of a part would have it go, from which on they agree
[-]."""


@dataclass(frozen=True)
class WayBack:
    """How each of N piercings is undone by what has been parted.

    Attributes:
        of_edge (N,): whether a part of the edge's surface goes back, otherwise one of the triangle's.
        sure (N,): whether that is parted, and its crossings agree about its direction.
        direction (N, 3): unit vectors along which the edge is to be moved against the triangle; 0 where nothing is
            parted.
        back (N,): a vertex of the edge or the triangle that goes back; -1 where nothing is parted.
        depth (N,): how far the part that goes back is beyond the contour, along its direction [m]; 0 unless `sure`.
        part (V,): the part that each vertex of the surface belongs to.
    """

    of_edge: BoolArray
    sure: BoolArray
    direction: FloatArray
    back: IntArray
    depth: FloatArray
    part: IntArray

    def __getitem__(self, rows: IntArray | BoolArray) -> WayBack:
        """Return the ways back of some of the piercings."""
        return WayBack(self.of_edge[rows], self.sure[rows], self.direction[rows], self.back[rows], self.depth[rows],
                       self.part)

    @classmethod
    def of(cls, pierced: Piercings, edges: IntArray, x: FloatArray, held: BoolArray) -> WayBack:
        """For a surface of edges (E, 2) at x (V, 3) [m]; what has a vertex that is `held` (V,) is larger than what has
        none."""
        part, size = _parts(pierced, edges, x, held)
        order = np.empty(len(x), dtype=np.int64)
        order[np.lexsort((part, size))] = np.arange(len(x))                    # of two of one size, one is the smaller
        unwilling = 2.0 * size.max(initial=0.0)
        whose, cost, direction, vertex = [], [], [], []
        for vertices, normal in ((pierced.ends, pierced.area), (pierced.corners, pierced.across)):
            row, orders = np.arange(len(vertices)), order[vertices]
            smaller, larger = (vertices[row, least(orders, axis=1)] for least in (np.argmin, np.argmax))
            side = np.sign(((x[larger] - x[smaller]) * normal).sum(axis=1))
            parted = part[smaller] != part[larger]
            direction.append(np.where(parted, side, 0.0)[:, None] * normal)
            cost.append(np.where(parted, size[smaller], np.inf))
            whose.append(part[smaller])
            vertex.append(np.where(parted, smaller, -1))
        total, count = np.zeros((len(x), 3)), np.zeros(len(x))
        for k in range(2):
            np.add.at(total, whose[k], direction[k])
            np.add.at(count, whose[k], np.isfinite(cost[k]))
        agreed, mean = np.linalg.norm(total, axis=1) >= AGREEING_DIRECTIONS * np.maximum(count, 1.0), unit(total)
        for k in range(2):
            as_one = agreed[whose[k]]
            direction[k] = np.where((as_one & np.isfinite(cost[k]))[:, None], mean[whose[k]], direction[k])
            cost[k] += np.where(as_one, 0.0, unwilling)
        of_edge = cost[0] <= cost[1]
        sure = agreed[np.where(of_edge, *whose)] & np.isfinite(np.minimum(*cost))
        back: IntArray = np.where(of_edge, vertex[0], vertex[1])
        depth = np.zeros(len(sure))
        depth[sure] = _depth(part, part[back[sure]], mean, pierced.place[sure], x)
        return cls(of_edge, sure, np.where(of_edge[:, None], direction[0], -direction[1]), back, depth, part)


def _depth(part: IntArray, going: IntArray, mean: FloatArray, place: FloatArray, x: FloatArray) -> FloatArray:
    """Return how far the parts `going` (N,) back are beyond the contour, along their directions `mean` (V, 3) [m]
    (N,): the largest height of their piercings at `place` (N, 3) [m] above their lowest vertex. Vertices x (V, 3) [m]
    are of `part` (V,)."""
    lowest, highest = np.full(len(x), np.inf), np.full(len(x), -np.inf)
    np.minimum.at(lowest, part, np.einsum("vi,vi->v", x, mean[part]))
    np.maximum.at(highest, going, np.einsum("ni,ni->n", place, mean[going]))
    return np.maximum(highest[going] - lowest[going], 0.0)


def passing(pierced: Piercings, way: WayBack, solid: BoolArray, within: BoolArray, held: BoolArray) -> BoolArray:
    """Return which vertices (V + W,) of colliders, `solid` (V + W,), belong to a part of one that goes back through
    cloth, by most of its piercings, or to its contour; and which vertices of cloth to that contour.

    It came through the cloth where colliders left no room. Contact would hold it there. All other cloth keeps its
    contact with that part: in an armpit it may be a patch of the torso, and cloth beside the contour would fall into it
    as into a hole. Cloth that pins hold, `held` (V + W,), inside of a collider, `within` (V + W,), stays crossed.
    """
    pinned = within & (np.bincount(way.part, held, len(solid)) > 0.0)[way.part]
    of_solid = way.sure & solid[np.maximum(way.back, 0)] & ~any_of(pinned[pierced.vertices])
    row, corner = np.nonzero(solid[pierced.vertices])
    vertex = pierced.vertices[row, corner]
    place = way.part[vertex]
    mine = of_solid[row] & (place == way.part[np.maximum(way.back, 0)][row])
    for_it = np.bincount(place[mine], minlength=len(solid))
    against = np.bincount(place[~of_solid[row]], minlength=len(solid))
    result: BoolArray = solid & (for_it > against)[way.part]
    around = of_solid & result[np.maximum(way.back, 0)]
    result[vertex[around[row]]] = True
    cloth = pierced.vertices[around]
    result[cloth[~solid[cloth]]] = True
    return result


def _parts(pierced: Piercings, edges: IntArray, x: FloatArray, held: BoolArray) -> tuple[IntArray, FloatArray]:
    """Which part of what the contour parts each vertex belongs to (V,), and how large that is, in squares of lengths
    of edges (V,) [m^2]: as areas, but threads have some."""
    whole = np.ones(len(edges), dtype=np.bool_)
    whole[pierced.edge] = False
    part = bodies(edges[whole], len(x))
    share = np.full(len(edges), 0.5)
    share[pierced.edge] = pierced.share
    squares = np.stack([share, 1.0 - share], axis=1)
    squares *= ((x[edges[:, 1]] - x[edges[:, 0]])**2).sum(axis=1)[:, None]
    extent = np.bincount(part[edges].ravel(), weights=squares.ravel(), minlength=len(x))
    fixed = np.bincount(part, weights=held, minlength=len(x)) > 0.0
    return part, (extent + fixed * extent.sum())[part]


def left_by_solids(pierced: Piercings, way: WayBack, edges: IntArray, swallowed: BoolArray, cloth: BoolArray,
                   pinned: BoolArray) -> BoolArray:
    """Which vertices of `cloth` (V + W,) colliders are to leave, because a part of one goes back through them: patches,
    connected by edges (E, 2), of those that are `swallowed` (V + W,), inside of closed colliders, if most of their
    piercings are undone so, and those around the contour. Not by what pins hold cloth in: `pinned` piercings (N,).

    To put out each vertex by itself, to where the surface is nearest, would pull such a patch to several sides; and
    those around it would be held where they are. A thorn that pierces triangles, and no edge of cloth pierces it, may
    keep what is near.
    """
    patch = bodies(edges[swallowed[edges].all(axis=1)], len(swallowed))
    vertices, of_cloth = pierced.vertices, cloth[pierced.ends[:, 0]]
    leaves = way.sure & (way.of_edge != of_cloth) & ~pinned
    row, corner = np.nonzero(swallowed[vertices])
    place = patch[vertices[row, corner]]
    of_all = np.bincount(place, minlength=len(swallowed))
    leaving = np.bincount(place, weights=leaves[row], minlength=len(swallowed))
    left = swallowed & (2.0 * leaving > of_all)[patch]
    around = np.zeros_like(left)
    around[vertices[leaves & (of_cloth | any_of(left[vertices]))]] = True
    return left | around & ~swallowed & cloth


def through_open(pierced: Piercings, way: WayBack, count: int, is_open: BoolArray) -> BoolArray:
    """Which of the `count` vertices of cloth (V,) colliders are to leave because they go back through what has two
    sides: `is_open` (W,), which vertices of colliders are of that. Where nothing is parted, all around.

    Nobody is inside there, and each would be held on the side that it is on: cloth whose hem starts below a floor had
    it below for good. What is to stay on its side is still held there, or a solid that pinches it would push it after.
    """
    vertices = pierced.vertices
    solid = vertices >= count
    open_ = all_of(~solid | is_open[np.maximum(vertices - count, 0)])
    result = np.zeros(count, dtype=np.bool_)
    for some in (way.back[open_ & (way.back >= 0)], vertices[open_ & (way.back < 0)]):
        result[some[some < count]] = True
    return result
