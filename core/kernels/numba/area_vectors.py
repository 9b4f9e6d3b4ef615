# SPDX-License-Identifier: GPL-3.0-or-later
"""Area vectors of triangles, compiled. Arguments and results are those of `kernels.numpy.area_vectors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import area_vectors as formulas
from ..formulas.area_vectors import across, area_vector, cone_volume, gradient_change
from ..layouts import HalfEdges
from .assembly import subtract_scattered
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_VERTICES, share
from .vectors import add, at

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil

register(formulas, INLINED)


def area_vectors(triangles: IntArray, x: FloatArray) -> FloatArray:
    """Return N (T, 3) [m^2] of triangles (T, 3) at x (V, 3) [m]."""
    N = np.empty((len(triangles), 3))
    share(_area_vectors, len(triangles), LEAST_VERTICES, triangles, x, N)
    return N


def add_to_corners(stencil: Stencil, vectors: FloatArray, total: FloatArray) -> None:
    """Add vectors (T, 3) of triangles, times the weight of each corner, to total (V, 3)."""
    subtract_scattered(stencil, -vectors[:, None], total)


def cone_volumes(triangles: IntArray, origins: FloatArray, piece: IntArray, x: FloatArray, N: FloatArray) -> FloatArray:
    """Return the volumes (T,) [m^3] of cones from the origin (P, 3) of each triangle's piece (T,) to the triangle."""
    volumes = np.empty(len(triangles))
    share(_cone_volumes, len(triangles), LEAST_VERTICES, triangles, np.ascontiguousarray(origins), piece, x, N, volumes)
    return volumes


def edge_vectors(opposite: IntArray, factors: FloatArray, piece: IntArray, x: FloatArray) -> FloatArray:
    """Return the vectors (H, 3) of half-edges."""
    vectors = np.empty((len(opposite), 3))
    share(_edge_vectors, len(opposite), LEAST_VERTICES, opposite, factors, piece, x, vectors)
    return vectors


def add_gradient_changes(half_edges: HalfEdges, vectors: FloatArray, u: FloatArray, total: FloatArray) -> None:
    """Add the changes of the volume's gradient by displacements u (V, 3) to total (V, 3)."""
    share(_add_gradient_changes, len(half_edges.starts) - 1, LEAST_VERTICES, half_edges.starts, half_edges.ends,
          vectors, np.ascontiguousarray(u), total)


@njit(**KERNEL)
def _area_vectors(begin: Any, end: Any, triangles: Any, x: Any, N: Any) -> None:
    """Write N (T, 3) [m^2] of triangles begin..end - 1."""
    for t in range(begin, end):
        N[t, 0], N[t, 1], N[t, 2] = area_vector(at(x, triangles[t, 0]), at(x, triangles[t, 1]), at(x, triangles[t, 2]))


@njit(**KERNEL)
def _cone_volumes(begin: Any, end: Any, triangles: Any, origins: Any, piece: Any, x: Any, N: Any, volumes: Any) -> None:
    """Write the volumes of triangles begin..end - 1."""
    for t in range(begin, end):
        volumes[t] = cone_volume(at(origins, piece[t]), at(x, triangles[t, 0]), at(N, t))


@njit(**KERNEL)
def _edge_vectors(begin: Any, end: Any, opposite: Any, factors: Any, piece: Any, x: Any, vectors: Any) -> None:
    """Write the vectors of half-edges begin..end - 1."""
    for i in range(begin, end):
        vectors[i, 0], vectors[i, 1], vectors[i, 2] = across(factors[piece[i]], at(x, opposite[i, 0]),
                                                              at(x, opposite[i, 1]))


@njit(**KERNEL)
def _add_gradient_changes(begin: Any, end: Any, starts: Any, ends: Any, vectors: Any, u: Any, total: Any) -> None:
    """Add the changes at vertices begin..end - 1."""
    for i in range(begin, end):
        change = (0.0, 0.0, 0.0)
        for k in range(np.uintp(starts[i]), np.uintp(starts[i + 1])):
            change = add(change, gradient_change(at(vectors, k), at(u, i), at(u, np.uintp(ends[k]))))
        for a in range(3):
            total[i, a] += change[a]
