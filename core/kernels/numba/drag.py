# SPDX-License-Identifier: GPL-3.0-or-later
"""Air drag of triangles, compiled: one loop over triangles, and one over vertices that adds up their forces.

Arguments and results are those of `kernels.numpy.drag`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import drag as formulas
from ..formulas.drag import air_vectors as air_formula
from ..formulas.drag import corner_drag, drag_vector
from .assembly import subtract_scattered
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_VERTICES, share
from .vectors import add, at

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil

register(formulas, INLINED)


def add_force(stencil: Stencil, vectors: FloatArray, u: FloatArray, total: FloatArray) -> None:
    """Subtract the drag at velocities u (V, 3) [m/s] from the forces `total` (V, 3) [N]."""
    P = np.empty((len(vectors), 1, 3))
    share(_corner_drags, len(vectors), LEAST_VERTICES, stencil.vertices, vectors, u, P)
    subtract_scattered(stencil, P, total)


def drag_vectors(triangles: IntArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """Return q = sqrt(k_d A / 9) n (T, 3) [sqrt(kg/s)] of triangles (T, 3) at x (V, 3) [m]; coefficients: k_d (T,)."""
    q = np.empty((len(triangles), 3))
    share(_vectors, len(triangles), LEAST_VERTICES, triangles, coefficients, x, q)
    return q


def air_vectors(triangles: IntArray, x: FloatArray, u: FloatArray, c_n: FloatArray, c_t: FloatArray, slow: FloatArray,
                mass: FloatArray, h: float) -> tuple[FloatArray, FloatArray]:
    """Return q (T, 3, 3) [sqrt(kg/s)] and g (T, 3) [N] of triangles (T, 3) in a step of h [s].

    x (V, 3) [m]; u (V, 3): velocities relative to the air [m/s]. c_n, c_t, slow, mass (T,): of each triangle.
    """
    q, g = np.empty((len(triangles), 3, 3)), np.empty((len(triangles), 3))
    share(_air_vectors, len(triangles), LEAST_VERTICES, triangles, x, u, c_n, c_t, slow, mass, float(h), q,
          g)
    return q, g


@njit(**KERNEL)
def _vectors(begin: Any, end: Any, triangles: Any, coefficients: Any, x: Any, q: Any) -> None:
    """Write q (T, 3) [sqrt(kg/s)] of triangles begin..end - 1."""
    for t in range(begin, end):
        q[t, 0], q[t, 1], q[t, 2] = drag_vector(at(x, triangles[t, 0]), at(x, triangles[t, 1]), at(x, triangles[t, 2]),
                                                coefficients[t])


@njit(**KERNEL)
def _air_vectors(begin: Any, end: Any, triangles: Any, x: Any, u: Any, c_n: Any, c_t: Any, slow: Any, mass: Any, h: Any,
                 q: Any, g: Any) -> None:
    """Write q (T, 3, 3) [sqrt(kg/s)] and g (T, 3) [N] of triangles begin..end - 1."""
    for t in range(begin, end):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        total = add(add(at(u, i), at(u, j)), at(u, k))
        rows = air_formula(at(x, i), at(x, j), at(x, k), total, c_n[t], c_t[t], slow[t], mass[t], h)
        for a in range(3):
            q[t, 0, a], q[t, 1, a], q[t, 2, a], g[t, a] = rows[0][a], rows[1][a], rows[2][a], rows[3][a]


@njit(**KERNEL)
def _corner_drags(begin: Any, end: Any, triangles: Any, q: Any, u: Any, P: Any) -> None:
    """Write the drag on each corner (T, 1, 3) [N] of triangles begin..end - 1, at velocities u (V, 3) [m/s]."""
    for t in range(begin, end):
        total = add(add(at(u, triangles[t, 0]), at(u, triangles[t, 1])), at(u, triangles[t, 2]))
        drag = corner_drag((q[t, 0, 0], q[t, 0, 1], q[t, 0, 2]), total)
        for r in range(1, q.shape[1]):
            drag = add(drag, corner_drag((q[t, r, 0], q[t, r, 1], q[t, r, 2]), total))
        P[t, 0, 0], P[t, 0, 1], P[t, 0, 2] = drag
