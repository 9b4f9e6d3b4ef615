# SPDX-License-Identifier: GPL-3.0-or-later
"""Which primitives of one surface are close to each other, or may come close, in a step.

Two surfaces come closest at a vertex and a triangle, or at two edges, and so does one with itself. Of such pairs those
are looked for that are within a radius, or for which it cannot be ruled out that they meet: the boxes around both are
nowhere further apart than the radius along an axis, on the same side at the start and at the end; and no plane is found
that they keep apart from by a part of their distance, at the start and at the end and so in between. Cloth that moves
as one comes no closer to itself: only how a pair moves in relation to each other counts. Pairs with a common vertex are
left out: they always touch.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .triangle_surface import TriangleSurface


def near_primitives(surface: TriangleSurface, x_t0: FloatArray, x_t1: FloatArray, slack: FloatArray, radius: float
                    ) -> tuple[IntArray, IntArray]:
    """Pairs within `radius` [m] at x_t0 (V, 3) [m], or that may meet on straight ways to ends within `slack` (V,) [m]
    of x_t1, at most half the radius; without a common vertex.

    Returns:
        vertices with triangles (N, 2), and edges with edges (M, 2), the smaller number first; both in lexicographic
        order. Triangles and edges by their rows in `surface`.
    """
    vertex_triangle, edge_edge = current().self_pairs.near_pairs(
        surface.triangles, surface.edges, surface.vertices, surface.triangle_order, surface.edge_order,
        np.asarray(x_t0), np.asarray(x_t1), np.asarray(slack), radius)
    return vertex_triangle, edge_edge
