# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of boxes: fit them, and find touching boxes (see `contact.bvh` for the layout of a tree).

A search goes down a frontier of (query, node) pairs, at most `PAIRS_PER_PIECE` at a time, so that its memory is bounded
by that of the result. The compiled kernel has a stack for each query instead.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray

PAIRS_PER_PIECE = 1 << 18
"""Largest number of pairs of boxes that are tested at a time [-]: about 40 MB of temporary memory."""
LEVELS_PER_PASS = 2
"""Levels of a tree that a frontier goes down in one pass [-]: more boxes to test, in fewer calls."""

Frontier = tuple[IntArray, IntArray]


def element_boxes(elements: IntArray, x_t0: FloatArray, x_t1: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return boxes (lower, upper), each (N, 3) [m], of elements (N, k) over positions x_t0 and x_t1 (V, 3) [m]."""
    corners = [x[elements[:, k]] for x in ((x_t0,) if x_t0 is x_t1 else (x_t0, x_t1)) for k in range(elements.shape[1])]
    lower, upper = corners[0].copy(), corners[0].copy()
    for corner in corners[1:]:
        np.minimum(lower, corner, out=lower)
        np.maximum(upper, corner, out=upper)
    return lower, upper


def fitted(order: IntArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return nodes (6, 2L) of the tree whose leaves hold the boxes lower, upper (N, 3) [m] in `order` (L,)."""
    leaves = len(order)
    nodes = np.empty((6, 2 * leaves))
    nodes[:3], nodes[3:] = np.inf, -np.inf
    used = np.flatnonzero(order >= 0)
    nodes[:3, leaves + used] = lower[order[used]].T
    nodes[3:, leaves + used] = upper[order[used]].T
    level = leaves
    while level > 1:
        half = level // 2
        for boxes, merge in ((nodes[:3], np.fmin), (nodes[3:], np.fmax)):
            merge(boxes[:, level : 2 * level : 2], boxes[:, level + 1 : 2 * level : 2], out=boxes[:, half:level])
        level = half
    return nodes


def fitted_around(order: IntArray, elements: IntArray, x_t0: FloatArray, x_t1: FloatArray) -> FloatArray:
    """Return nodes (6, 2L) of the tree around elements (N, k) over positions x_t0 and x_t1 (V, 3) [m]."""
    return fitted(order, *element_boxes(elements, x_t0, x_t1))


def touching_boxes(order: IntArray, nodes: FloatArray, lower: FloatArray, upper: FloatArray) -> IntArray:
    """Return all (box, primitive) pairs (P, 2) that touch, boxes lower, upper (Q, 3) [m], in lexicographic order."""
    leaves = len(order)
    boxes = np.ascontiguousarray(lower.T), np.ascontiguousarray(upper.T)
    tree = nodes[:3], nodes[3:]
    q = np.flatnonzero(((lower <= nodes[3:, 1]) & (nodes[:3, 1] <= upper)).all(axis=1))
    found: list[IntArray] = []
    stack = _pieces(q, np.ones(len(q), dtype=np.int64))
    while stack:
        query, node = stack.pop()
        query, node = _touching(boxes, query, tree, node)
        if len(query) == 0:
            continue
        if node[0] >= leaves:                              # all nodes of a frontier are on one level
            found.append(np.stack([query, order[node - leaves]], axis=1))
            continue
        down = min(LEVELS_PER_PASS, (leaves // _level_start(node)).bit_length() - 1)
        node = ((node << down) + np.arange(1 << down)[:, None]).ravel()
        query = np.tile(query, 1 << down)
        stack.extend(_pieces(query, node))
    return sorted_pairs(found)


def nearest_candidates(order: IntArray, nodes: FloatArray, points: FloatArray) -> IntArray:
    """Return (point, primitive) pairs (P, 2), in order, that hold the nearest primitive of each point (Q, 3) [m].

    A node is dropped where its box begins further away than the farthest corner of another node's box. Boxes have to be
    tight: no larger than their primitives.
    """
    leaves = len(order)
    query = np.arange(len(points), dtype=np.int64)
    node = np.ones(len(points), dtype=np.int64)
    while len(query):
        near, far = np.zeros(len(query)), np.zeros(len(query))
        for axis in range(3):
            place, low, high = points[query, axis], nodes[axis, node], nodes[3 + axis, node]
            near += np.maximum(np.maximum(low - place, place - high), 0.0) ** 2
            far += np.maximum(np.abs(place - low), np.abs(high - place)) ** 2
        bound = np.full(len(points), np.inf)
        np.minimum.at(bound, query, far)
        keep = near <= bound[query] * (1.0 + 1e-12)          # room for the rounding of both sums
        query, node = query[keep], node[keep]
        if len(node) and node[0] >= leaves:
            return sorted_pairs([np.stack([query, order[node - leaves]], axis=1)])
        query, node = np.concatenate([query, query]), np.concatenate([2 * node, 2 * node + 1])
        used = nodes[0, node] <= nodes[3, node]
        query, node = query[used], node[used]
    return sorted_pairs([])


def sorted_pairs(found: list[IntArray]) -> IntArray:
    """Return arrays of pairs as one array (P, 2) in lexicographic order."""
    pairs: IntArray = np.concatenate([np.zeros((0, 2), dtype=np.int64), *found])
    if len(pairs) == 0:
        return pairs
    width = int(pairs[:, 1].max()) + 1
    first, second = np.divmod(np.sort(pairs[:, 0] * width + pairs[:, 1]), width)
    return np.stack([first, second], axis=1)


def _pieces(query: IntArray, node: IntArray) -> list[Frontier]:
    """Return a frontier (query, node) in pieces of `PAIRS_PER_PIECE` pairs."""
    step = PAIRS_PER_PIECE
    return [(query[i : i + step], node[i : i + step]) for i in range(0, len(query), step)]


def _level_start(node: IntArray) -> int:
    """Return the first node of the level of each node, in heap order."""
    return 1 << (int(node[0]).bit_length() - 1)


def _touching(
    boxes_a: tuple[FloatArray, FloatArray], i: IntArray, boxes_b: tuple[FloatArray, FloatArray], j: IntArray
) -> Frontier:
    """Return the pairs (i, j) whose boxes touch.

    boxes_a, boxes_b: lower and upper corners. Tested axis by axis, because the first axis excludes most pairs.
    """
    for axis in range(3):
        keep = boxes_a[0][axis][i] <= boxes_b[1][axis][j]
        keep &= boxes_b[0][axis][j] <= boxes_a[1][axis][i]
        i, j = i[keep], j[keep]
    return i, j
