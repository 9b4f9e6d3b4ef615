# SPDX-License-Identifier: GPL-3.0-or-later
"""Separation of coincident vertices: surfaces of one mesh that touch at a vertex, as Suzanne's eyes touch her face.

The core refuses vertices at one place, because contact cannot tell on which side of each other they are. On borders
this is mostly a border that was not merged, and the error stands. It stands also for vertices of one edge or face,
because there no surfaces touch: the edge or the face has collapsed. All others inside a surface are moved slightly
towards the middle of their neighbours, which puts each on the side of its own surface.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import mesh_data

FloatArray = NDArray[np.float64]

SEPARATION = 1e-4
"""Distance by which a vertex is moved, over its distance from the middle of its neighbours [-]."""


def separate_coincident_vertices(positions: FloatArray, mesh: mesh_data.Mesh) -> FloatArray:
    """Return the positions (V, 3) [m] with coincident vertices inside surfaces moved apart."""
    _, place, count = np.unique(positions, axis=0, return_inverse=True, return_counts=True)
    coincident = count[place.ravel()] > 1
    if not coincident.any():
        return positions
    ends = mesh_data.edges(mesh)
    moved = coincident & ~is_on_border(mesh) & ~_is_collapsed(place.ravel(), mesh)
    opposite, degree = positions[ends[:, ::-1].ravel()], np.bincount(ends.ravel(), minlength=len(positions))
    total = np.stack([np.bincount(ends.ravel(), opposite[:, k], len(positions)) for k in range(3)], axis=1)
    result = positions.copy()
    result[moved] += SEPARATION * (total[moved] / degree[moved][:, None] - positions[moved])
    return result


def _is_collapsed(place: NDArray[np.intp], mesh: mesh_data.Mesh) -> NDArray[np.bool_]:
    """Return which vertices (V,) are at the same of the places (V,) as another one of one edge or face there."""
    vertices, starts = mesh_data.corners(mesh)
    ends = mesh_data.edges(mesh)
    face = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(vertices)))
    at = place[vertices]
    order = np.lexsort((at, face))
    twice = (np.diff(face[order]) == 0) & (np.diff(at[order]) == 0)
    collapsed = np.zeros(len(place), bool)
    collapsed[at[order[1:][twice]]] = True
    collapsed[place[ends[place[ends[:, 0]] == place[ends[:, 1]], 0]]] = True
    return collapsed[place]


def is_on_border(mesh: mesh_data.Mesh) -> NDArray[np.bool_]:
    """Return which vertices (V,) have no edge, or an edge with fewer than two faces."""
    ends, between = mesh_data.edges(mesh), mesh_data.faces_at_edges(mesh) >= 2
    result = np.ones(len(mesh.vertices), bool)
    result[ends[between].ravel()] = False
    result[ends[~between].ravel()] = True
    return result
