# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth between surfaces of colliders that leave no room for it: which vertices, and what they do instead of contact.

Where two colliders, or two sheets of one that crosses itself, overlap, the constraints of a vertex between them
cannot all hold. It is *pinched*, and so is what is connected to it and has less room than both distances to keep.
Contact takes care of narrow places elsewhere. A pinched vertex remembers the two sheets as two triangles, one of each,
which are followed along the surfaces from step to step. With q_k and n_k the nearest places and their normals at the
end of the step, d_k the distances to keep and w the mean velocity of both places,

    a = (n_0 - n_1) / |n_0 - n_1|,      room r = a . (q_1 - q_0)

- r < d_0 + d_1: the vertex follows w, and goes to the middle between both sheets:
  impulse (PINCH_ALONG m (I - a a^T) + k a a^T)(w + a s - u), with s the speed towards the middle and k the larger of
  PINCH_ACROSS m and the inertia of the vertex in the step, its edges included: a diagonal spring may be as stiff as
  that (`pair_contacts`), and tension does not pull the vertex into one of the two;
- r above it, but the vertex is behind one of them: it is moved out of that one alone, to the side on which it was,
  impulse m PINCH_ACROSS n_k n_k^T (w_k + n_k s - u);
- in front of both: it is free, and contact as usual.

Baraff, Witkin and Kass 2003 ("Untangling cloth") let pinched cloth follow the mean motion of what holds it exactly.
Here it follows softly along the sheets, so that elasticity decides its shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import box, pick, unit
from .bvh import touching_boxes
from .containment import inside
from .pairs import Contacts
from .planes import MAX_PER_VERTEX
from .surfaces import StepSurfaces, Touching

PINCH_ALONG, PINCH_ACROSS = 1.0, 30.0
"""Impulses that take pinched cloth along with, and between, its sheets, over mass and velocity [-]: along a sheet it
lags by a step, across it is held like a contact."""
LEAST_OPPOSED = 0.2
"""Least opposition of the normals of two sheets that pinch, -1 times their cosine [-]."""
FAR_BESIDE = 1.0
"""Distance to the nearest place where both constraints hold, over the mean distance to keep, above which they count as
having none [-]: in a wedge it is near, at parallel sheets there is none."""
OUT_RATE = 12.0
"""Rate at which a pinched vertex approaches its place [1/s]: this share of its distance from there per second, and no
less than this number of distances to keep."""
FREE_HEIGHT = 0.2
"""Distance in front of a sheet from which a vertex counts as free, over the distance to keep [-]."""


@dataclass(frozen=True)
class Pinch:
    """Pinched vertices in one step.

    Attributes:
        between: (V, 2) the sheets of each vertex at the end of the step, as 1 + the number of a triangle of all
            colliders, negative behind a two-sided one; 0 for none.
        pinched: (V,) whether contact with colliders is off.
        vertex: (n,) those that follow something.
        blocks: (n, 3, 3) C [kg]; drive: (n, 3) p [N s], of the impulse p - C u.
    """

    between: IntArray
    pinched: BoolArray
    vertex: IntArray
    blocks: FloatArray
    drive: FloatArray

    def impulse(self, u: FloatArray) -> FloatArray:
        """Return the impulses (V, 3) [N s] at velocities u (V, 3) [m/s]."""
        result = np.zeros_like(u)
        result[self.vertex] = self.drive - np.einsum("nij,nj->ni", self.blocks, pick(u, self.vertex))
        return result

    def energy(self, u: FloatArray) -> float:
        """Return the potential of the impulses [J], but for a constant."""
        there = pick(u, self.vertex)
        return 0.5 * float(np.einsum("ni,nij,nj->", there, self.blocks, there)) - float(np.sum(self.drive * there))

    def diagonal(self, count: int) -> FloatArray:
        """Return what the impulses add to the matrix of `count` vertices (V, 3, 3) [kg]."""
        result = np.zeros((count, 3, 3))
        result[self.vertex] = self.blocks
        return result


def find_pinch(before: IntArray | None, x0: FloatArray, h: float, touching: Touching | None, surfaces: StepSurfaces,
               mass: FloatArray, inertia: Callable[[], FloatArray], free: BoolArray, edges: IntArray) -> Pinch | None:
    """Return the pinched vertices of a step of h [s] from x0 (V, 3) [m]; None if there are none.

    Args:
        before: `Pinch.between` of the step before; None if nothing was pinched.
        touching: contacts of the expected motion, None where there are none.
        surfaces: the colliders in this step.
        mass: (V,) [kg].
        inertia: returns how vertices resist to be moved in the step (V,) [kg]: mass, and h^2 times stiffness of edges.
        free: (V,) those that pins do not hold.
        edges: (E, 2) of the cloth.
    """
    if before is None and (touching is None or len(touching.contacts) == 0):
        return None
    between = np.zeros((len(x0), 2), dtype=np.int64) if before is None else before.copy()
    new = np.zeros(len(x0), dtype=np.bool_)
    if touching is not None and len(touching.contacts):
        _take_in_covered(between, free & (between[:, 0] == 0), touching, surfaces)
        known = between[:, 0] != 0
        _take_in(between, free & ~known, x0, touching, surfaces)
        new = (between[:, 0] != 0) & ~known
    rows = np.flatnonzero(between[:, 0] != 0)
    if len(rows) == 0:
        return None
    return _followed(between, rows, new[rows], x0, h, surfaces, mass, inertia(), edges)


def _take_in(between: IntArray, untracked: BoolArray, x0: FloatArray, touching: Touching, surfaces: StepSurfaces
             ) -> None:
    """Write the sheets of vertices to `between` (V, 2) of which two contacts cannot both hold nearby."""
    c, distance = touching.contacts, _whole_distance(touching.contacts, surfaces)
    for apart in range(1, MAX_PER_VERTEX):                           # those of a vertex lie side by side
        one = np.flatnonzero((c.vertex[apart:] == c.vertex[:-apart]) & untracked[c.vertex[apart:]])
        other = one + apart
        cosine = np.einsum("ni,ni->n", c.normal[one], c.normal[other])
        opposed = cosine < -LEAST_OPPOSED
        one, other, cosine = one[opposed], other[opposed], cosine[opposed]
        if len(one) == 0:
            continue
        vertex = c.vertex[one]
        drift = 0.5 * sum(c.point_t1[k] - c.point_t0[k] for k in (one, other))
        lack = [distance[k] - np.einsum("ni,ni->n", x0[vertex] + drift - c.point_t1[k], c.normal[k])
                for k in (one, other)]
        # the least motion y with n_k . y = lack_k: y = sum_k l_k n_k; both act if both l_k > 0
        free = np.maximum(1.0 - cosine ** 2, np.finfo(float).eps)
        first, second = (lack[0] - cosine * lack[1]) / free, (lack[1] - cosine * lack[0]) / free
        size = np.sqrt(np.maximum(first * lack[0] + second * lack[1], 0.0))
        mean = 0.5 * (distance[one] + distance[other])
        conflict = np.flatnonzero((first > 0.0) & (second > 0.0) & (size > FAR_BESIDE * mean))
        for k, rows in enumerate((one, other)):
            between[vertex[conflict], k] = _numbers(c, rows[conflict], surfaces)


def _take_in_covered(between: IntArray, untracked: BoolArray, touching: Touching, surfaces: StepSurfaces) -> None:
    """Write the sheets of vertices to `between` (V, 2) that start inside of a closed part and whose nearest way out of
    it leads into another one."""
    c, distance = touching.contacts, touching.distance
    rows = np.flatnonzero(untracked[c.vertex] & (c.gap_t0 + distance < 0.0))
    rows = rows[np.unique(c.vertex[rows], return_index=True)[1]]
    if len(rows) == 0:
        return
    out = c.point_t1[rows] + 0.1 * distance[rows, None] * c.normal[rows]
    nearest = np.full(len(rows), np.inf)
    cover = np.full(len(rows), -1)
    for number, surface in enumerate(surfaces.moving):
        shape = surface.shape
        within = np.flatnonzero(inside(out, surface.x_t1, shape.triangles, shape.closed, surface.tree_t1))
        if len(within) == 0:
            continue
        low, high = box(surface.x_t1)
        back = out[within] - float(np.linalg.norm(high - low)) * c.normal[rows[within]]
        pair = touching_boxes(surface.tree_t1, np.minimum(out[within], back), np.maximum(out[within], back))
        query, triangle = within[pair[:, 0]], pair[:, 1]
        length, hit = _along(out[query], -c.normal[rows[query]], surface.x_t1, shape.triangles[triangle])
        hit &= length < nearest[query]
        query, triangle, length = query[hit], triangle[hit], length[hit]
        order = np.lexsort((triangle, length, query))
        some, first = np.unique(query[order], return_index=True)
        nearest[some], cover[some] = length[order[first]], surfaces.places.first[number] + triangle[order[first]]
    done = np.flatnonzero(cover >= 0)
    vertex = c.vertex[rows[done]]
    between[vertex, 0], between[vertex, 1] = _numbers(c, rows[done], surfaces), 1 + cover[done]


def _along(origin: FloatArray, direction: FloatArray, x: FloatArray, triangles: IntArray
           ) -> tuple[FloatArray, BoolArray]:
    """Return the distances (N,) [m] at which rays leave triangles (N, 3) on x through their front, and whether they
    do."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    ab, ac, away = b - a, c - a, origin - a
    area = np.cross(ab, ac)
    rate = np.einsum("ni,ni->n", area, direction)
    out = rate > 0.0
    rate = np.where(out, rate, 1.0)
    length = -np.einsum("ni,ni->n", area, away) / rate
    turned = np.cross(away, direction)
    v, w = np.einsum("ni,ni->n", ac, turned) / rate, -np.einsum("ni,ni->n", ab, turned) / rate
    return length, out & (length > 0.0) & (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)


def _whole_distance(c: Contacts, surfaces: StepSurfaces) -> FloatArray:
    """Return the distance (C,) [m] that contacts keep where there is room for it."""
    extra = np.array([surface.thickness for surface in surfaces.moving])
    return np.asarray(surfaces.thickness[c.vertex] + extra[c.collider])


def _numbers(c: Contacts, rows: IntArray, surfaces: StepSurfaces) -> IntArray:
    """Return the triangles of contacts (n,) as they are remembered."""
    number, owner = 1 + surfaces.places.first[c.collider[rows]] + c.triangle[rows], c.collider[rows]
    for solid in np.unique(owner):
        surface, some = surfaces.moving[solid], np.flatnonzero(owner == solid)
        triangle = c.triangle[rows[some]]
        some, triangle = some[~surface.shape.closed[triangle]], triangle[~surface.shape.closed[triangle]]
        corner = [surface.x_t1[surface.shape.triangles[triangle, k]] for k in range(3)]
        area = np.cross(corner[1] - corner[0], corner[2] - corner[0])
        number[some] *= np.where(np.einsum("ni,ni->n", area, c.normal[rows[some]]) < 0.0, -1, 1)
    return np.asarray(number)


def _followed(between: IntArray, rows: IntArray, new: BoolArray, x0: FloatArray, h: float, surfaces: StepSurfaces,
              mass: FloatArray, inertia: FloatArray, edges: IntArray) -> Pinch | None:
    """Return the pinch of the vertices `rows` (n,) of which `between` (V, 2) says the sheets; `new` (n,): those that
    are pinched only if there is no room now."""
    start, m = x0[rows], mass[rows][:, None, None]
    firm = np.maximum(PINCH_ACROSS * m, inertia[rows][:, None, None])
    sheet = [_Sheet(between[rows, k], start, surfaces.thickness[rows], surfaces) for k in (0, 1)]
    mean = 0.5 * (sheet[0].way + sheet[1].way)
    for one in sheet:
        one.find(start + mean)
    a = unit(sheet[0].normal - sheet[1].normal)
    low, high = (np.einsum("ni,ni->n", a, one.point) for one in sheet)
    keep, cosine = sheet[0].keep + sheet[1].keep, np.einsum("ni,ni->n", sheet[0].normal, sheet[1].normal)
    room = np.where(cosine < -LEAST_OPPOSED, high - low, np.inf)
    room[new & (sheet[0].wrong | sheet[1].wrong)] = np.inf
    tight = room < np.where(new, 0.0, keep)
    for one in sheet:
        tight &= new | (one.height < keep)
    squeezed = _spread(tight, tight | new & (room < keep), rows, len(x0), edges)
    eye, along = np.eye(3), a[:, :, None] * a[:, None, :]
    blocks = np.where(squeezed[:, None, None], PINCH_ALONG * m * (eye - along) + firm * along, 0.0)
    lack = 0.5 * (low + high + sheet[0].keep - sheet[1].keep) - np.einsum("ni,ni->n", a, start + mean)
    impulse = np.einsum("nij,nj->ni", blocks, mean + a * _bounded(lack, 0.5 * keep, h)[:, None]) / h
    kept = squeezed.copy()
    for k, one in enumerate(sheet):
        between[rows, k] = one.number
        one.find(start + one.way)
        behind = ~squeezed & ~new & (one.height < FREE_HEIGHT * one.keep)
        kept |= behind
        wanted = np.minimum(one.keep, 0.5 * np.maximum(room, 0.0))
        n, push = one.normal, _bounded(wanted - one.height, one.keep, h)
        block = np.where(behind[:, None, None], PINCH_ACROSS * m * n[:, :, None] * n[:, None, :], 0.0)
        blocks += block
        impulse += np.einsum("nij,nj->ni", block, one.way + push[:, None] * n) / h
    between[rows[~kept]] = 0
    if not kept.any():
        return None
    pinched = np.zeros(len(x0), dtype=np.bool_)
    pinched[rows[kept]] = True
    blocks, impulse = blocks[kept], impulse[kept]
    return Pinch(between, pinched, rows[kept], blocks, impulse)


def _spread(some: BoolArray, allowed: BoolArray, rows: IntArray, count: int, edges: IntArray) -> BoolArray:
    """Return `some` of the vertices `rows` (n,), and those `allowed` (n,) that edges (E, 2) connect to them.

    `count`: of all vertices.
    """
    if not (allowed & ~some).any():
        return some
    there, may = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    there[rows[some]] = may[rows[allowed]] = True
    links = edges[may[edges[:, 0]] & may[edges[:, 1]]]
    while True:
        one = there[links]
        if (one[:, 0] == one[:, 1]).all():
            return there[rows]
        there[links[one.any(axis=1)]] = True


class _Sheet:
    """One of the two sheets of n pinched vertices, and the places on it.

    Args:
        number: (n,) as in `Pinch.between`, of the step before.
        start: (n, 3) positions of the vertices at the start [m].
        thickness: (n,) of the vertices [m].
        surfaces: the colliders in this step.

    Attributes:
        keep: (n,) distance to keep [m].
        way: (n, 3) motion of the surface at the vertices in the step [m].
        wrong: (n,) whether the vertex starts behind it and it has two sides: then nothing says which side was meant.
        number, point, normal, height: where `find` led: triangles, (n, 3) places [m] and normals at the end of the
            step, and how far in front of them the points are (n,) [m], negative behind them.
    """

    def __init__(self, number: IntArray, start: FloatArray, thickness: FloatArray, surfaces: StepSurfaces) -> None:
        moving, places = surfaces.moving, surfaces.places
        self._surfaces = surfaces
        self._side, triangle = np.sign(number), np.abs(number) - 1
        extra = np.array([surface.thickness for surface in moving])
        self.keep: FloatArray = thickness + extra[places.collider_of(triangle)]
        begin = places.follow(start, triangle, moving, end=False)
        self.way: FloatArray = places.carried(begin, moving) - begin.point
        self._begin = begin.triangle
        self.wrong: BoolArray = (begin.front != (self._side > 0)) & ~surfaces.places.closed[begin.triangle]

    def find(self, points: FloatArray) -> None:
        """Find the places nearest to points (n, 3) [m] at the end of the step."""
        found = self._surfaces.places.follow(points, self._begin, self._surfaces.moving, end=True)
        self.number: IntArray = self._side * (1 + found.triangle)
        self.point, self.normal = found.point, found.normal * self._side[:, None]
        away = points - found.point
        self.height: FloatArray = np.linalg.norm(away, axis=1) * np.where(found.front == (self._side > 0), 1.0, -1.0)


def _bounded(lack: FloatArray, keep: FloatArray, h: float) -> FloatArray:
    """Return the part of the distances `lack` (N,) [m] that is made up for in h [s]."""
    size = np.abs(lack)
    return np.sign(lack) * np.minimum(size, OUT_RATE * h * np.maximum(size, keep))
