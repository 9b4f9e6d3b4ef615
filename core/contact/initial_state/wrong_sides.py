# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide to which side of a collider cloth leaves it: by the outer side of faces, and by parts that went through it.

A layer leaves as a whole. Vertices that leave one by one, each to its nearest point, tear it: the far half of a sleeve
in a thin arm would leave on the wrong side. So the side is decided for patches:

- *Outward.* Faces that are connected without a sharp fold are one patch. Its faces count as outward, or all as turned
  round, by a vote of how they agree with the nearest normals of the collider, the near ones with more weight.
- *Through.* The crossings with a collider cut cloth into parts. Where an edge goes through a face of the collider that
  is turned away from the outward normal of the cloth there, its outer end has left on the wrong side. A part with more
  such ends than others belongs to the other side, unless it is the largest of a piece of cloth.
- *Back.* An open part of a collider has no inside. Of two parts of cloth that it cuts, the smaller one goes back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...description.topology import Topology, bodies
from ...row_ops import length, unit
from ..vertex_normals import area_vectors
from .collider_surface import ColliderSurface

CLEAR_DIRECTION = 0.3
"""Cosine between a face of a collider and the outward normal of cloth from which on it tells the direction of a passage
[-]."""


@dataclass(frozen=True)
class WrongSides:
    """Vertices of cloth (V,) on the wrong side of a collider, outside of it: `through` a closed part, or to go `back`
    through an open part."""

    through: BoolArray
    back: BoolArray


def outward_signs(x: FloatArray, triangles: IntArray, collider: ColliderSurface, near: float) -> FloatArray:
    """Return 1 or -1 for each triangle of cloth (T, 3) at x (V, 3) [m], by which its normal is outward from a collider.

    near: distance [m] within which all faces have about the same weight.
    """
    if len(triangles) == 0:
        return np.zeros(0)
    topology, vectors = Topology(triangles), area_vectors(x, triangles)
    normals = unit(vectors)
    one, other = (topology.hinge_corners[~topology.hinge_branches] // 3).T
    smooth = np.einsum("hi,hi->h", normals[one], normals[other]) > 0.0
    patch = bodies(np.column_stack([one, other])[smooth], len(triangles))
    there = collider.nearest(x[triangles].mean(axis=1))
    agrees = np.einsum("ti,ti->t", vectors, there.normal) / (there.distance + near)
    return np.where(np.bincount(patch, agrees) >= 0.0, 1.0, -1.0)[patch]


def wrong_sides(collider: ColliderSurface, x: FloatArray, edges: IntArray, crossings: IntArray, outward: FloatArray,
                held: BoolArray) -> WrongSides:
    """Return the vertices at x (V, 3) [m] on the wrong side of a collider.

    Args:
        collider: the collider.
        x: (V, 3) [m].
        edges: (E, 2) of cloth.
        crossings: (N, 2) edges of cloth and triangles of the collider that they pierce.
        outward: (V, 3) outward normals of cloth.
        held: (V,) vertices that pins hold; a part with one is larger than all without.
    """
    count = len(x)
    nowhere = np.zeros(count, dtype=np.bool_)
    if len(crossings) == 0:
        return WrongSides(nowhere, nowhere)
    whole = np.ones(len(edges), dtype=np.bool_)
    whole[crossings[:, 0]] = False
    part = bodies(edges[whole], count)
    size = np.bincount(part) + count * (np.bincount(part, held) > 0.0)
    ends, triangle = edges[crossings[:, 0]], crossings[:, 1]
    normal = collider.face_normals[triangle]
    height = np.einsum("nki,ni->nk", x[ends] - collider.x[collider.shape.triangles[triangle, 0]][:, None], normal)
    closed = collider.shape.closed[triangle]

    facing = np.einsum("ni,ni->n", normal, unit(outward[ends].sum(axis=1)))
    vote = np.where(facing < -CLEAR_DIRECTION, 1.0, np.where(facing > CLEAR_DIRECTION, -1.0, 0.0))
    outer = ends[np.arange(len(ends)), np.argmax(height, axis=1)]
    through = np.bincount(part[outer[closed]], vote[closed], len(size)) > 0.0
    through[_largest(part, size, bodies(edges, count))] = False

    row, smaller = np.arange(len(ends)), np.argmin(size[part[ends]], axis=1)
    cut = ~closed & (part[ends[:, 0]] != part[ends[:, 1]])
    mine, its = part[ends[row, smaller]][cut], part[ends[row, 1 - smaller]][cut]
    back = np.bincount(mine, minlength=len(size)) > np.bincount(its, minlength=len(size))
    return WrongSides(through[part], back[part])


def _largest(part: IntArray, size: IntArray, piece: IntArray) -> IntArray:
    """Return the largest part of each connected piece of cloth, by part (V,) and piece (V,) of each vertex and the size
    of each part (P,); of two of one size, the one with the lower number."""
    order = np.lexsort((-part, size[part]))                                  # the last one of a piece stays
    result = np.zeros(len(part), dtype=np.int64)
    result[piece[order]] = part[order]
    return result[np.unique(piece)]


def mean_size(x: FloatArray, edges: IntArray) -> float:
    """Return the mean length [m] of edges (E, 2) at x (V, 3) [m]; 0 without edges."""
    return float(length(x[edges[:, 1]] - x[edges[:, 0]]).mean()) if len(edges) else 0.0
