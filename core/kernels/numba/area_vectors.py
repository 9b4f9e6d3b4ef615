# SPDX-License-Identifier: GPL-3.0-or-later
"""Area vectors of triangles, compiled. Arguments and results are those of `kernels.numpy.area_vectors`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import area_vectors as formulas
from ..formulas.area_vectors import area_change, area_vector
from .assembly import subtract_scattered
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_VERTICES, share
from .vectors import at

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil

register(formulas, INLINED)


def area_vectors(triangles: IntArray, x: FloatArray) -> FloatArray:
    """Return N (T, 3) [m^2] of triangles (T, 3) at x (V, 3) [m]."""
    N = np.empty((len(triangles), 3))
    share(_area_vectors, len(triangles), LEAST_VERTICES, triangles, x, N)
    return N


def area_changes(triangles: IntArray, first: FloatArray, second: FloatArray, u: FloatArray) -> FloatArray:
    """Return dN (T, 3) of displacements u (V, 3); half edges first and second (T, 3) as of `area_change`."""
    changes = np.empty((len(triangles), 3))
    share(_area_changes, len(triangles), LEAST_VERTICES, triangles, first, second, u, changes)
    return changes


def add_to_corners(stencil: Stencil, vectors: FloatArray, total: FloatArray) -> None:
    """Add vectors (T, 3) of triangles, times the weight of each corner, to total (V, 3)."""
    subtract_scattered(stencil, -vectors[:, None], total)


@njit(**KERNEL)
def _area_vectors(begin: Any, end: Any, triangles: Any, x: Any, N: Any) -> None:
    """Write N (T, 3) [m^2] of triangles begin..end - 1."""
    for t in range(begin, end):
        N[t, 0], N[t, 1], N[t, 2] = area_vector(at(x, triangles[t, 0]), at(x, triangles[t, 1]), at(x, triangles[t, 2]))


@njit(**KERNEL)
def _area_changes(begin: Any, end: Any, triangles: Any, first: Any, second: Any, u: Any, changes: Any) -> None:
    """Write dN (T, 3) of triangles begin..end - 1."""
    for t in range(begin, end):
        changes[t, 0], changes[t, 1], changes[t, 2] = area_change(
            at(first, t), at(second, t), at(u, triangles[t, 0]), at(u, triangles[t, 1]), at(u, triangles[t, 2]))
