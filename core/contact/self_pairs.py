# SPDX-License-Identifier: GPL-3.0-or-later
"""Which primitives of one surface may be close to each other, or come close, in a step.

Two surfaces come closest at a vertex and a triangle, or at two edges, and so does one with itself. A pair is a
candidate if the boxes around both are nowhere further apart than a radius along an axis, on the same side at the start
and at the end, and if it is not quickly found to keep apart across some plane. Cloth that moves as one comes no closer
to itself: only how a pair moves in relation to each other counts. Pairs with a common vertex are left out: they always
touch. So are those with vertices that are sewn together.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from .kept_searches import KeptSearches
from .triangle_surface import TriangleSurface


def candidate_pairs(surface: TriangleSurface, x_t0: FloatArray, x_t1: FloatArray, slack: FloatArray,
                    radius: FloatArray, some: BoolArray | None = None, *, far: float = np.inf,
                    kept: KeptSearches | None = None) -> tuple[IntArray, IntArray]:
    """Pairs without a common vertex that may be within their radius at x_t0 (V, 3) [m], or meet on straight ways to
    ends within `slack` (V,) [m], of two vertices together at most the radius, of x_t1; only those with one of the
    vertices `some` (V,), if given. A pair's radius is the mean of those of its primitives, each of which has the
    largest `radius` (V,) [m] of its vertices. Pairs further apart than `far` [m] have to keep no more than those that
    far apart. `kept`: of searches from the same start; None if there are no others.

    Returns:
        vertices with triangles (N, 2), and edges with edges (M, 2), the smaller number first; both in lexicographic
        order. Triangles and edges by their rows in `surface`.
    """
    find, points, edges = current().self_pairs.pairs, np.arange(len(x_t0))[:, None], surface.edges
    step = np.asarray(x_t0), np.asarray(x_t1), np.asarray(slack), radius, far, some
    kept = kept or KeptSearches()
    return _unsewn(surface, find(surface.vertices, points, surface.triangle_order, surface.triangles, False, *step,
                                 kept.of("vertices")),
                   find(surface.edge_order, edges, surface.edge_order, edges, True, *step, kept.of("edges")))


def _unsewn(surface: TriangleSurface, faces: IntArray, edges: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of vertices and triangles (N, 2) and of edges (M, 2) without those that a seam joins."""
    if surface.sewn is None:
        return faces, edges
    return (faces[surface.apart(faces[:, :1], surface.triangles[faces[:, 1]])],
            edges[surface.apart(surface.edges[edges[:, 0]], surface.edges[edges[:, 1]])])
