# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces of one mesh that touch at a vertex, as Suzanne's eyes touch her face.

The core refuses vertices at one place: mostly these are borders that someone forgot to merge, and to which side of each
other such vertices belong cannot be told. Within surfaces it can: there each is drawn a hair towards its neighbours.
"""

from __future__ import annotations

import numpy as np

from ...core.arrays import BoolArray, FloatArray
from . import mesh_data

HAIR = 1e-4
"""How far a vertex is drawn towards the middle of its neighbours, over its distance from there [-]."""


def drawn_apart(positions: FloatArray, mesh: mesh_data.Mesh) -> FloatArray:
    """Where the core is to have the vertices (V, 3) of a mesh; those that touch nothing stay where they are."""
    _, where, count = np.unique(positions, axis=0, return_inverse=True, return_counts=True)
    touching = count[where.ravel()] > 1
    if not touching.any():
        return positions
    ends = mesh_data.edges(mesh)
    moved = touching & ~_on_border(mesh)
    across, number = positions[ends[:, ::-1].ravel()], np.bincount(ends.ravel(), minlength=len(positions))
    total = np.stack([np.bincount(ends.ravel(), across[:, k], len(positions)) for k in range(3)], axis=1)
    result = positions.copy()
    result[moved] += HAIR * (total[moved] / number[moved][:, None] - positions[moved])
    return result


def _on_border(mesh: mesh_data.Mesh) -> BoolArray:
    """Vertices (V,) that have no edge, or one that is not between faces."""
    ends, between = mesh_data.edges(mesh), mesh_data.faces_at_edges(mesh) >= 2
    result = np.ones(len(mesh.vertices), bool)
    result[ends[between].ravel()] = False
    result[ends[~between].ravel()] = True
    return result
