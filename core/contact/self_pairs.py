# SPDX-License-Identifier: GPL-3.0-or-later
"""Which primitives of one surface may come close to each other in a step.

Two surfaces come closest at a vertex and a triangle, or at two edges, and so does one with itself. A pair is a
candidate if the boxes around what both sweep, from the start of the step to its end in a straight line, are within
a radius of each other along every axis, and are so, too, as seen by one who moves with the pair: cloth that moves as
one comes no closer to itself. Pairs with a common vertex are left out: they always touch.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from .triangle_surface import TriangleSurface


def candidate_pairs(
    surface: TriangleSurface, x_t0: FloatArray, x_t1: FloatArray, radius: float
) -> tuple[IntArray, IntArray]:
    """Pairs whose swept boxes, from x_t0 to x_t1 (V, 3) [m], are within `radius` [m], and still are without the mean
    motion of the pair's vertices; without a common vertex.

    Returns:
        vertices with triangles (N, 2), and edges with edges (M, 2), the smaller number first; both in lexicographic
        order. Triangles and edges by their rows in `surface`.
    """
    vertex_triangle, edge_edge = current().self_pairs.candidate_pairs(
        surface.triangles, surface.edges, surface.vertices, surface.triangle_order, surface.edge_order,
        np.asarray(x_t0), np.asarray(x_t1), radius)
    return vertex_triangle, edge_edge
