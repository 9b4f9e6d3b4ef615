# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate pairs of one surface with itself, as `contact.self_pairs` defines them.

A box is within the radius of another if, grown by the radius, it touches it. The vertex is grown, or the edge with
the smaller number, so that both backends round alike.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
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
    near = near[(triangles[near[:, 1]] != near[:, :1]).all(axis=1)]

    low, high = element_boxes(edges, x_t0, x_t1)
    pairs = touching_boxes(edge_order, fitted(edge_order, low, high), low - radius, high + radius)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    a, b = edges[pairs[:, 0]], edges[pairs[:, 1]]
    pairs = pairs[(a[:, :, None] != b[:, None, :]).all(axis=(1, 2))]
    return (near[_near_without_drift(near[:, :1], triangles[near[:, 1]], x_t0, x_t1, radius)],
            pairs[_near_without_drift(edges[pairs[:, 0]], edges[pairs[:, 1]], x_t0, x_t1, radius)])


def _near_without_drift(one: IntArray, other: IntArray, x_t0: FloatArray, x_t1: FloatArray,
                        radius: float) -> BoolArray:
    """Whether boxes of the vertices (P, a) and (P, b) are within the radius, the mean motion of all taken off (P,)."""
    drift = np.zeros((len(one), 3))
    for column in (*one.T, *other.T):
        drift += x_t1[column] - x_t0[column]
    drift /= one.shape[1] + other.shape[1]
    sides = []
    for corners in (one, other):
        ends = x_t1[corners] - drift[:, None, :]
        sides.append((np.minimum(x_t0[corners], ends).min(axis=1), np.maximum(x_t0[corners], ends).max(axis=1)))
    (low, high), (lower, upper) = sides
    near: BoolArray = ((low - radius <= upper) & (lower <= high + radius)).all(axis=1)
    return near
