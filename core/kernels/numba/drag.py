# SPDX-License-Identifier: GPL-3.0-or-later
"""Air drag of triangles, compiled: one loop over triangles, and one over vertices that adds up their forces.

Arguments and results are those of `kernels.numpy.drag`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import drag as formulas
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


@njit(**KERNEL)
def _vectors(begin: Any, end: Any, triangles: Any, coefficients: Any, x: Any, q: Any) -> None:
    """Write q (T, 3) [sqrt(kg/s)] of triangles begin..end - 1."""
    for t in range(begin, end):
        q[t, 0], q[t, 1], q[t, 2] = drag_vector(at(x, triangles[t, 0]), at(x, triangles[t, 1]), at(x, triangles[t, 2]),
                                                coefficients[t])


@njit(**KERNEL)
def _corner_drags(begin: Any, end: Any, triangles: Any, q: Any, u: Any, P: Any) -> None:
    """Write the drag on each corner (T, 1, 3) [N] of triangles begin..end - 1, at velocities u (V, 3) [m/s]."""
    for t in range(begin, end):
        total = add(add(at(u, triangles[t, 0]), at(u, triangles[t, 1])), at(u, triangles[t, 2]))
        P[t, 0, 0], P[t, 0, 1], P[t, 0, 2] = corner_drag(at(q, t), total)
