# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances between parts of cloth while a start is resolved.

What intersects is moved along the gradient of the length of the contour of intersection, or out to the side of its
layer (`contact.untangling`, Volino and Magnenat-Thalmann 2006), by a part of an edge in each iteration. All other near
pairs keep the side on which they are: a part of the distance they have, and, where the distance has a minimum, the
smallest that contact needs.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...row_ops import any_of, length, pick
from ..continuous import near_pairs
from ..crossings import crossing_pairs
from ..self_contact import SelfContact
from ..untangling import SPEED, around, pull_apart
from .collider_rows import CLEARANCE, KEPT_STIFFNESS
from .distance_rows import DistanceRows

CONTOUR_STEP = 0.3
"""Distance by which an intersection is moved in one iteration, over the length of its edge [-]."""
LEAST_APPROACH = 0.5
"""Smallest distance of a near pair after an iteration, over its distance before [-]."""


def own_crossings(contact: SelfContact, x: FloatArray) -> IntArray:
    """Return the edges and triangles (N, 2) of cloth at x (V, 3) [m] that intersect and are not excluded."""
    surface = contact.sewn_at(x).at(x)
    found = crossing_pairs(surface, surface)
    return found if contact.pair_filter is None else found[contact.pair_filter.of_piercings(found)]


def tangled_vertices(contact: SelfContact, crossings: IntArray, count: int) -> BoolArray:
    """Return which of `count` vertices (V,) belong to crossings (N, 2)."""
    return around(contact.all, crossings, count)


def layer_rows(contact: SelfContact, x: FloatArray, colliders: FloatArray, crossings: IntArray, held: BoolArray,
               radius: FloatArray, tangled: BoolArray) -> DistanceRows:
    """Return the rows of cloth at x (V, 3) [m] with itself.

    Args:
        contact: of all cloths.
        x: (V, 3) [m].
        colliders: (W, 3) [m], all of their vertices.
        crossings: (N, 2), see `own_crossings`.
        held: (V,) vertices that do not move.
        radius: (V,) within which pairs are near, the mean of both [m].
        tangled: (V,) vertices of intersections at the start, see `tangled_vertices`.
    """
    everything = np.concatenate([x, colliders])
    parts = [_near(contact, everything, x, crossings, radius, tangled)]
    if len(crossings):
        free = np.concatenate([~held, np.zeros(len(colliders), dtype=np.bool_)]).astype(np.float64)
        apart = pull_apart(contact.all, crossings, contact.features, everything, free, CONTOUR_STEP / SPEED,
                           layer=contact.layer)
        parts.append(DistanceRows(apart.vertices, apart.weights, apart.normal, apart.least,
                                  np.full(len(apart.vertices), KEPT_STIFFNESS)))
    return DistanceRows.joined(parts)


def _near(contact: SelfContact, everything: FloatArray, x: FloatArray, crossings: IntArray,
          radius: FloatArray, tangled: BoolArray) -> DistanceRows:
    """Return rows of the near pairs that do not belong to an intersection."""
    surface = contact.sewn_at(x).at(x)
    allowed = None if contact.pair_filter is None else contact.pair_filter.candidates
    pairs = near_pairs(surface, x, x, radius, np.zeros(len(x)), allowed=allowed)
    keep = pairs.distance > 0.0
    if len(crossings):
        caught, first = pick(around(contact.all, crossings, len(x)), pairs.vertices), pairs.first
        keep &= ~(any_of(caught & first) & any_of(caught & ~first))
    pairs = pairs[np.flatnonzero(keep)]
    least = LEAST_APPROACH * pairs.distance
    smallest = contact.minima(pairs, everything)
    wanted = contact.thickness_of(pairs)
    if tangled.any():                                            # at the start these have no distance to keep
        caught, first = pick(tangled, pairs.vertices), pairs.first
        size = LEAST_APPROACH * length(x[pairs.vertices[:, 3]] - x[pairs.vertices[:, 2]])
        wanted = np.where(any_of(caught & first) & any_of(caught & ~first),
                          np.minimum(contact.apart(pairs), size), wanted)
    least[smallest] = np.maximum(least[smallest], CLEARANCE * wanted[smallest])
    return DistanceRows(pairs.vertices, pairs.weights, pairs.normal, least, np.full(len(pairs), KEPT_STIFFNESS))
