# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate pairs of one surface with itself, as `contact.self_pairs` defines them.

A box is within the radius of another if, grown by the radius, it touches it. The vertex is grown, or the edge with
the smaller number, so that both backends round alike.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from .trees import element_boxes, fitted, touching_boxes


def candidate_pairs(
    triangles: IntArray, edges: IntArray, vertices: IntArray, triangle_order: IntArray, edge_order: IntArray,
    x_t0: FloatArray, x_t1: FloatArray, radius: float
) -> tuple[IntArray, IntArray]:
    """Vertices with triangles (N, 2) and edges with edges (M, 2), both in order; the trees' leaves are in `order`."""
    used = np.sort(vertices)
    low, high = np.minimum(x_t0[used], x_t1[used]), np.maximum(x_t0[used], x_t1[used])
    nodes = fitted(triangle_order, *element_boxes(triangles, x_t0, x_t1))
    near = touching_boxes(triangle_order, nodes, low - radius, high + radius)
    near[:, 0] = used[near[:, 0]]
    apart = (triangles[near[:, 1]] != near[:, :1]).all(axis=1)

    low, high = element_boxes(edges, x_t0, x_t1)
    pairs = touching_boxes(edge_order, fitted(edge_order, low, high), low - radius, high + radius)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    a, b = edges[pairs[:, 0]], edges[pairs[:, 1]]
    return near[apart], pairs[(a[:, :, None] != b[:, None, :]).all(axis=(1, 2))]
