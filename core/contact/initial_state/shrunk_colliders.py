# SPDX-License-Identifier: GPL-3.0-or-later
"""Find how colliders shrink so that a start crosses them no more.

A collider shrinks only where it crosses cloth or has cloth inside, by steps of half a mean edge of the finer of both.
By the same steps it grows to its own size again, and pushes the cloth out in front of it
(`stepping.growing_colliders`).
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..crossings import crossing_pairs
from ..self_contact import SelfContact
from ..triangle_surface import TriangleSurface
from ..vertex_normals import area_vectors, vertex_normals
from .collider_surface import ColliderSurface
from .shrinking_surface import ShrinkingSurface
from .wrong_sides import mean_size, outward_signs

MOST_STEPS_INWARDS = 60
"""Largest number of steps of a collider inwards [-]."""
STEPS_WITHOUT_FEWER = 10
"""Steps inwards without fewer of its vertices at crossings after which a collider is given up [-]."""


def shrunk(contact: SelfContact, x: FloatArray, collider: ColliderSurface, number: int, allowed: BoolArray
           ) -> list[FloatArray]:
    """Return the positions (W, 3) [m] of a collider in steps inwards, at the last of which cloth at x (V, 3) [m]
    crosses it no more. Return none if nothing crosses it, if it does not get free, or if most of the cloth in it were
    on the wrong side then: an arm beside its sleeve gets free of it, but not into it.

    Args:
        contact: of all cloths with themselves and the colliders.
        x: (V, 3) [m].
        collider: as it is. number: among the colliders.
        allowed: (V,) vertices that may be in contact with it.
    """
    cloth = contact.surface.at(x)
    there = _caught(contact, cloth, collider, number, allowed)
    if not there.any():
        return []
    edges, faces = crossings_with(contact, cloth, collider, number)
    within = collider.inside(x, allowed)
    within[cloth.edges[edges[:, 0]]] = within[cloth.triangles[faces[:, 1]]] = True
    turned = outward_signs(x, cloth.triangles, collider, float(contact.thickness[:len(x)].max()))
    outward = vertex_normals(turned[:, None] * area_vectors(x, cloth.triangles), cloth.triangles, len(x))

    width = 0.5 * min(mean_size(x, cloth.edges), mean_size(collider.x, collider.surface.edges))
    surface, small = ShrinkingSurface(collider.x, collider.shape.triangles, width), collider
    fewest, since_fewer, steps = len(there), 0, []
    for _ in range(MOST_STEPS_INWARDS):
        small = ColliderSurface(surface.further_in(small.x, there), collider.shape,
                                contact.all.solids[number].surface, collider.thickness)
        steps.append(small.x)
        there = _caught(contact, cloth, small, number, allowed)
        if not there.any():
            out = x[within] - small.nearest(x[within]).point
            return steps if np.sign(np.einsum("ni,ni->n", out, outward[within])).sum() >= 0.0 else []
        count = int(np.count_nonzero(there))
        fewest, since_fewer = min(fewest, count), 0 if count < fewest else since_fewer + 1
        if since_fewer > STEPS_WITHOUT_FEWER:
            break
    return []


def crossings_with(contact: SelfContact, cloth: TriangleSurface, collider: ColliderSurface, number: int
                   ) -> tuple[IntArray, IntArray]:
    """Return the crossings of cloth with collider `number` that are not excluded: (N, 2) edges of the cloth and
    triangles of the collider, and (M, 2) edges of the collider and triangles of the cloth."""
    own, found = contact.all.solids[number], []
    for pairs, shift in ((crossing_pairs(cloth, collider.surface), [0, own.first_triangle]),
                         (crossing_pairs(collider.surface, cloth), [own.first_edge, 0])):
        if contact.pair_filter is not None and len(pairs):
            pairs = pairs[contact.pair_filter.of_piercings(pairs + shift)]
        found.append(pairs)
    return found[0], found[1]


def _caught(contact: SelfContact, cloth: TriangleSurface, collider: ColliderSurface, number: int, allowed: BoolArray
            ) -> BoolArray:
    """Return the vertices of a collider (W,) at crossings with cloth, or nearest to cloth that is inside."""
    edges, faces = crossings_with(contact, cloth, collider, number)
    result = np.zeros(len(collider.x), dtype=np.bool_)
    result[collider.surface.triangles[edges[:, 1]]] = result[collider.surface.edges[faces[:, 0]]] = True
    inside = cloth.positions[collider.inside(cloth.positions, allowed)]
    if len(inside):
        result[collider.shape.triangles[collider.nearest(inside).triangle]] = True
    return result
