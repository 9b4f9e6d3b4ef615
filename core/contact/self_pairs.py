# SPDX-License-Identifier: GPL-3.0-or-later
"""Which primitives of one surface may be close to each other, or come close, in a step.

Two surfaces come closest at a vertex and a triangle, or at two edges, and so does one with itself. A pair is a
candidate if the boxes around both are nowhere further apart than a radius along an axis, on the same side at the start
and at the end, and if it is not quickly found to keep apart across some plane. Cloth that moves as one comes no closer
to itself: only how a pair moves in relation to each other counts. Pairs with a common vertex are left out: they always
touch.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .triangle_surface import TriangleSurface


def candidate_pairs(surface: TriangleSurface, x_t0: FloatArray, x_t1: FloatArray, slack: FloatArray, radius: float
                    ) -> tuple[IntArray, IntArray]:
    """Pairs without a common vertex that may be within `radius` [m] at x_t0 (V, 3) [m], or meet on straight ways to
    ends within `slack` (V,) [m], at most half the radius, of x_t1.

    Returns:
        vertices with triangles (N, 2), and edges with edges (M, 2), the smaller number first; both in lexicographic
        order. Triangles and edges by their rows in `surface`.
    """
    vertex_triangle, edge_edge = current().self_pairs.candidate_pairs(
        surface.triangles, surface.edges, surface.vertices, surface.triangle_order, surface.edge_order,
        np.asarray(x_t0), np.asarray(x_t1), np.asarray(slack), radius)
    return vertex_triangle, edge_edge
