# SPDX-License-Identifier: GPL-3.0-or-later
"""All colliders of a scene during one step: where cloth touches them, and with which friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count as counting

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.collider import Collider
from ..row_ops import pick
from .colliders import MovingSurface, SurfaceShape, axes_of
from .friction_coefficients import FrictionAt, FrictionCoefficients, over_time
from .hidden_skin import hidden_skin
from .pairs import Contacts, find_contacts
from .planes import MAX_PER_VERTEX
from .surface_places import SurfacePlaces

FACING = 0.5
"""Of normals that face each other, -1 times the cosine from which on what they hold is squeezed [-]: between others it
can go where they open."""

_numbers = counting(1)                                               # of motions: they only tell them apart


@dataclass(frozen=True)
class Touching:
    """Contacts with what the two materials say of them.

    Attributes:
        contacts: where. distance (C,) [m]: kept from the surface; what two solids squeeze keeps to the middle between
            them. mu (C,) [-]: the geometric mean of the fabric's and the collider's friction, so that either alone can
            make a contact smooth.
        carried (C, 3) [m]: where the vertex would be at the end, had it moved and turned with the contact's triangle.
            Not the motion of the contact's own point: that is near the vertex's end, and the difference, of third
            order in the angle turned, would be strain to a stiff sheet.
        started (C, 3) [m]: how far the triangle would take the vertex in the step, did it go on as at its start: the
            way to `carried`, turned back by half of the triangle's turn.
        squeezed (C,): whether contacts that face each other leave their vertex less than the distances of both.
    """

    contacts: Contacts
    mu: FloatArray
    distance: FloatArray
    carried: FloatArray
    started: FloatArray
    squeezed: BoolArray

    def __getitem__(self, rows: IntArray) -> Touching:
        """Return the contacts of these rows."""
        return Touching(self.contacts[rows], self.mu[rows], self.distance[rows], pick(self.carried, rows),
                        pick(self.started, rows), self.squeezed[rows])

    def depth(self, solid: int, count: int) -> tuple[FloatArray, FloatArray]:
        """How deep each of `count` vertices is in a solid at the start (V,) [m], 0 where it is not, and by how much it
        lacks its distance from it (V,) [m]."""
        deep, lacks, c = np.zeros(count), np.zeros(count), self.contacts
        there = np.flatnonzero(c.collider == solid)
        np.maximum.at(deep, c.vertex[there], -c.gap_t0[there] - self.distance[there])
        np.maximum.at(lacks, c.vertex[there], -c.gap_t0[there])
        return deep, lacks


class SurfaceSet:
    """The colliders of a simulation.

    Args:
        colliders: at least one.
        thickness (V,) [m] of the cloth's vertices: the first of all particles, contact does not see any others.
        friction: coefficients of all particles and colliders over time, or (V,) [-] of the vertices.
        shapes: of the colliders, with their rooms open; if not given, all that is closed is solid.
        allowed (S, V): which vertices may be in contact with each of the colliders; None for all.
    """

    def __init__(self, colliders: Sequence[Collider], thickness: FloatArray, friction: FloatArray | FrictionAt,
                 shapes: Sequence[SurfaceShape] | None = None, allowed: BoolArray | None = None) -> None:
        self._colliders, self._thickness = colliders, thickness
        self._friction = over_time(friction, [c.friction for c in colliders])
        first = [c.at(0.0) for c in colliders]
        self._shapes = shapes or [SurfaceShape.build(x, c.triangles) for x, c in zip(first, colliders, strict=True)]
        self._allowed = allowed
        self._hidden: BoolArray = np.concatenate([np.zeros(0, dtype=np.bool_), *map(hidden_skin, self._shapes, first)])
        self._places = SurfacePlaces(self._shapes)
        self._last = StepSurfaces((np.nan, np.nan), 0, [], thickness, self._friction(0.0), self._places, self._hidden,
                                  allowed)

    def between(self, start: float, end: float) -> StepSurfaces:
        """Return the colliders in a step between two times [s].

        What the step before has in common with it is kept: a collider that rests, or where it has arrived.
        """
        last = self._last
        if (start, end) == last.times:
            return last
        follows = start == last.times[1]
        moving, same = list(last.moving), bool(last.moving)
        for number, (collider, shape) in enumerate(zip(self._colliders, self._shapes, strict=True)):
            if last.moving and not collider.moves:
                continue
            before = last.moving[number] if follows else None
            x_t0 = before.x_t1 if before is not None else collider.at(start)
            x_t1 = collider.at(end) if collider.moves else x_t0
            if np.array_equal(x_t0, x_t1):                           # rests, for now
                if before is not None and before.x_t0 is before.x_t1:
                    continue
                x_t1 = x_t0
            surface = shape.moving(x_t0, x_t1, thickness=collider.thickness, before=before)
            moving[number:number + 1] = [surface]
            same = False
        number = last.number if same else next(_numbers)
        self._last = StepSurfaces((start, end), number, moving, self._thickness, self._friction(end), self._places,
                                  self._hidden, self._allowed)
        return self._last


@dataclass(frozen=True)
class StepSurfaces:
    """All colliders in one step.

    Attributes:
        times: start and end of the step [s].
        number: the same for steps in which nothing about the colliders changes, and for no others.
        moving: each collider.
        thickness (V,) [m]: of the cloth's vertices. friction: coefficients at the end of the step.
        places: of the colliders. hidden (T,): which of their triangles are hidden at the start (`hidden_skin`).
        allowed (S, V): which of them may be in contact with each collider; None for all.
    """

    times: tuple[float, float]
    number: int
    moving: Sequence[MovingSurface]
    thickness: FloatArray
    friction: FrictionCoefficients
    places: SurfacePlaces
    hidden: BoolArray
    allowed: BoolArray | None = None

    def find(self, x0: FloatArray, x1: FloatArray) -> Touching:
        """Contacts of the motion x0 -> x1 (V, 3) [m]."""
        count = len(self.thickness)
        found = find_contacts(x0[:count], x1[:count], self.moving, self.thickness, allowed=self.allowed)
        solid = self.friction.solids[found.collider]
        distance = self.thickness[found.vertex] + np.array([s.thickness for s in self.moving])[found.collider]
        less = _squeezed(found, distance)
        if less.any():
            found, distance = replace(found, gap_t0=found.gap_t0 + less, gap_t1=found.gap_t1 + less), distance - less
        mu = np.sqrt(self.friction.on_solids[found.vertex] * solid)
        return Touching(found, mu, distance, *self._carried(x0, found), less > 0.0)

    def _carried(self, x0: FloatArray, found: Contacts) -> tuple[FloatArray, FloatArray]:
        """Return `carried` and `started` of `Touching`, each (C, 3) [m]."""
        result = pick(x0, found.vertex)
        started = np.zeros_like(result)
        for number, surface in enumerate(self.moving):
            at = np.flatnonzero(found.collider == number)
            if len(at) and surface.x_t0 is not surface.x_t1:
                corners = surface.shape.triangles[found.triangle[at]]
                before, after = axes_of(surface.x_t0[corners]), axes_of(surface.x_t1[corners])
                offset = result[at] - found.point_t0[at]
                arm = np.einsum("nij,nj->ni", before, offset)
                turned = np.einsum("nij,ni->nj", after, arm)
                over = surface.mirrored[found.triangle[at]]              # would take it to their other side
                ended = found.point_t1[at] + np.where(over[:, None], offset, turned)
                way, result[at] = ended - result[at], ended
                back = np.einsum("nij,ni->nj", before, np.einsum("nij,nj->ni", after, way))
                started[at] = np.where(over[:, None], way, 0.5 * (way + back))
        return result, started


def _squeezed(c: Contacts, distance: FloatArray) -> FloatArray:
    """By how much less than its distance (C,) [m] each contact can keep, as others of its vertex face it (C,) [m].

    Both give way alike: put out of one and then of the other, what lies between would be pressed by no end of force.
    """
    less = np.zeros(len(distance))
    for apart in range(1, MAX_PER_VERTEX):                            # those of a vertex lie side by side
        row = np.flatnonzero(c.vertex[apart:] == c.vertex[:-apart])
        facing = np.einsum("ni,ni->n", c.normal[row], c.normal[row + apart]) < -FACING
        row = row[facing]
        room = np.einsum("ni,ni->n", c.normal[row], c.point_t1[row + apart] - c.point_t1[row])
        half = 0.5 * np.maximum(distance[row] + distance[row + apart] - room, 0.0)
        for at in (row, row + apart):
            less[at] = np.maximum(less[at], half)
    return less
