# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances that cloth is to keep from one collider while a start is resolved.

Three kinds of rows, each a point of cloth and a plane of the collider:

- vertices of cloth over the nearest point of the collider; of edges and faces that cross it, points on them as well;
- vertices of the collider under the nearest face of cloth;
- the points of intersection themselves, along the normal of the collider there.

Each has a small distance that has to be kept, and the full one of the contact, with little stiffness: it is kept where
that costs little stretch, and the simulation does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...row_ops import length, unit
from ..bvh import BVH, touching_boxes
from ..distance import point_triangle
from .collider_surface import ColliderSurface
from .distance_rows import DistanceRows
from .wrong_sides import WrongSides

CLEARANCE = 0.25
"""Distance that has to be kept from colliders and between layers, over the full one of the contact [-]."""
KEPT_STIFFNESS = 3.0
"""Stiffness of a distance that has to be kept, over that of an edge [-]."""
WANTED_STIFFNESS = 0.01
"""Stiffness of the full distance of the contact, over that of an edge [-]."""
NEAR_COLLIDERS = 1.5
"""Distance within which cloth is near a collider, over the full one of the contact [-]."""
LEAST_AGREEMENT = 0.5
"""Cosine of the normals of cloth and collider below which the nearest point is not taken as it is [-]."""
STEEP = 0.5
"""Sine of the angle to the surface of a collider from which on a face of cloth is above or below a vertex of it, and
not beside it [-]."""
ALONG_EDGES = (0.25, 0.5, 0.75)
"""Places on an edge that crosses [-]."""
IN_FACES = ((1 / 3, 1 / 3, 1 / 3), (0.6, 0.2, 0.2), (0.2, 0.6, 0.2), (0.2, 0.2, 0.6))
"""Places in a face that is crossed, as weights of its corners [-]."""


@dataclass(frozen=True)
class ClothNow:
    """Cloth in one iteration.

    Attributes:
        x: (V, 3) [m]. edges: (E, 2). triangles: (T, 3).
        outward: (V, 3) outward normals. outward_faces: (T, 3) those of the triangles.
        distance: (V,) that contact keeps from this collider [m].
        allowed: (V,) whether contact with it is not excluded.
        tree: over the triangles at x.
    """

    x: FloatArray
    edges: IntArray
    triangles: IntArray
    outward: FloatArray
    outward_faces: FloatArray
    distance: FloatArray
    allowed: BoolArray
    tree: BVH


@dataclass(frozen=True)
class ColliderCrossings:
    """Edges of cloth and triangles of a collider that they pierce (N, 2), and edges of the collider and triangles of
    cloth (M, 2)."""

    edges: IntArray
    faces: IntArray

    def __len__(self) -> int:
        return len(self.edges) + len(self.faces)


def collider_rows(cloth: ClothNow, collider: ColliderSurface, crossings: ColliderCrossings, wrong: WrongSides
                  ) -> tuple[DistanceRows, float]:
    """Return the rows, and the largest depth of a vertex of cloth below the side where it belongs [m]."""
    over, depth, side = _over_collider(cloth, collider, crossings, wrong)
    return DistanceRows.joined([over, _under_faces(cloth, collider, wrong, depth, side),
                                _at_crossings(cloth, collider, crossings, wrong, side)]), depth


def _row_pair(vertices: IntArray, weights: FloatArray, normal: FloatArray, place: FloatArray, distance: FloatArray
              ) -> DistanceRows:
    """Return the hard and the soft rows of points (R, 3) of cloth over planes through `place` (R, 3) [m]."""
    vertices = np.concatenate([vertices, vertices[:, :1]], axis=1)
    weights = np.concatenate([weights, np.zeros((len(weights), 1))], axis=1)
    height = np.einsum("ri,ri->r", place, normal)
    return DistanceRows.joined([DistanceRows(vertices, weights, normal, height + share * distance,
                                             np.full(len(vertices), stiffness))
                                for share, stiffness in ((CLEARANCE, KEPT_STIFFNESS), (1.0, WANTED_STIFFNESS))])


def _samples(cloth: ClothNow, crossings: ColliderCrossings) -> tuple[IntArray, FloatArray]:
    """Return the points of cloth that are looked at, as three vertices (Q, 3) and their weights (Q, 3)."""
    used = np.flatnonzero(cloth.allowed)
    vertices, weights = [np.repeat(used[:, None], 3, axis=1)], [np.tile((1.0, 0.0, 0.0), (len(used), 1))]
    ends = cloth.edges[np.unique(crossings.edges[:, 0])]
    for share in ALONG_EDGES:
        vertices.append(ends[:, [0, 1, 1]])
        weights.append(np.tile((1.0 - share, share, 0.0), (len(ends), 1)))
    corners = cloth.triangles[np.unique(crossings.faces[:, 1])]
    for place in IN_FACES:
        vertices.append(corners)
        weights.append(np.tile(place, (len(corners), 1)))
    return np.concatenate(vertices), np.concatenate(weights)


def _over_collider(cloth: ClothNow, collider: ColliderSurface, crossings: ColliderCrossings, wrong: WrongSides
                   ) -> tuple[DistanceRows, float, FloatArray]:
    """Return rows of points of cloth over their nearest points, the largest depth of one [m], and on which side of the
    nearest triangle each vertex belongs (V,): 1 in front, -1 behind, 0 where it is far."""
    vertices, weights = _samples(cloth, crossings)
    points = np.einsum("qk,qki->qi", weights, cloth.x[vertices])
    outward = unit(np.einsum("qk,qki->qi", weights, cloth.outward[vertices]))
    distance = np.einsum("qk,qk->q", weights, cloth.distance[vertices])
    through, back = wrong.through[vertices].all(axis=1), wrong.back[vertices].all(axis=1)
    some, there = collider.near(points, NEAR_COLLIDERS * distance, through | back)
    single = some < np.count_nonzero(cloth.allowed)
    vertices, weights, through, back = vertices[some], weights[some], through[some], back[some]
    points, outward, distance = points[some], outward[some], distance[some]
    closed, away = collider.shape.closed[there.triangle], there.distance
    offset = points - there.point
    side = np.where(np.einsum("qi,qi->q", offset, there.normal) < 0.0, -1.0, 1.0)
    side[through] = -1.0
    wanted = np.where(closed, 1.0, np.where(back & ~there.border, -side, side))
    belongs = np.zeros(len(cloth.x))
    belongs[vertices[single, 0]] = wanted[single]
    normal = (wanted * side)[:, None] * np.where(
        (away > 0.0)[:, None], offset / np.where(away > 0.0, away, 1.0)[:, None], side[:, None] * there.normal)
    place, signed = there.point.copy(), wanted * side * away

    turned = np.einsum("qi,qi->q", there.normal, outward) < LEAST_AGREEMENT
    again = np.flatnonzero(closed & (through | (side < 0.0) & turned) & outward.any(axis=1))
    if len(again):
        found, better = collider.facing(points[again], outward[again], away[again] + distance[again])
        again = again[found]
        place[again], signed[again] = better.point[found], -better.distance[found]
        normal[again] = unit(better.point[found] - points[again])
    rows = np.flatnonzero((signed < NEAR_COLLIDERS * distance) & normal.any(axis=1))
    depth = float(np.max(-signed, initial=0.0))
    return _row_pair(vertices[rows], weights[rows], normal[rows], place[rows], distance[rows]), depth, belongs


def _under_faces(cloth: ClothNow, collider: ColliderSurface, wrong: WrongSides, depth: float, side: FloatArray
                 ) -> DistanceRows:
    """Return rows of faces of cloth over vertices of a collider, to the `side` where their vertices belong (V,)."""
    allowed = cloth.allowed[cloth.triangles].any(axis=1) & ~wrong.through[cloth.triangles].any(axis=1)
    triangles, outward = cloth.triangles, cloth.outward_faces
    none = _row_pair(np.zeros((0, 3), dtype=np.int64), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)),
                     np.zeros(0))
    if not allowed.any():
        return none
    corners = cloth.x[triangles]
    span = float(length(corners[:, 1] - corners[:, 0]).mean())
    reach = NEAR_COLLIDERS * float(cloth.distance.max()) + min(depth, span)
    near = corners[allowed]
    vertex = collider.vertices_near(near.min(axis=1) - reach, near.max(axis=1) + reach)
    if len(vertex) == 0:
        return none
    at = collider.x[vertex]
    pairs = touching_boxes(cloth.tree, at - reach, at + reach)
    row, triangle = pairs[allowed[pairs[:, 1]]].T
    close = point_triangle(at[row], *(corners[triangle, k] for k in range(3)))
    closed, facing = collider.closed_vertices[vertex][row], np.sign(side[triangles].sum(axis=1))[triangle]
    facing[closed] = 1.0
    normal = collider.vertex_normals[vertex][row] * facing[:, None]
    agree = np.einsum("pi,pi->p", normal, outward[triangle])
    agree = np.where(closed, agree, np.abs(agree)) > LEAST_AGREEMENT
    rows = np.flatnonzero(agree & (close.distance < reach))
    order = rows[np.lexsort((triangle[rows], close.distance[rows], row[rows]))]
    best = order[np.unique(row[order], return_index=True)[1]]
    row, triangle, away, normal = row[best], triangle[best], close.distance[best], normal[best]
    offset, weights = close.point[best] - at[row], close.barycentric[best]
    height = np.einsum("pi,pi->p", offset, normal)
    distance = np.einsum("pk,pk->p", weights, cloth.distance[triangles[triangle]])
    signed = np.where(height < 0.0, -away, away)
    rows = np.flatnonzero((np.abs(height) >= STEEP * away) & (away > 0.0) & (signed < NEAR_COLLIDERS * distance))
    direction = offset[rows] / signed[rows, None]
    return _row_pair(triangles[triangle[rows]], weights[rows], direction, at[row[rows]], distance[rows])


def _at_crossings(cloth: ClothNow, collider: ColliderSurface, crossings: ColliderCrossings, wrong: WrongSides,
                  side: FloatArray) -> DistanceRows:
    """Return rows that move the points of intersection out of the collider, to the `side` where vertices belong (V,).
    """
    shape, parts = collider.shape, []
    ends, triangle = cloth.edges[crossings.edges[:, 0]], crossings.edges[:, 1]
    normal = collider.face_normals[triangle]
    height = np.einsum("nki,ni->nk", cloth.x[ends] - collider.x[shape.triangles[triangle, 0]][:, None], normal)
    drop = height[:, 0] - height[:, 1]
    share = np.clip(height[:, 0] / np.where(drop != 0.0, drop, 1.0), 0.0, 1.0)
    weights = np.stack([1.0 - share, share, np.zeros_like(share)], axis=1)
    back = wrong.back[ends]
    good = height[np.arange(len(ends)), np.argmin(back, axis=1)]
    sign = np.where(shape.closed[triangle], 1.0, np.where(back[:, 0] == back[:, 1], 0.0, np.sign(good)))
    agree = np.einsum("ni,ni->n", normal, cloth.outward[ends].sum(axis=1)) > 0.0
    rows = np.flatnonzero(np.where(shape.closed[triangle], agree, sign != 0.0))
    vertices = ends[:, [0, 1, 1]]
    parts.append((vertices[rows], weights[rows], (sign[:, None] * normal)[rows]))

    ends, corners = collider.surface.edges[crossings.faces[:, 0]], cloth.triangles[crossings.faces[:, 1]]
    outward = cloth.outward_faces[crossings.faces[:, 1]]
    height = np.einsum("nki,ni->nk", collider.x[ends] - cloth.x[corners[:, :1]], outward)
    drop = height[:, 0] - height[:, 1]
    share = np.clip(height[:, 0] / np.where(drop != 0.0, drop, 1.0), 0.0, 1.0)[:, None]
    place = collider.x[ends[:, 0]] + share * (collider.x[ends[:, 1]] - collider.x[ends[:, 0]])
    weights = point_triangle(place, *(cloth.x[corners[:, k]] for k in range(3))).barycentric
    normal = unit(collider.vertex_normals[ends].sum(axis=1))
    agree = np.einsum("ni,ni->n", normal, outward) > 0.0
    facing = np.sign(side[corners].sum(axis=1))
    closed = collider.closed_vertices[ends].all(axis=1)
    rows = np.flatnonzero(np.where(closed, agree, facing != 0.0))
    parts.append((corners[rows], weights[rows], (normal * np.where(closed, 1.0, facing)[:, None])[rows]))

    vertices, weights, normal = (np.concatenate(part) for part in zip(*parts, strict=True))
    place = np.einsum("nk,nki->ni", weights, cloth.x[vertices])
    return _row_pair(vertices, weights, normal, place, np.einsum("nk,nk->n", weights, cloth.distance[vertices]))
