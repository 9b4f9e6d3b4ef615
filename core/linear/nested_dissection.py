# SPDX-License-Identifier: GPL-3.0-or-later
"""Nested dissection: an order of elimination with O(n log n) numbers in the Cholesky factor of a sheet.

A plane through the middle of the vertices cuts the graph in two. The vertices on one side of the cut edges are a
separator: the rest has two parts without a common edge, and the separator is eliminated after both. Each part is cut
again, down to small leaves (George 1973). All parts of one depth are cut by the same few array operations, across their
longest axis, and the separators of several depths are eliminated together: a tree of fronts with `fan` children each,
of few and wide levels.

    front of a node   =  its own vertices, then its boundary: later vertices adjacent to its subtree
    sizes             O(sqrt(n / nodes of the level)) on a sheet, O(1) on a rope

All fronts of a level are padded to one size, so that a level is one batch of equal dense matrices for NumPy; compiled
kernels work on each front at its own size. The graph may be any: several pieces, loose edges, edges of many triangles.
Coordinates only determine the cuts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import FloatArray, IntArray
from ..description.topology import bodies
from ..kernels import current
from ..kernels.tuning import tuning


@dataclass(frozen=True)
class FrontLevel:
    """The fronts of one level of the tree.

    Attributes:
        nodes: number of fronts.
        own, boundary: rows of a front for its own vertices and for its boundary, padding included.
        vertices, node, row: (k,), vertices that are eliminated here, their front and their row in it.
        edges: (e,), numbers of the graph's edges that are assembled here.
        edge_node, edge_row, edge_column: (e,), their front, row and column.
        swapped: (e,), whether the edge's second end is the row.
        outer: (nodes, boundary), slots of the boundary's vertices in the padded vector, padded with the one past its
            end.
        parent_place: (parent nodes, fan, boundary), rows of the boundary in the parent's front, padded with a spare row
            past its last; empty in the root.
        start: first slot of this level in the padded vector, which has `own` slots per front.
    """

    nodes: int
    own: int
    boundary: int
    vertices: IntArray
    node: IntArray
    row: IntArray
    edges: IntArray
    edge_node: IntArray
    edge_row: IntArray
    edge_column: IntArray
    swapped: IntArray
    outer: IntArray
    parent_place: IntArray
    start: int


class NestedDissection:
    """The tree of fronts of a graph.

    Args:
        edges: (E, 2), every edge once, no loops.
        positions: (V, 3), which determine the cuts.
        blocks: whether the matrix has blocks instead of scalars.
        leaf: largest number of vertices of a part that is not cut; the value that suits the kernels if None.
        depths_per_level: number of successive cuts that are eliminated together; as suits the kernels if None.

    Attributes:
        levels: leaves first, root last.
        slots: length of the padded vector.
        slot: (V,), index of each vertex in it.
        fronts: the kernels of the backend that ran when the tree was made.
        plan: the tree as these kernels take it.
    """

    def __init__(self, edges: IntArray, positions: FloatArray, *, blocks: bool = False, leaf: int | None = None,
                 depths_per_level: int | None = None) -> None:
        self.fronts = current().multifrontal
        if leaf is None:
            leaf = tuning().block_leaf if blocks else tuning().scalar_leaf
        if depths_per_level is None:
            depths_per_level = tuning().depths_per_level
        self.vertex_count, self.edges = len(positions), edges
        self._fan = 2 ** depths_per_level
        depth = 0
        while leaf * 2 ** depth < self.vertex_count:
            depth += depths_per_level
        cut, part = _cut(edges, _in_a_row(edges, positions), depth)
        level = cut // depths_per_level                              # 0 is the root
        self._build(level, part >> (cut - level * depths_per_level), depth // depths_per_level)
        self.plan: Any = self.fronts.plan(self.levels, self.slots)

    @property
    def numbers(self) -> int:
        """Return the count of numbers in the factor of a scalar matrix."""
        return int(self.fronts.numbers(self.plan))

    def _build(self, level: IntArray, node: IntArray, root_depth: int) -> None:
        n = self.vertex_count
        order = np.lexsort((np.arange(n), node, -level))
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        a, b = self.edges[:, 0], self.edges[:, 1]
        swapped = rank[a] > rank[b]
        first, last = np.where(swapped, b, a), np.where(swapped, a, b)
        row = np.empty(n, dtype=np.int64)                            # row of a vertex in the front that eliminates it
        self.slot: IntArray = np.empty(n, dtype=np.int64)
        start, carried = 0, np.zeros(0, dtype=np.int64)              # carried: keys (node, rank) of the level below
        parts = []
        for depth in range(root_depth, -1, -1):
            nodes = self._fan ** depth
            own = order[level[order] == depth]
            row[own], width = _places(node[own], nodes)
            width = max(width, 1)
            self.slot[own] = start + node[own] * width + row[own]
            here = np.flatnonzero(level[first] == depth)
            reached = np.unique(np.concatenate([carried, node[first[here]] * n + rank[last[here]]]))
            keys = reached[level[order[reached % n]] != depth]       # vertices that are not eliminated here, sorted
            holder, outer = keys // n, order[keys % n]
            place, boundary = _places(holder, nodes)
            far = level[last[here]] != depth
            column = row[last[here]]
            column[far] = width + place[np.searchsorted(keys, node[first[here[far]]] * n + rank[last[here[far]]])]
            parts.append((nodes, width, boundary, own, node[own], row[own].copy(), here, node[first[here]],
                          row[first[here]], column, swapped[here].astype(np.int64), holder, outer, place, keys, start))
            start += nodes * width
            carried = (holder // self._fan) * n + rank[outer]
        self.slots = start
        self.levels: list[FrontLevel] = []
        for number, part in enumerate(parts):
            nodes, width, boundary = part[:3]
            holder, outer, place = part[11:14]
            slots = np.full((nodes, boundary), self.slots)
            slots[holder, place] = self.slot[outer]
            above = parts[number + 1] if number + 1 < len(parts) else None
            up = np.zeros((0, self._fan, boundary), dtype=np.int64)
            if above is not None:
                depth = root_depth - number - 1
                target = row[outer]
                far = level[outer] != depth
                key = (holder[far] // self._fan) * n + rank[outer[far]]
                target[far] = above[1] + above[13][np.searchsorted(above[14], key)]
                up = np.full((nodes, boundary), above[1] + above[2])
                up[holder, place] = target
                up = up.reshape(above[0], self._fan, boundary)
            self.levels.append(FrontLevel(*part[:11], slots, up, part[15]))


def _places(groups: IntArray, count: int) -> tuple[IntArray, int]:
    """Return the position of each entry in its group, for sorted `groups` in 0..count, and the largest group's size."""
    sizes = np.bincount(groups, minlength=count)
    starts = np.cumsum(sizes) - sizes
    return np.arange(len(groups)) - starts[groups], int(sizes.max(initial=0))


def _in_a_row(edges: IntArray, positions: FloatArray) -> FloatArray:
    """Return the positions (V, 3) with the pieces of the graph side by side, so that a cut goes through one piece even
    where many sheets are in one place."""
    piece = bodies(edges, len(positions))
    count = int(piece.max(initial=0)) + 1
    if count == 1:
        return positions
    order = np.argsort(piece, kind="stable")
    starts = np.searchsorted(piece[order], np.arange(count))
    low, high = (reduce.reduceat(positions[order, 0], starts) for reduce in (np.minimum, np.maximum))
    width = high - low
    left = np.cumsum(width + width.mean()) - width
    result = positions.copy()
    result[:, 0] += (left - low)[piece]
    return result


def _cut(edges: IntArray, positions: FloatArray, depth: int) -> tuple[IntArray, IntArray]:
    """Return for every vertex the number of cuts before it was in a separator, `depth` if it never was, and its part.

    There are 2^cuts parts.
    """
    n = len(positions)
    part, cuts = np.zeros(n, dtype=np.int64), np.full(n, depth)
    a, b = edges[:, 0], edges[:, 1]
    for level in range(depth):
        alive = np.flatnonzero(cuts == depth)
        part[alive] = 2 * part[alive] + _upper_half(part[alive], positions[alive], 2 ** level)
        inside = np.flatnonzero((cuts[a] == depth) & (cuts[b] == depth))   # other edges are not cut any more
        a, b = a[inside], b[inside]
        crossing = part[a] != part[b]
        low = np.where(part[a] < part[b], a, b)[crossing]
        high = np.where(part[a] < part[b], b, a)[crossing]
        lows, highs = np.unique(low), np.unique(high)                       # take the smaller side as separator
        fewer = (np.bincount(part[lows] // 2, minlength=2 ** level)
                 <= np.bincount(part[highs] // 2, minlength=2 ** level))
        separator = np.concatenate([lows[fewer[part[lows] // 2]], highs[~fewer[part[highs] // 2]]])
        cuts[separator] = level
        part[separator] //= 2
    return cuts, part


def _upper_half(part: IntArray, x: FloatArray, parts: int) -> IntArray:
    """Return 1 for the half of each part that is further along the part's longest axis, 0 for the other half."""
    order = np.argsort(part, kind="stable")
    sizes = np.bincount(part, minlength=parts)
    starts, some = np.cumsum(sizes) - sizes, np.flatnonzero(sizes)
    extent = np.zeros((parts, 3))
    if len(some):
        extent[some] = (np.maximum.reduceat(x[order], starts[some])
                        - np.minimum.reduceat(x[order], starts[some]))
    along = x[np.arange(len(x)), np.argmax(extent, axis=1)[part]]
    order = np.lexsort((along, part))
    rank = np.empty(len(x), dtype=np.int64)
    rank[order] = np.arange(len(x)) - starts[part[order]]
    return (rank >= sizes[part] // 2).astype(np.int64)
