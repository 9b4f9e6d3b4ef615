# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of boxes: fitting them, and which boxes touch which (see `contact.bvh` for how a tree lies in memory).

A search walks a frontier of (query, node) pairs one level at a time, at most `CHUNK` pairs at once, so that its memory
is bounded by the answer's. The compiled twin walks a stack for each query instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import FloatArray, IntArray

CHUNK = 1 << 18
"""Pairs of boxes tested at once: some 40 MB of working memory."""

STEP = 2
"""Levels of a tree that a box goes down at once: more boxes to test, in fewer calls."""

Frontier = tuple[IntArray, IntArray]


def element_boxes(elements: IntArray, x_t0: FloatArray, x_t1: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Boxes (lower, upper), each (N, 3) [m], of elements (N, k) over positions x_t0 and x_t1 (V, 3) [m]."""
    corners = [x[elements[:, k]] for x in ((x_t0,) if x_t0 is x_t1 else (x_t0, x_t1)) for k in range(elements.shape[1])]
    lower, upper = corners[0].copy(), corners[0].copy()
    for corner in corners[1:]:
        np.minimum(lower, corner, out=lower)
        np.maximum(upper, corner, out=upper)
    return lower, upper


def fitted(order: IntArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Nodes (6, 2L) of the tree whose leaves hold the boxes lower, upper (N, 3) [m] in `order` (L,)."""
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
    """Nodes (6, 2L) of the tree around elements (N, k) over positions x_t0 and x_t1 (V, 3) [m]."""
    return fitted(order, *element_boxes(elements, x_t0, x_t1))


def touching_boxes(order: IntArray, nodes: FloatArray, lower: FloatArray, upper: FloatArray) -> IntArray:
    """All (box, primitive) pairs (P, 2) that touch, boxes lower, upper (Q, 3) [m], in lexicographic order."""
    leaves = len(order)
    boxes = np.ascontiguousarray(lower.T), np.ascontiguousarray(upper.T)
    tree = nodes[:3], nodes[3:]
    q = np.flatnonzero(((lower <= nodes[3:, 1]) & (nodes[:3, 1] <= upper)).all(axis=1))
    found: list[IntArray] = []
    stack = [(q[i : i + CHUNK], np.ones(len(q[i : i + CHUNK]), dtype=np.int64)) for i in range(0, len(q), CHUNK)]
    while stack:
        query, node = stack.pop()
        query, node = _touching(boxes, query, tree, node)
        if len(query) == 0:
            continue
        if node[0] >= leaves:                              # all nodes of a frontier lie on one level
            found.append(np.stack([query, order[node - leaves]], axis=1))
            continue
        down = min(STEP, (leaves // _level_start(node)).bit_length() - 1)
        node = ((node << down) + np.arange(1 << down)[:, None]).ravel()
        query = np.tile(query, 1 << down)
        stack.extend((query[i : i + CHUNK], node[i : i + CHUNK]) for i in range(0, len(query), CHUNK))
    return sorted_pairs(found)


def touching_trees(order_a: IntArray, nodes_a: FloatArray, order_b: IntArray, nodes_b: FloatArray) -> IntArray:
    """All (primitive of a, primitive of b) pairs (P, 2) whose boxes touch, in lexicographic order."""
    return _walk(order_a, nodes_a, order_b, nodes_b, lambda m, n: (m, n))


def touching_itself(order: IntArray, nodes: FloatArray) -> IntArray:
    """All pairs (P, 2) of different primitives of one tree whose boxes touch, smaller index first, in order."""

    def once(m: IntArray, n: IntArray) -> tuple[IntArray, IntArray]:
        keep = (m < n) | ((m == n) & (m < len(order)))
        return m[keep], n[keep]

    pairs = _walk(order, nodes, order, nodes, once)
    return sorted_pairs([np.sort(pairs, axis=1)])


def sorted_pairs(found: list[IntArray]) -> IntArray:
    """Chunks of pairs as one array (P, 2) in lexicographic order."""
    pairs: IntArray = np.concatenate([np.zeros((0, 2), dtype=np.int64), *found])
    if len(pairs) == 0:
        return pairs
    width = int(pairs[:, 1].max()) + 1
    first, second = np.divmod(np.sort(pairs[:, 0] * width + pairs[:, 1]), width)
    return np.stack([first, second], axis=1)


def _walk(order_a: IntArray, nodes_a: FloatArray, order_b: IntArray, nodes_b: FloatArray,
          prune: Callable[[IntArray, IntArray], Frontier]) -> IntArray:
    """Pairs of primitives that touch: both trees are walked down together, the deeper one alone at first."""
    root = np.ones(1, dtype=np.int64)
    boxes_a, boxes_b = (nodes_a[:3], nodes_a[3:]), (nodes_b[:3], nodes_b[3:])
    stack: list[Frontier] = [(root, root)]
    found: list[IntArray] = []
    while stack:
        m, n = prune(*stack.pop())
        m, n = _touching(boxes_a, m, boxes_b, n)
        if len(m) == 0:
            continue
        levels_a, levels_b = len(order_a) // _level_start(m), len(order_b) // _level_start(n)   # 2^(levels below)
        if levels_a == 1 and levels_b == 1:
            found.append(np.stack([order_a[m - len(order_a)], order_b[n - len(order_b)]], axis=1))
            continue
        if levels_a >= levels_b:
            m, n = np.concatenate([2 * m, 2 * m + 1]), np.concatenate([n, n])
        if levels_b >= levels_a:
            m, n = np.concatenate([m, m]), np.concatenate([2 * n, 2 * n + 1])
        stack.extend((m[i : i + CHUNK], n[i : i + CHUNK]) for i in range(0, len(m), CHUNK))
    return sorted_pairs(found)


def _level_start(node: IntArray) -> int:
    """The first node of the level that the nodes lie on."""
    return 1 << (int(node[0]).bit_length() - 1)


def _touching(
    boxes_a: tuple[FloatArray, FloatArray], i: IntArray, boxes_b: tuple[FloatArray, FloatArray], j: IntArray
) -> Frontier:
    """The pairs (i, j) whose boxes touch. One axis after the other: most pairs are gone after the first."""
    for axis in range(3):
        keep = boxes_a[0][axis][i] <= boxes_b[1][axis][j]
        keep &= boxes_b[0][axis][j] <= boxes_a[1][axis][i]
        i, j = i[keep], j[keep]
    return i, j
