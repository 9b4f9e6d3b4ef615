# SPDX-License-Identifier: GPL-3.0-or-later
"""A bounding volume hierarchy over the boxes of primitives: which boxes touch which.

The tree is a complete binary tree in heap order: the root is node 1, the children of node n are 2n and 2n + 1, and the
L leaves, L a power of two, are nodes L..2L - 1. A leaf holds one primitive; surplus leaves hold an empty box, which
touches nothing. The order of the leaves comes from splitting at the median of the longest side, level by level,
all nodes of a level at once. It is made once; `refit` takes moved boxes in O(L) and keeps it.

Boxes are closed: boxes that share no more than a face, an edge or a corner touch. There is no tolerance; who wants one
grows the boxes. A box with a nan touches nothing.

A search walks a frontier of (node, node) pairs one level at a time, at most `CHUNK` pairs at once, so that its memory
is bounded by the answer's. The loop is written for NumPy; the compiled twin walks a stack instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray

CHUNK = 1 << 18
"""Pairs of boxes tested at once: some 40 MB of working memory."""


@dataclass(frozen=True)
class BVH:
    """A tree over N boxes.

    Attributes:
        order (L,): primitive in each leaf, -1 in a surplus one.
        node_lower, node_upper (3, 2L) [m]: boxes of the nodes; row 0 is unused.
    """

    order: IntArray
    node_lower: FloatArray
    node_upper: FloatArray

    @property
    def leaves(self) -> int:
        """L"""
        return len(self.order)

    @staticmethod
    def build(lower: FloatArray, upper: FloatArray) -> BVH:
        """A tree over the boxes lower, upper (N, 3) [m]."""
        return _fitted(_median_order(0.5 * lower + 0.5 * upper), lower, upper)

    def refit(self, lower: FloatArray, upper: FloatArray) -> BVH:
        """The same tree over moved boxes lower, upper (N, 3) [m] of the same primitives."""
        return _fitted(self.order, lower, upper)


def element_boxes(elements: IntArray, *positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Boxes (lower, upper), each (N, 3) [m], of elements (N, k) over all the given positions (V, 3) [m]."""
    corners = [x[elements[:, k]] for x in positions for k in range(elements.shape[1])]
    lower, upper = corners[0].copy(), corners[0].copy()
    for corner in corners[1:]:
        np.minimum(lower, corner, out=lower)
        np.maximum(upper, corner, out=upper)
    return lower, upper


def touching_boxes(tree: BVH, lower: FloatArray, upper: FloatArray) -> IntArray:
    """All (box, primitive) pairs (P, 2) that touch, boxes lower, upper (Q, 3) [m], in lexicographic order."""
    boxes = np.ascontiguousarray(lower.T), np.ascontiguousarray(upper.T)
    q = np.arange(len(lower), dtype=np.int64)
    found: list[IntArray] = []
    stack = [(q[i : i + CHUNK], np.ones(len(q[i : i + CHUNK]), dtype=np.int64)) for i in range(0, len(q), CHUNK)]
    while stack:
        query, node = stack.pop()
        query, node = _touching(boxes, query, (tree.node_lower, tree.node_upper), node)
        if len(query) == 0:
            continue
        if node[0] >= tree.leaves:                     # all nodes of a frontier lie on one level
            found.append(np.stack([query, tree.order[node - tree.leaves]], axis=1))
            continue
        query = np.concatenate([query, query])
        node = np.concatenate([2 * node, 2 * node + 1])
        stack.extend((query[i : i + CHUNK], node[i : i + CHUNK]) for i in range(0, len(query), CHUNK))
    return _sorted_pairs(found)


def touching_trees(a: BVH, b: BVH) -> IntArray:
    """All (primitive of a, primitive of b) pairs (P, 2) whose boxes touch, in lexicographic order."""
    return _walk(a, b, lambda m, n: (m, n))


def touching_itself(tree: BVH) -> IntArray:
    """All pairs (P, 2) of different primitives of one tree whose boxes touch, smaller index first, in order."""

    def once(m: IntArray, n: IntArray) -> tuple[IntArray, IntArray]:
        keep = (m < n) | ((m == n) & (m < tree.leaves))
        return m[keep], n[keep]

    pairs = _walk(tree, tree, once)
    return _sorted_pairs([np.sort(pairs, axis=1)])


def nearest_candidates(tree: BVH, points: FloatArray) -> IntArray:
    """(point, primitive) pairs (P, 2), in order, that hold the nearest primitive of each point (Q, 3) [m].

    A node is dropped where its box begins further away than the farthest corner of another node's box. Boxes have
    to be tight: no larger than their primitives.
    """
    query = np.arange(len(points), dtype=np.int64)
    node = np.ones(len(points), dtype=np.int64)
    while len(query):
        near, far = np.zeros(len(query)), np.zeros(len(query))
        for axis in range(3):
            place, low, high = points[query, axis], tree.node_lower[axis, node], tree.node_upper[axis, node]
            near += np.maximum(np.maximum(low - place, place - high), 0.0) ** 2
            far += np.maximum(np.abs(place - low), np.abs(high - place)) ** 2
        bound = np.full(len(points), np.inf)
        np.minimum.at(bound, query, far)
        keep = near <= bound[query] * (1.0 + 1e-12)          # room for the rounding of both sums
        query, node = query[keep], node[keep]
        if len(node) and node[0] >= tree.leaves:
            return _sorted_pairs([np.stack([query, tree.order[node - tree.leaves]], axis=1)])
        query, node = np.concatenate([query, query]), np.concatenate([2 * node, 2 * node + 1])
        used = tree.node_lower[0, node] <= tree.node_upper[0, node]
        query, node = query[used], node[used]
    return _sorted_pairs([])


Frontier = tuple[IntArray, IntArray]


def _walk(a: BVH, b: BVH, prune: Callable[[IntArray, IntArray], Frontier]) -> IntArray:
    """Pairs of primitives that touch: both trees are walked down together, the deeper one alone at first."""
    root = np.ones(1, dtype=np.int64)
    stack: list[Frontier] = [(root, root)]
    found: list[IntArray] = []
    while stack:
        m, n = prune(*stack.pop())
        m, n = _touching((a.node_lower, a.node_upper), m, (b.node_lower, b.node_upper), n)
        if len(m) == 0:
            continue
        levels_a, levels_b = a.leaves // _level_start(m), b.leaves // _level_start(n)   # 2^(levels below)
        if levels_a == 1 and levels_b == 1:
            found.append(np.stack([a.order[m - a.leaves], b.order[n - b.leaves]], axis=1))
            continue
        if levels_a >= levels_b:
            m, n = np.concatenate([2 * m, 2 * m + 1]), np.concatenate([n, n])
        if levels_b >= levels_a:
            m, n = np.concatenate([m, m]), np.concatenate([2 * n, 2 * n + 1])
        stack.extend((m[i : i + CHUNK], n[i : i + CHUNK]) for i in range(0, len(m), CHUNK))
    return _sorted_pairs(found)


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


def _sorted_pairs(found: list[IntArray]) -> IntArray:
    """Chunks of pairs as one array (P, 2) in lexicographic order."""
    pairs: IntArray = np.concatenate([np.zeros((0, 2), dtype=np.int64), *found])
    if len(pairs) == 0:
        return pairs
    width = int(pairs[:, 1].max()) + 1
    first, second = np.divmod(np.sort(pairs[:, 0] * width + pairs[:, 1]), width)
    return np.stack([first, second], axis=1)


def _median_order(centres: FloatArray) -> IntArray:
    """Primitive per leaf (L,), -1 for none, by median splits of the longest side of `centres` (N, 3)."""
    count = len(centres)
    leaves = 1 << max(0, count - 1).bit_length()
    order: IntArray = np.full((1, leaves), -1, dtype=np.int64)
    order[0, :count] = np.arange(count)
    centres = np.nan_to_num(centres, posinf=0.0, neginf=0.0)                 # any place will do for these
    while order.shape[1] > 1:
        used = order >= 0
        place = centres[order]                                               # (nodes, leaves below, 3)
        low = np.where(used[:, :, None], place, np.inf).min(axis=1)
        high = np.where(used[:, :, None], place, -np.inf).max(axis=1)
        axis = np.argmax(0.5 * high - 0.5 * low, axis=1)
        key = np.where(used, np.take_along_axis(place, axis[:, None, None], axis=2)[:, :, 0], np.inf)
        order = np.take_along_axis(order, np.argsort(key, axis=1, kind="stable"), axis=1)
        order = order.reshape(2 * len(order), -1)
    return order.ravel()


def _fitted(order: IntArray, lower: FloatArray, upper: FloatArray) -> BVH:
    """Boxes of all nodes, from the leaves up."""
    leaves = len(order)
    node_lower = np.full((3, 2 * leaves), np.inf)
    node_upper = np.full((3, 2 * leaves), -np.inf)
    used = np.flatnonzero(order >= 0)
    node_lower[:, leaves + used] = lower[order[used]].T
    node_upper[:, leaves + used] = upper[order[used]].T
    level = leaves
    while level > 1:
        half = level // 2
        for boxes, merge in ((node_lower, np.fmin), (node_upper, np.fmax)):
            merge(boxes[:, level : 2 * level : 2], boxes[:, level + 1 : 2 * level : 2], out=boxes[:, half:level])
        level = half
    return BVH(order, node_lower, node_upper)
