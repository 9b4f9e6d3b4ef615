# SPDX-License-Identifier: GPL-3.0-or-later
"""A bounding volume hierarchy over the boxes of primitives: which boxes touch which.

The tree is a complete binary tree in heap order: the root is node 1, the children of node n are 2n and 2n + 1, and the
L leaves, L a power of two, are nodes L..2L - 1. A leaf holds one primitive; surplus leaves hold an empty box, which
touches nothing. The order of the leaves comes from splitting at the median of the longest side, level by level,
all nodes of a level at once. It is made once; `around` fits it to where its primitives are now, in O(L).

Boxes are closed: boxes that share no more than a face, an edge or a corner touch. There is no tolerance; who wants one
grows the boxes. A box with a nan touches nothing.

The searches are kernels: `kernels.numpy.trees` says how they go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current


@dataclass(frozen=True)
class BVH:
    """A tree over N boxes.

    Attributes:
        order (L,): primitive in each leaf, -1 in a surplus one.
        nodes (6, 2L) [m]: boxes of the nodes, lower corners above upper ones; column 0 is unused. How it lies in
            memory is the kernels' business.
    """

    order: IntArray
    nodes: FloatArray

    @property
    def box(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper corner (3,) [m] of all there is."""
        return self.nodes[:3, 1], self.nodes[3:, 1]

    @property
    def leaves(self) -> int:
        """L"""
        return len(self.order)

    @staticmethod
    def build(lower: FloatArray, upper: FloatArray) -> BVH:
        """A tree over the boxes lower, upper (N, 3) [m]."""
        order = median_order(lower, upper)
        return BVH(order, current().trees.fitted(order, lower, upper))

    def around(self, elements: IntArray, *positions: FloatArray) -> BVH:
        """The same tree over the boxes of its elements (N, k) over one or two positions (V, 3) [m]."""
        return BVH(self.order, current().trees.fitted_around(self.order, elements, positions[0], positions[-1]))


def element_boxes(elements: IntArray, *positions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Boxes (lower, upper), each (N, 3) [m], of elements (N, k) over one or two positions (V, 3) [m]."""
    lower, upper = current().trees.element_boxes(elements, positions[0], positions[-1])
    return lower, upper


def touching_boxes(tree: BVH, lower: FloatArray, upper: FloatArray) -> IntArray:
    """All (box, primitive) pairs (P, 2) that touch, boxes lower, upper (Q, 3) [m], in lexicographic order."""
    pairs: IntArray = current().trees.touching_boxes(tree.order, tree.nodes, lower, upper)
    return pairs


def median_order(lower: FloatArray, upper: FloatArray) -> IntArray:
    """Primitive per leaf (L,), -1 for none, of the boxes lower, upper (N, 3) [m]: the surplus leaves are the last.

    By median splits of the longest side of their centres.
    """
    centres = 0.5 * lower + 0.5 * upper
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
