# SPDX-License-Identifier: GPL-3.0-or-later
"""Iterate until a start intersects nothing, or a limit is reached.

Each iteration finds the distances that lack at the present positions, adds their stiffness to the matrix of the shape's
energy, and takes some local and global steps. Colliders come first: intersections of cloth with itself are moved once
no collider is crossed, or no fewer crossings with colliders are reached. All the time near layers keep their order, so
that cloth that moves out takes along the layers outside of it.

The positions with the fewest crossings so far are the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...row_ops import any_of
from ..bvh import BVH, element_boxes
from ..colliders import SurfaceShape
from ..effort import Effort
from ..self_contact import SelfContact
from ..triangle_surface import TriangleSurface
from ..vertex_normals import area_vectors, vertex_normals
from .collider_rows import KEPT_STIFFNESS, ClothNow, ColliderCrossings, collider_rows
from .collider_surface import ColliderSurface
from .distance_rows import DistanceRows
from .layer_rows import layer_rows, own_crossings, tangled_vertices
from .shape_energy import ShapeEnergy
from .shrunk_colliders import crossings_with, shrunk
from .wrong_sides import outward_signs, wrong_sides

MOST_ITERATIONS = 300
"""Largest number of iterations [-]."""
PATIENCE = 25
"""Iterations without fewer crossings after which the resolution ends [-]."""
COLLIDERS_FIRST = 10
"""Iterations without fewer crossings with colliders after which cloth leaves cloth nevertheless [-]."""
ROUNDS = 3
"""How often in an iteration the rows are found that act [-]: others would only slow down the vertices."""
STIFFENED = 4
"""Iterations without fewer crossings with colliders after which distances get twice as stiff where there are some [-]:
tight cloth presses on them."""
MOST_FIRMNESS = 32.0
"""Largest stiffness of distances over the first one [-]."""
SMOOTHED = 3
"""Iterations in a row in which vertices at crossings of cloth are also moved to the mean of their neighbours, and
between two such rows [-]: the contour around a vertex whose own triangles cross has no end to be pulled out by."""
INNER_STEPS = 3
"""Local and global steps per round [-]."""
SETTLING = 12
"""Iterations after the first without crossings, in which stretch evens out [-]."""
STEP_PER_DEPTH = 0.1
"""Largest correction in an iteration, over the largest depth [-]: the way out of a deep place takes several, so that
its direction is found anew on the way."""


@dataclass(frozen=True)
class Resolution:
    """Result of a resolution.

    Attributes:
        x: (V, 3) positions [m].
        crossings: those left.
        first: those at the start.
        effort: of all iterations so far, as of a search for pairs (docs/decisions/0036) [-].
    """

    x: FloatArray
    crossings: int
    first: int
    effort: float = 0.0


class StartResolver:
    """The resolution of one start.

    Args:
        contact: of all cloths with themselves and the colliders.
        x: (V, 3) [m], the start, and the shape that is kept.
        edges: (E, 2) pairs of neighbours.
        held: (V,) vertices that do not move.
        solids: positions (W, 3) [m] and shape of each collider.
        allowed: (S, V) whether each vertex may be in contact with each collider; all if None.
        itself: whether cloth keeps off cloth.
    """

    def __init__(self, contact: SelfContact, x: FloatArray, edges: IntArray, held: BoolArray,
                 solids: Sequence[tuple[FloatArray, SurfaceShape]], allowed: BoolArray | None, *, itself: bool
                 ) -> None:
        self._contact, self._start, self._held, self._free, self._itself = contact, x, held, ~held, itself
        self._energy = ShapeEnergy(x, edges, held)
        cloth = contact.surface
        self._triangles, self._edges = cloth.triangles, cloth.edges
        self._colliders = [ColliderSurface(place, shape, own.surface, own.thickness)
                           for (place, shape), own in zip(solids, contact.all.solids, strict=True)]
        self._of_colliders: FloatArray = np.concatenate([np.zeros((0, 3)), *(place for place, _ in solids)])
        self._tree = BVH.build(*element_boxes(self._triangles, x))
        skin = np.zeros(len(x), dtype=np.bool_)
        skin[cloth.vertices] = True
        self._allowed = np.tile(skin, (len(solids), 1))
        if allowed is not None:
            self._allowed[:, :allowed.shape[1]] &= allowed
        self._kept = [self._kept_inside(collider, mine)
                      for collider, mine in zip(self._colliders, self._allowed, strict=True)]
        self._allowed &= ~np.array(self._kept, dtype=np.bool_).reshape(self._allowed.shape)
        self._distance = [contact.thickness[:len(x)] + contact.thickness[len(x):][contact.all.solid_of[len(x):] == k
                                                                                 ].max(initial=0.0)
                          for k in range(len(solids))]
        self._near, self._firmness = contact.thickness[:len(x)], np.ones(len(x))
        near = float(self._near.max(initial=0.0))
        self._signs = [outward_signs(x, self._triangles, collider, near) for collider in self._colliders]
        self._tangled = tangled_vertices(contact, own_crossings(contact, x), len(x))

    def resolve(self, *, settles: bool = False) -> Iterator[Resolution]:
        """Yield the best positions so far after each iteration; a caller that stops has those of the last one.
        `settles`: a start without crossings is moved, too, where it is nearer to something than it should be."""
        x, best, first, effort = self._start, None, 0, Effort()
        since_fewer, fewest_solid, since_solid, clean = 0, np.inf, 0, 0
        for _ in range(MOST_ITERATIONS + 1):
            surface = self._contact.surface.at(x)
            solid = [self._crossings(number, surface) for number in range(len(self._colliders))]
            own = self._own_crossings(x)
            of_solids = sum(map(len, solid))
            total = of_solids + len(own) + (0 if of_solids else self._inside(x))
            first, since_fewer, since_solid = first or total, since_fewer + 1, since_solid + 1
            if best is None or total < best.crossings or total == 0:
                best, since_fewer = Resolution(x, total, first), 0
            if of_solids < fewest_solid:
                fewest_solid, since_solid = of_solids, 0
            clean += best.crossings == 0
            yield replace(best, effort=effort.spent)
            if first == 0 and not settles or clean > SETTLING or since_fewer > PATIENCE:
                return
            apart = of_solids == 0 or since_solid > COLLIDERS_FIRST
            smooth = np.zeros(len(x), dtype=np.bool_)
            if apart and len(own) and since_fewer > SMOOTHED and since_fewer % (2 * SMOOTHED) < SMOOTHED:
                smooth = self._energy.forget_shape(tangled_vertices(self._contact, own, len(x)))
            if since_solid and since_solid % STIFFENED == 0:
                self._stiffen(solid)
            x, rows = self._moved(x, solid, own, apart, smooth)
            effort.search(rows, len(x))

    def _inside(self, x: FloatArray) -> int:
        """Return the number of vertices at x (V, 3) [m] that can move and are inside a collider."""
        return sum(int(np.count_nonzero(collider.inside(x, within & self._free)))
                   for collider, within in zip(self._colliders, self._allowed, strict=True))

    def count(self, x: FloatArray) -> int:
        """Return the number of crossings at x (V, 3) [m], of vertices inside if none are with colliders."""
        surface = self._contact.surface.at(x)
        of_solids = sum(len(self._crossings(number, surface)) for number in range(len(self._colliders)))
        return of_solids + len(self._own_crossings(x)) + (0 if of_solids else self._inside(x))

    def shrunk(self) -> list[list[FloatArray]]:
        """Return the steps inwards (W, 3) [m] of each collider after which the start crosses it no more
        (`shrunk_colliders`); none where there are none, or none are needed."""
        return [shrunk(self._contact, self._start, collider, number, mine)
                for number, (collider, mine) in enumerate(zip(self._colliders, self._allowed, strict=True))]

    def _crossings(self, number: int, surface: TriangleSurface) -> ColliderCrossings:
        """Return the crossings with collider `number` that are not excluded, and of cloth that can move and leave it.
        """
        edges, faces = crossings_with(self._contact, surface, self._colliders[number], number)
        ends, corners, kept = self._edges[edges[:, 0]], self._triangles[faces[:, 1]], self._kept[number]
        return ColliderCrossings(edges[any_of(self._free[ends]) & ~any_of(kept[ends])],
                                 faces[any_of(self._free[corners]) & ~any_of(kept[corners])])

    def _kept_inside(self, collider: ColliderSurface, allowed: BoolArray) -> BoolArray:
        """Return the vertices (V,) that pins hold in a collider, and those too near to them along the cloth to leave
        it without stretch (`contact.pinned_inside`)."""
        held = collider.inside(self._start, allowed & ~self._free)
        depth = np.zeros(len(held))
        depth[held] = collider.nearest(self._start[held]).distance
        return held | self._contact.pinned_inside.kept(held, depth) if held.any() else held

    def _stiffen(self, solid: Sequence[ColliderCrossings]) -> None:
        """Make the distances from colliders stiffer of the vertices that still cross one."""
        some = np.zeros(len(self._firmness), dtype=np.bool_)
        for found in solid:
            some[self._edges[found.edges[:, 0]]] = some[self._triangles[found.faces[:, 1]]] = True
        self._firmness[some] = np.minimum(2.0 * self._firmness[some], MOST_FIRMNESS)

    def _own_crossings(self, x: FloatArray) -> IntArray:
        """Return the crossings of cloth with cloth that can move and is not held together by an inside, none if cloth
        need not keep off cloth."""
        if not self._itself:
            return np.zeros((0, 2), dtype=np.int64)
        found = own_crossings(self._contact, x)
        corners = np.concatenate([self._edges[found[:, 0]], self._triangles[found[:, 1]]], axis=1)
        return found[any_of(self._free[corners]) & ~self._contact.in_one_body(found)]

    def _moved(self, x: FloatArray, solid: Sequence[ColliderCrossings], own: IntArray, apart: bool,
               smooth: BoolArray) -> tuple[FloatArray, int]:
        """Return the positions (V, 3) [m] after one iteration from x, in which some vertices are `smooth` (V,), and the
        number of distances that were looked at."""
        parts, deepest = [], 0.0
        vectors, tree = area_vectors(x, self._triangles), self._tree.around(self._triangles, x)
        for number, collider in enumerate(self._colliders):
            faces = vectors * self._signs[number][:, None]
            outward = vertex_normals(faces, self._triangles, len(x))
            size = np.sqrt(np.einsum("ti,ti->t", faces, faces))[:, None]
            cloth = ClothNow(x, self._edges, self._triangles, outward,
                             np.divide(faces, size, out=np.zeros_like(faces), where=size > 0.0),
                             self._distance[number], self._allowed[number], tree)
            wrong = wrong_sides(collider, x, self._edges, solid[number].edges, outward, self._held)
            rows, depth = collider_rows(cloth, collider, solid[number], wrong)
            firmness = np.where(rows.weights > 0.0, self._firmness[rows.vertices], 1.0).max(axis=1, initial=1.0)
            parts.append(replace(rows, stiffness=firmness * rows.stiffness))
            deepest = max(deepest, depth)
        near = np.maximum(self._near, STEP_PER_DEPTH * deepest)
        step = float(near.max(initial=0.0))
        if self._itself:
            crossings = own if apart else own[:0]
            parts.append(layer_rows(self._contact, x, self._of_colliders, crossings, self._held, 2.0 * near,
                                    self._tangled))
        rows = DistanceRows.joined(parts)
        rows = rows[any_of(~self._held[rows.vertices])]
        shares, acting = rows.shares(self._held), np.zeros(len(rows), dtype=np.bool_)
        rotations = self._energy.rotations(x)
        for _ in range(ROUNDS):
            acting |= rows.lack(x) > 0.0
            some = rows[acting]
            factor = self._energy.factor(some.diagonal(shares[acting], len(x)) + KEPT_STIFFNESS * smooth)
            for _ in range(INNER_STEPS):
                force = self._energy.force(x, rotations) + some.force(x, step)
                force += KEPT_STIFFNESS * self._energy.smoothing(x, smooth)
                force[self._held] = 0.0
                x = x + factor.solve(force)
        return x, len(rows)
