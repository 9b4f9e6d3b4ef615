# SPDX-License-Identifier: GPL-3.0-or-later
"""Rays from the vertices of a mesh to its own triangles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import SINGLE_PRECISION, FloatArray, IntArray
from ..contact.bvh import BVH, element_boxes, touching_boxes


@dataclass(frozen=True)
class RayHits:
    """The first triangle on each of N rays.

    Attributes:
        triangle: (N,) index, -1 where a ray meets none.
        distance: (N,) [m], infinite where it meets none.
        weights: (N, 3) barycentric weights of the point [-].
    """

    triangle: IntArray
    distance: FloatArray
    weights: FloatArray


def first_hits(positions: FloatArray, triangles: IntArray, sources: IntArray, directions: FloatArray, reach: float
               ) -> RayHits:
    """Return the first triangle that a ray from each source vertex meets, those at the vertex left out.

    Args:
        positions: (V, 3) [m]. triangles: (T, 3).
        sources: (N,) vertices. directions: (N, 3) of length one.
        reach: largest distance [m].

    Rays advance in pieces of some edges' length, whose boxes are sought in a tree of the triangles.
    """
    count = len(sources)
    found = np.full(count, -1), np.full(count, np.inf), np.zeros((count, 3))
    corners = positions[triangles]
    piece = 8.0 * float(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1).mean())
    tree = BVH.build(*element_boxes(triangles, positions))
    start, left = 0.0, np.arange(count)
    while len(left) and start < reach:
        end = min(start + piece, reach)
        origin = positions[sources[left]]
        both = np.stack([origin + start * directions[left], origin + end * directions[left]])
        pairs = touching_boxes(tree, both.min(axis=0), both.max(axis=0))
        ray, triangle = left[pairs[:, 0]], pairs[:, 1]
        apart = (triangles[triangle] != sources[ray][:, None]).all(axis=1)
        _note_hits(found, corners, positions[sources], directions, ray[apart], triangle[apart], reach)
        left, start = left[found[1][left] > end], end
    return RayHits(*found)


def _note_hits(found: tuple[IntArray, FloatArray, FloatArray], corners: FloatArray, origins: FloatArray,
               directions: FloatArray, ray: IntArray, triangle: IntArray, reach: float) -> None:
    """Write the nearest points of pairs (n,) of rays and triangles to `found` (Moeller and Trumbore 1997)."""
    a, b, c = corners[triangle].transpose(1, 0, 2)
    d, to_b, to_c, away = directions[ray], b - a, c - a, origins[ray] - a
    p = np.cross(d, to_c)
    det = np.einsum("ni,ni->n", to_b, p)
    size = np.linalg.norm(np.cross(to_b, to_c), axis=1)
    steep = np.abs(det) > SINGLE_PRECISION * size
    inverse = 1.0 / np.where(steep, det, 1.0)
    q = np.cross(away, to_b)
    u, v = np.einsum("ni,ni->n", away, p) * inverse, np.einsum("ni,ni->n", d, q) * inverse
    t = np.einsum("ni,ni->n", to_c, q) * inverse
    room = SINGLE_PRECISION                                          # an edge belongs to both of its triangles
    meets = np.flatnonzero(steep & (u >= -room) & (v >= -room) & (u + v <= 1.0 + room) & (t > 0.0) & (t <= reach))
    order = meets[np.lexsort((triangle[meets], t[meets], ray[meets]))]
    first = order[np.concatenate([[True], np.diff(ray[order]) != 0])] if len(order) else order
    first = first[t[first] < found[1][ray[first]]]
    rows = ray[first]
    found[0][rows], found[1][rows] = triangle[first], t[first]
    found[2][rows] = np.stack([1.0 - u - v, u, v], axis=1)[first]
