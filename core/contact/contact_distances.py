# SPDX-License-Identifier: GPL-3.0-or-later
"""The distances that cloth keeps: those that are given, and by default no more than there is room for at the start.

The usual distance follows from the edges of a mesh, not from how a garment is worn. More than half of a blouse as it is
downloaded is nearer to the body than that. Contact would push it out, and stretch tight cuffs and collars by a tenth of
their girth. So where no thickness is given, a vertex keeps the distance from colliders that it has at the start, and at
least the part `LEAST_PART` of the usual one. What starts inside of a collider keeps that part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..description.cloth import Cloth
from ..description.collider import Collider
from ..row_ops import all_of
from .colliders import SurfaceShape
from .containment import inside, nearest

LEAST_PART = 0.5
"""Least distance that a vertex keeps, over the usual one [-] (docs/decisions/0084)."""


def contact_distances(cloths: Sequence[Cloth], fitted: Sequence[bool], colliders: Sequence[Collider],
                      shapes: Sequence[SurfaceShape], allowed: BoolArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the distances (V,) [m] that the vertices of all cloths keep from colliders, and their parts of those that
    they keep from cloth.

    Args:
        cloths: that are simulated. fitted: of each, whether its thickness is not given.
        colliders: all of them. shapes: of each, with its rooms open.
        allowed: (S, V) which vertices may be in contact with each collider; None for all.
    """
    from_colliders, from_cloth, begin = [], [], 0
    for cloth, fits in zip(cloths, fitted, strict=True):
        kept, end = np.full(len(cloth.positions), cloth.distance), begin + len(cloth.positions)
        if fits and len(cloth.mesh.triangles):
            for number, (collider, shape) in enumerate(zip(colliders, shapes, strict=True)):
                rows = np.arange(len(kept)) if allowed is None else np.flatnonzero(allowed[number, begin:end])
                gap = _gap(cloth.positions[rows], collider, shape, cloth.distance)
                kept[rows] = np.minimum(kept[rows], np.maximum(gap, LEAST_PART * cloth.distance))
        own = cloth.contact.self_distance
        from_colliders.append(kept)
        from_cloth.append(kept if own is None else np.full(len(kept), cloth.distance_from_cloth))
        begin = end
    return np.concatenate(from_colliders), np.concatenate(from_cloth)


def _gap(points: FloatArray, collider: Collider, shape: SurfaceShape, most: float) -> FloatArray:
    """Return how far (n,) [m] points (n, 3) [m] are from a collider and its thickness at the start: 0 where they are
    inside, `most` [m] where they are further."""
    positions, result = collider.at(0.0), np.full(len(points), most)
    (low, high), reach = shape.tree.box, most + collider.thickness
    rows = np.flatnonzero(all_of((points >= low - reach) & (points <= high + reach)))
    if len(rows):
        place = points[rows]
        gap = nearest(place, positions, shape.triangles, shape.tree)[1].distance - collider.thickness
        within = inside(place, positions, shape.triangles, shape.closed, shape.tree)
        result[rows] = np.clip(np.where(within, 0.0, gap), 0.0, most)
    return result
