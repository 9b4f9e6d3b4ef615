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
from ..rows import any_of
from .triangle_surface import TriangleSurface


def candidate_pairs(surface: TriangleSurface, x_t0: FloatArray, x_t1: FloatArray, slack: FloatArray, radius: float,
                    some: BoolArray | None = None, *, far: float = np.inf) -> tuple[IntArray, IntArray]:
    """Pairs without a common vertex that may be within `radius` [m] at x_t0 (V, 3) [m], or meet on straight ways to
    ends within `slack` (V,) [m], at most half the radius, of x_t1; only those with one of the vertices `some` (V,), if
    given. Pairs further apart than `far` [m] have to keep no more than those that far apart.

    Returns:
        vertices with triangles (N, 2), and edges with edges (M, 2), the smaller number first; both in lexicographic
        order. Triangles and edges by their rows in `surface`.
    """
    points, step = np.arange(len(x_t0))[:, None], (np.asarray(x_t0), np.asarray(x_t1), np.asarray(slack), radius, far)
    find, vertices, triangles, edges = current().self_pairs.pairs, surface.vertices, surface.triangles, surface.edges
    if some is None:
        return _unsewn(surface, find(vertices, points, surface.triangle_order, triangles, False, *step),
                       find(surface.edge_order, edges, surface.edge_order, edges, True, *step))
    chosen = some[vertices]
    near_triangles = leaves_of(surface.triangle_order, any_of(some[triangles]))
    at_edges = any_of(some[edges])
    near_edges, far_edges = leaves_of(surface.edge_order, at_edges), leaves_of(surface.edge_order, ~at_edges)
    return _unsewn(
        surface,
        _in_order(find(vertices[chosen], points, surface.triangle_order, triangles, False, *step),
                  find(vertices[~chosen], points, near_triangles, triangles, False, *step)),
        _in_order(find(near_edges, edges, near_edges, edges, True, *step),
                  np.sort(find(near_edges, edges, far_edges, edges, False, *step), axis=1)))


def _unsewn(surface: TriangleSurface, faces: IntArray, edges: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs of vertices and triangles (N, 2) and of edges (M, 2) without those that a seam joins."""
    if surface.sewn is None:
        return faces, edges
    return (faces[surface.apart(faces[:, :1], surface.triangles[faces[:, 1]])],
            edges[surface.apart(surface.edges[edges[:, 0]], surface.edges[edges[:, 1]])])


def leaves_of(order: IntArray, wanted: BoolArray) -> IntArray:
    """The leaves of a tree in `order` (L,) that are `wanted` (N,), as those of a smaller one."""
    kept = order[order >= 0]
    kept = kept[wanted[kept]]
    result = np.full(1 << max(0, len(kept) - 1).bit_length(), -1)
    result[:len(kept)] = kept
    return result


def _in_order(one: IntArray, other: IntArray) -> IntArray:
    """The pairs of both (N, 2) in lexicographic order."""
    both = np.concatenate([one, other])
    return both[np.lexsort((both[:, 1], both[:, 0]))]
