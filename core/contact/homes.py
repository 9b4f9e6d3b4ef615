# SPDX-License-Identifier: GPL-3.0-or-later
"""Homes of cloth: where on colliders each vertex was last in front of them, on the side on which the cloth is worn.

A home is a place of a collider's material, so that it moves with the body. It is noted at every step from contacts, of
vertices that no collider has crossed, and spreads to neighbours that touch nothing. From then on it moves along the
surface, and not to what comes in between, such as a hand below a collar: only cloth that has left it by more than an
edge, or is worn at its other side, finds another one. Homes of what has been crossed come along with those of their
neighbours where the cloth between is too short. Skin that another part of the body hides at the start is no home
(`hidden_skin`). Where contacts of a vertex face each other, as between an arm and the torso, it keeps the home that it
has: which of both it comes back to does not change while it is between them. For the same reason a sheet has its homes
at one of its sides: that at which most of its contacts are. A sleeve is worn on an arm, though it touches the torso,
too. Threads have no sides. Where cloth starts in a collider, or through one, the largest part outside has homes. The
rest is *foreign* until it has come to the others: at the other side of a floor is no home.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import bodies
from ..row_ops import all_of, any_of, length, pick, unit
from ..state import Homes
from .planes import MAX_PER_VERTEX
from .surface_places import LEAST_ALIKE
from .surfaces import StepSurfaces, Touching
from .vertex_normals import area_vectors, vertex_normals

LEAST_OPPOSED = 0.2
"""Least opposition of the normals of two contacts that face each other, -1 times their cosine [-]."""


@dataclass(frozen=True)
class HomePlaces:
    """Where homes of n vertices are in a step.

    Attributes:
        start, end: (n, 3) [m] at its start and its end. normal: (n, 3) unit normals at the end, towards the cloth.
    """

    start: FloatArray
    end: FloatArray
    normal: FloatArray

    @classmethod
    def of(cls, homes: Homes, rows: IntArray, surfaces: StepSurfaces) -> HomePlaces:
        """Of the vertices `rows` (n,), which have one."""
        number, weights = homes.number[rows], homes.weights[rows]
        triangle = np.abs(number) - 1
        start, end, normal = (np.zeros((len(rows), 3)) for _ in range(3))
        owner = surfaces.places.collider_of(triangle)
        for k in np.unique(owner):
            surface, mine = surfaces.moving[k], np.flatnonzero(owner == k)
            corners = surface.shape.triangles[triangle[mine] - surfaces.places.first[k]]
            start[mine] = np.einsum("nk,nki->ni", weights[mine], pick(surface.x_t0, corners))
            end[mine] = np.einsum("nk,nki->ni", weights[mine], pick(surface.x_t1, corners))
            normal[mine] = unit(area_vectors(surface.x_t1, corners))
        return cls(start, end, np.sign(number)[:, None] * normal)


def moved_in(homes: Homes, rows: IntArray, triangle: IntArray, place: FloatArray) -> Homes:
    """Return the homes with those of vertices `rows` (n,) at other places of the same sides, on triangles (n,) of all
    colliders with weights `place` (n, 3); they are not astray any more."""
    number, weights, astray = homes.number.copy(), homes.weights.copy(), homes.astray.copy()
    number[rows] = np.sign(number[rows]) * (1 + triangle)
    weights[rows], astray[rows] = place, False
    return replace(homes, number=number, weights=weights, astray=astray)


def with_foreign(homes: Homes, crossed: BoolArray, edges: IntArray, body: IntArray) -> Homes:
    """Return the homes with what is foreign now: of pieces of cloth that have no homes yet, all that crosses a
    collider, and all but the largest part of the rest; until nothing that edges (E, 2) connect with it crosses.

    Args:
        homes: so far. crossed: (V,) vertices inside of a collider, or of what crosses one. body: (V,) pieces of cloth.
    """
    foreign, count = homes.foreign, len(body)
    new: BoolArray = np.bincount(body, homes.number != 0) == 0
    if crossed.any() and new.any():
        part = bodies(edges[~any_of(pick(crossed, edges))], count)
        size, largest = np.bincount(part, ~crossed, count), np.zeros(len(new), dtype=np.int64)
        order = np.lexsort((-part, size[part]))                              # the last one of a piece stays
        largest[body[order]] = part[order]
        new &= np.bincount(body, crossed) > 0.0
        foreign = foreign | new[body] & (crossed | (part != largest[body]))
    if not foreign.any():
        return homes
    part = bodies(edges[all_of(pick(foreign, edges))], count)
    return replace(homes, foreign=foreign & (np.bincount(part, crossed, count) > 0.0)[part])


def noted(homes: Homes, x0: FloatArray, touching: Touching | None, surfaces: StepSurfaces, triangles: IntArray,
          body: IntArray, excluded: BoolArray) -> Homes:
    """Return the homes with those that the contacts of a step from x0 (V, 3) [m] say.

    Args:
        homes: those of the step before, and who is astray.
        touching: contacts of the expected motion; None where there are none.
        surfaces: the colliders in this step.
        triangles: (T, 3) of the cloth. body: (V,) its connected pieces. excluded: (V,) vertices that get none now, as
            what is foreign.
    """
    if touching is None or len(touching.contacts) == 0:
        return homes
    c, count = touching.contacts, len(x0)
    unclear = homes.astray | homes.foreign | excluded
    unclear[c.vertex[c.gap_t0 + touching.distance <= 0.0]] = True            # it starts behind a surface
    for apart in range(1, MAX_PER_VERTEX):                                   # contacts of a vertex lie side by side
        one = np.flatnonzero(c.vertex[apart:] == c.vertex[:-apart])
        facing = np.einsum("ni,ni->n", c.normal[one], c.normal[one + apart]) < -LEAST_OPPOSED
        unclear[c.vertex[one[facing]]] = True
    rows = np.flatnonzero(np.diff(c.vertex, prepend=-1))
    rows = rows[~unclear[c.vertex[rows]]]
    vertex, normal = c.vertex[rows], c.normal[rows]
    outward = vertex_normals(area_vectors(x0, triangles), triangles, count, vertex)
    side, piece = np.einsum("ni,ni->n", outward, normal), body[vertex]
    worn = np.where(np.bincount(piece, side, int(body.max()) + 1) < 0.0, -1.0, 1.0)[piece]
    some = (worn * side > LEAST_ALIKE) | ~outward.any(axis=1)
    new = _numbers(c.collider[rows], c.triangle[rows], normal, surfaces)
    some &= ~surfaces.hidden[np.abs(new) - 1]
    some &= ~_elsewhere(homes.number[vertex], new, vertex, x0, triangles, worn[:, None] * outward, surfaces)
    number, weights = homes.number.copy(), homes.weights.copy()
    number[vertex[some]] = new[some]
    weights[vertex[some]] = c.barycentric[rows[some]]
    return replace(homes, number=number, weights=weights)


def spread(homes: Homes, x0: FloatArray, surfaces: StepSurfaces, edges: IntArray, excluded: BoolArray) -> Homes:
    """Return the homes with those of vertices at x0 (V, 3) [m] that have none while a neighbour along edges (E, 2) has:
    the nearest place on its sheet, if they are in front of that. `excluded` (V,) vertices get none."""
    stays = homes.astray | homes.foreign
    lacks, has = (homes.number == 0) & ~stays & ~excluded, (homes.number != 0) & ~stays
    if not (lacks.any() and has.any()):
        return homes
    ends, others = np.ascontiguousarray(edges.T)
    one, other = (np.flatnonzero(pick(lacks, a) & pick(has, b)) for a, b in ((ends, others), (others, ends)))
    if not len(one) and not len(other):
        return homes
    rows, first = np.unique(np.concatenate([ends[one], others[other]]), return_index=True)
    given = homes.number[np.concatenate([others[one], ends[other]])[first]]
    found = surfaces.places.follow(x0[rows], np.abs(given) - 1, surfaces.moving, end=False)
    some = np.flatnonzero((found.front == (given > 0)) & ~surfaces.hidden[found.triangle])
    number, weights = homes.number.copy(), homes.weights.copy()
    number[rows[some]] = np.sign(given[some]) * (1 + found.triangle[some])
    weights[rows[some]] = found.weights[some]
    return replace(homes, number=number, weights=weights)


def gathered(homes: Homes, surfaces: StepSurfaces, edges: IntArray, lengths: FloatArray) -> Homes:
    """Move homes of what is astray along the surface towards those of its neighbours, where the homes of an edge (E, 2)
    are further apart at the start of the step than it reaches, `lengths` (E,) [m]. All other homes stay.

    In the crook of an arm both sides of a fold touch the forearm and the upper arm far from the elbow. When the arm is
    stretched again, these places are two hands apart, and cloth can go home to one of them at most. Each call is one
    iteration of averages; how fast cloth follows is a matter of the pull. A home stays on its sheet of the surface.
    """
    astray = homes.astray & (homes.number != 0)
    some = np.flatnonzero(any_of(pick(astray, edges)) & all_of(pick(homes.number != 0, edges)))
    if not len(some):
        return homes
    rows, ends = np.unique(edges[some], return_inverse=True)
    ends = ends.reshape(-1, 2)
    place = HomePlaces.of(homes, rows, surfaces).start
    apart = pick(place, ends[:, 1]) - pick(place, ends[:, 0])
    size = length(apart)
    far = np.flatnonzero(size > lengths[some])
    ends, apart = ends[far], (1.0 - lengths[some[far]] / size[far])[:, None] * apart[far]
    moves = astray[rows][ends]                               # one end by itself, or both of them half of the way
    way, count = np.zeros_like(place), np.zeros(len(rows))
    for end, side in ((0, 1.0), (1, -1.0)):
        share = side * moves[:, end] / moves.sum(axis=1)
        np.add.at(way, ends[:, end], share[:, None] * apart)
        np.add.at(count, ends[:, end], moves[:, end])
    go = np.flatnonzero(count)
    if not len(go):
        return homes
    rows, points = rows[go], place[go] + way[go] / count[go, None]
    found = surfaces.places.follow(points, np.abs(homes.number[rows]) - 1, surfaces.moving, end=False)
    shown = np.flatnonzero(~surfaces.hidden[found.triangle])
    number, weights = homes.number.copy(), homes.weights.copy()
    number[rows[shown]] = np.sign(number[rows[shown]]) * (1 + found.triangle[shown])
    weights[rows[shown]] = found.weights[shown]
    return replace(homes, number=number, weights=weights)


def _elsewhere(old: IntArray, new: IntArray, vertex: IntArray, x0: FloatArray, triangles: IntArray,
               inwards: FloatArray, surfaces: StepSurfaces) -> BoolArray:
    """Return which new homes (n,) of vertices (n,) cannot be reached from the old ones along the surface, though these
    are not further away than an edge of the cloth, and at the same side of it, to which `inwards` (n, 3) points."""
    places, result = surfaces.places, np.zeros(len(old), dtype=np.bool_)
    rows = np.flatnonzero((old != 0) & ~places.beside(np.abs(old) - 1, np.abs(new) - 1))
    if len(rows) == 0 or len(triangles) == 0:
        return result
    points = x0[vertex[rows]]
    found = places.follow(points, np.abs(old[rows]) - 1, surfaces.moving, end=False)
    facing = np.einsum("ni,ni->n", found.normal, inwards[rows]) * np.sign(old[rows]) > 0.0
    facing &= ~places.beside(found.triangle, np.abs(new[rows]) - 1)
    if facing.any():
        corners = [pick(x0, triangles[:, k]) for k in range(3)]
        edge = np.mean([length(corners[k] - corners[k - 1]).mean() for k in range(3)])
        result[rows] = facing & (length(points - found.point) < edge)
    return result


def no_homes(count: int) -> Homes:
    """Return what is known of `count` vertices before the first step."""
    none = np.zeros(count, dtype=np.bool_)
    return Homes(np.zeros(count, dtype=np.int64), np.zeros((count, 3)), none, none)


def without(homes: Homes, some: BoolArray) -> Homes:
    """Return the homes but those of `some` vertices (V,), which are not astray any more."""
    return replace(homes, number=np.where(some, 0, homes.number), astray=homes.astray & ~some)


def _numbers(collider: IntArray, triangle: IntArray, normal: FloatArray, surfaces: StepSurfaces) -> IntArray:
    """Return the triangles (C,) of colliders (C,) as `Homes.number`; normal (C, 3): of the contacts there."""
    number: IntArray = 1 + surfaces.places.first[collider] + triangle
    for k, surface in enumerate(surfaces.moving):
        if not surface.shape.closed.all():
            some = np.flatnonzero(collider == k)
            some = some[~surface.shape.closed[triangle[some]]]
            area = area_vectors(surface.x_t1, surface.shape.triangles[triangle[some]])
            number[some] *= np.where(np.einsum("ni,ni->n", area, normal[some]) < 0.0, -1, 1)
    return number
