# SPDX-License-Identifier: GPL-3.0-or-later
"""Area vectors of triangles, by `formulas.area_vectors`, and forces along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas.area_vectors import across, area_vector, cone_volume, gradient_change
from ..layouts import HalfEdges
from .vectors import corners, join, split

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def area_vectors(triangles: IntArray, x: FloatArray) -> FloatArray:
    """Return N (T, 3) [m^2] of triangles (T, 3) at x (V, 3) [m]."""
    return join(area_vector(*corners(x, triangles)))


def add_to_corners(stencil: Stencil, vectors: FloatArray, total: FloatArray) -> None:
    """Add vectors (T, 3) of triangles, times the weight of each corner, to total (V, 3)."""
    total += stencil.scatter((split(vectors),), len(total))


def cone_volumes(triangles: IntArray, origins: FloatArray, piece: IntArray, x: FloatArray, N: FloatArray) -> FloatArray:
    """Return the volumes (T,) [m^3] of cones from the origin (P, 3) of each triangle's piece (T,) to the triangle."""
    volumes: FloatArray = cone_volume(split(origins[piece]), split(x[triangles[:, 0]]), split(N))
    return volumes


def edge_vectors(opposite: IntArray, factors: FloatArray, piece: IntArray, x: FloatArray) -> FloatArray:
    """Return `formulas.area_vectors.across` (H, 3) of half-edges.

    opposite: (H, 2), k and l. factors: (P,) of the pieces. piece: (H,). x: (V, 3).
    """
    return join(across(factors[piece], split(x[opposite[:, 0]]), split(x[opposite[:, 1]])))


def add_gradient_changes(half_edges: HalfEdges, vectors: FloatArray, u: FloatArray, total: FloatArray) -> None:
    """Add the changes of the volume's gradient by displacements u (V, 3) to total (V, 3), with vectors (H, 3) of
    `edge_vectors`."""
    first = np.repeat(np.arange(len(half_edges.starts) - 1), np.diff(half_edges.starts))
    changes = gradient_change(split(vectors), split(u[first]), split(u[half_edges.ends]))
    for axis, change in enumerate(changes):
        total[:, axis] += np.bincount(first, change, len(total))
