# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate pairs of one surface with itself, compiled: each primitive walks the tree, and keeps what it finds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from ...arrays import FloatArray, IntArray
from .trees import DEEPEST, SHARE, element_boxes, fitted, rows_of, walk

SLOTS = 32
"""Places for what is near a primitive; where there are more, all are looked for again with as many as it takes."""


def candidate_pairs(
    triangles: IntArray, edges: IntArray, vertices: IntArray, triangle_order: IntArray, edge_order: IntArray,
    x_t0: FloatArray, x_t1: FloatArray, radius: float
) -> tuple[IntArray, IntArray]:
    """Vertices with triangles (N, 2) and edges with edges (M, 2), both in order; the trees' leaves are in `order`."""
    points = np.sort(vertices)[:, None]
    low, high = element_boxes(edges, x_t0, x_t1)
    edge_edge = _pairs(edges, low - radius, high + radius, edges, edge_order, fitted(edge_order, low, high), True)
    low, high = element_boxes(points, x_t0, x_t1)
    nodes = fitted(triangle_order, *element_boxes(triangles, x_t0, x_t1))
    vertex_triangle = _pairs(points, low - radius, high + radius, triangles, triangle_order, nodes, False)
    vertex_triangle[:, 0] = points[vertex_triangle[:, 0], 0]
    return vertex_triangle, edge_edge


def _pairs(queries: IntArray, lower: FloatArray, upper: FloatArray, others: IntArray, order: IntArray,
           nodes: FloatArray, above: bool) -> IntArray:
    count, slots = np.empty(len(queries), dtype=np.int64), SLOTS
    while True:
        found = np.empty((len(queries), slots), dtype=np.int32)
        _all_near(queries, lower, upper, others, order, rows_of(nodes), above, count, found)
        most = int(count.max(initial=0))
        if most <= slots:
            break
        slots = most
    pairs = np.empty((int(count.sum()), 2), dtype=np.int64)
    pairs[:, 0] = np.repeat(np.arange(len(queries)), count)
    pairs[:, 1] = found[np.arange(slots) < count[:, None]]
    return pairs


@njit(cache=True, parallel=True, error_model="numpy")
def _all_near(queries: Any, lower: Any, upper: Any, others: Any, order: Any, rows: Any, above: Any, count: Any,
              found: Any) -> None:
    for share in prange((len(queries) + SHARE - 1) // SHARE):
        _near(share * SHARE, min((share + 1) * SHARE, len(queries)), queries, lower, upper, others, order, rows, above,
              count, found)


@njit(cache=True, error_model="numpy")
def _near(first: Any, last: Any, queries: Any, lower: Any, upper: Any, others: Any, order: Any, rows: Any, above: Any,
          count: Any, found: Any) -> None:
    """For queries first..last - 1; beyond the slots of `found` (Q, slots) they are counted, but not kept."""
    stack, met = np.empty(DEEPEST, dtype=np.int64), np.empty(64, dtype=np.int64)
    for q in range(first, last):
        total = walk(rows, lower[q], upper[q], stack, met)
        if total > len(met):
            met = np.empty(2 * total, dtype=np.int64)
            walk(rows, lower[q], upper[q], stack, met)
        kept = 0
        for k in range(total):
            other = order[met[k]]
            if above and other <= q:
                continue
            apart = True
            for i in range(queries.shape[1]):
                for j in range(others.shape[1]):
                    apart = apart and queries[q, i] != others[other, j]
            if apart:
                met[kept] = other
                kept += 1
        count[q] = kept
        met[:kept].sort()
        for k in range(min(kept, found.shape[1])):
            found[q, k] = met[k]
