# SPDX-License-Identifier: GPL-3.0-or-later
"""Air drag of triangles, by `formulas.drag`.

Each triangle has a vector q [sqrt(kg/s)]; its outer product q q^T is -df_i/dv_j for any two of its corners i, j.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arrays import FloatArray, IntArray
from ..formulas.drag import corner_drag, drag_vector
from .vectors import corners, join, split

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def add_force(stencil: Stencil, vectors: FloatArray, u: FloatArray, total: FloatArray) -> None:
    """Subtract the drag at velocities u (V, 3) [m/s] from the forces `total` (V, 3) [N].

    vectors (T, 3) [sqrt(kg/s)]: q of each triangle. stencil: sums up the three corners of each triangle.
    """
    (sum_of_corners,) = stencil.gather(u)
    total -= stencil.scatter((corner_drag(split(vectors), sum_of_corners),), len(u))


def drag_vectors(triangles: IntArray, coefficients: FloatArray, x: FloatArray) -> FloatArray:
    """Return q = sqrt(k_d A / 9) n (T, 3) [sqrt(kg/s)] of triangles (T, 3) at x (V, 3) [m]; coefficients: k_d (T,)."""
    a, b, c = corners(x, triangles)
    return join(drag_vector(a, b, c, coefficients))
