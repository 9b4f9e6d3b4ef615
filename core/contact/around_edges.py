# SPDX-License-Identifier: GPL-3.0-or-later
"""Planes of vertices that come to a face around its edge.

A path that ends beside a face, nearer than the distance kept from it, is held by the plane along that face. But one
that began above the face's edge has never been on that plane's side by the whole distance, and would be pushed there
within the step: a sheet with two rows of vertices above the edges of a box would be stretched by twice the distance.
What such a path runs into first is what it came from, or the rounded rim around the edge. Its plane is the one across
the way from the closest point of the surface to where the path first comes within the distance kept.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import FloatArray, IntArray
from .colliders import MovingSurface, axes_of
from .containment import nearest
from .planes import Planes

AROUND = 0.1
"""Part of the distance kept by which a start must be nearer to the plane than to the surface, and an end must be too
near, to have come around an edge [-]."""
SHARP_EDGE_COSINE = 0.7
"""Cosine of the angle between the normals here and there below which an edge is one [-]: around others the plane of the
end follows the surface better."""
RIM_TOLERANCE = 0.2
"""Part of the distance kept by which a vertex may be further away and still be at the rim [-]."""
LEAST_PATH_ADVANCE = 0.1
"""Part of the distance kept by which one goes along a path at least to look again [-]."""
MOST_PATH_STEPS = 64
"""How often one looks at most."""
LEAST_EDGE_DISTANCE = 1e-3
"""Distance over the one kept below which the direction from an edge says nothing [-]."""


def around_edges(planes: Planes, surface: MovingSurface, x_t0: FloatArray, x_t1: FloatArray, distance: FloatArray,
                 room: FloatArray, rows: IntArray) -> Planes:
    """The planes, those of paths from x_t0 to x_t1 (V, 3) [m] that come around an edge turned to what they meet first.

    distance (V,) [m]: of x_t0 from the surface, negative inside; room (V,) [m]: to be kept from it; rows (R,): of the
    planes that may be of such paths.
    """
    vertex, triangles = planes.vertex[rows], surface.shape.triangles
    kept, corners = room[vertex], triangles[planes.triangle[rows]]
    height_t0, height_t1 = (np.einsum("pi,pi->p", x[vertex] - np.einsum(
        "pk,pki->pi", planes.barycentric[rows], at[corners]), planes.normal[rows])
        for x, at in ((x_t0, surface.x_t0), (x_t1, surface.x_t1)))
    around = np.flatnonzero((height_t1 < (1.0 - AROUND) * kept) & (height_t0 < (1.0 - AROUND) * kept)
                            & (distance[vertex] > np.maximum(height_t0, 0.0) + AROUND * kept))
    if len(around) == 0:
        return planes
    rows, vertex, kept, corners = rows[around], vertex[around], kept[around], corners[around]
    result = replace(planes, triangle=planes.triangle.copy(), barycentric=planes.barycentric.copy(),
                     normal=planes.normal.copy())
    # as the surface lies at the end, the start carried there with it
    before, after = surface.x_t0[corners], surface.x_t1[corners]
    arm = np.einsum("nij,nj->ni", axes_of(before), x_t0[vertex] - before[:, 0])
    start = after[:, 0] + np.einsum("nij,ni->nj", axes_of(after), arm)
    path, time = x_t1[vertex] - start, np.zeros(len(rows))
    for _ in range(MOST_PATH_STEPS):
        x = start + time[:, None] * path
        triangle, place = nearest(x, surface.x_t1, triangles, surface.tree_t1)
        there = (place.distance <= (1.0 + RIM_TOLERANCE) * kept) | (time == 1.0)
        sharp = there & (place.distance > LEAST_EDGE_DISTANCE * kept)
        normal = (x - place.point) / np.where(sharp, place.distance, 1.0)[:, None]
        sharp &= np.einsum("ni,ni->n", normal, planes.normal[rows]) < SHARP_EDGE_COSINE
        some = rows[sharp]
        result.triangle[some], result.barycentric[some] = triangle[sharp], place.barycentric[sharp]
        result.normal[some] = normal[sharp]
        # nothing is met before what is further away than is kept
        room = np.maximum(place.distance - kept, LEAST_PATH_ADVANCE * kept)
        time = np.minimum(time + room / np.maximum(np.linalg.norm(path, axis=1), room), 1.0)
        rows, start, path, time, kept = (values[~there] for values in (rows, start, path, time, kept))
        if len(rows) == 0:
            break
    return result
