# SPDX-License-Identifier: GPL-3.0-or-later
"""The multifrontal Cholesky factor, compiled: every front of its own size, a tree of two children each.

With a front's own rows o and its boundary b, F = [F_oo F_ob; . F_bb],

    R^T R = F_oo,    X = R^-1,    M = X^T F_ob,    U = F_bb - M^T M   (added to the parent's front)

and A x = r is solved by t = X^T y_o, y_b -= M^T t from the leaves to the root, x_o = X (t - M x_b) back. Rows of R and
M are rows of one array, U is kept as its upper triangle; so the one inner loop of `dense_rows` does nearly all of it.

Fronts of a level are independent, the rows of the large ones too: whichever thread works on one, every number is
the same sum in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit, prange

from ...arrays import FloatArray
from .dense_rows import eliminate, eliminate_panel, eliminate_rest, invert
from .front_solve import solve_fronts

SCALAR_SHAPE = (16, 1)
"""Vertices in a leaf and cuts eliminated together, for scalar matrices."""
BLOCK_SHAPE = (12, 1)
"""The same for 3x3 blocks."""
SHARED_ROWS = 200
"""Fronts with more rows than this left are eliminated by all threads together, where a level has few of them."""
FEW = 4
"""Fronts of a level below which it has few."""
LANES = 8
"""Parts that the rows of a large front are dealt out in."""


def plan(levels: Sequence[Any], slots: int) -> Any:
    """What the kernels want to know of a tree, as arrays without padding.

    Of every front, leaves first: own and boundary (F,), how many vertices; starts (5, F + 1) of its vertices, places,
    its part of a local vector, its numbers and its edges; parent (F,); update (F,), where its U begins among those of
    its level. Of its boundary: place, rows in the parent's front. Of its edges: number, row, column, swapped (e, 4).
    """
    fronts = sum(level.nodes for level in levels)
    first = np.cumsum([0, *(level.nodes for level in levels)])
    own = np.concatenate([np.bincount(level.node, minlength=level.nodes) for level in levels])
    boundary = np.concatenate([(level.outer < slots).sum(axis=1) for level in levels])
    parent, update = np.full(fronts, -1), np.zeros(fronts, dtype=np.int64)
    places, edges, edge_counts = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 4), dtype=np.int64)], []
    fan = 1
    for number, level in enumerate(levels):
        here = np.arange(first[number], first[number + 1])
        update[here] = np.cumsum(boundary[here] ** 2) - boundary[here] ** 2
        if number + 1 < len(levels):
            above = levels[number + 1]
            fan = level.nodes // above.nodes
            parent[here] = first[number + 1] + np.arange(level.nodes) // fan
            place = level.parent_place.reshape(level.nodes, -1)
            place = np.where(place < above.own, place, place - above.own + own[parent[here]][:, None])
            places.append(place[np.arange(place.shape[1]) < boundary[here][:, None]])
        column = np.where(level.edge_column < level.own, level.edge_column,
                          level.edge_column - level.own + own[here][level.edge_node])
        order = np.argsort(level.edge_node, kind="stable")
        edges.append(np.column_stack([level.edges, level.edge_row, column, level.swapped])[order])
        edge_counts.append(np.bincount(level.edge_node, minlength=level.nodes))
    sizes = [own, boundary, own + boundary, own * (own + boundary), np.concatenate(edge_counts)]
    starts = np.zeros((5, fronts + 1), dtype=np.int64)
    starts[:, 1:] = np.cumsum(sizes, axis=1)
    room = max((int((boundary[a:b] ** 2).sum()) for a, b in zip(first[:-1], first[1:], strict=True)), default=0)
    return (first, own, boundary, starts, parent, update, np.concatenate([level.vertices for level in levels]),
            np.concatenate(places), np.concatenate(edges), fan, room)


def numbers(plan: Any) -> int:
    """Numbers in the factor of a scalar matrix."""
    return int(plan[3][3, -1])


def factor(plan: Any, diagonal: FloatArray, off_diagonal: FloatArray, working: Any, kept: Any) -> Any:
    """The factor of diagonal (V, w, w) and off_diagonal (E, w, w): computed in the type `working`, kept in `kept`.

    Raises:
        ArithmeticError: the matrix is not positive definite.
    """
    *arrays, room = plan
    w = diagonal.shape[1]
    values = np.empty(numbers(plan) * w * w, dtype=working)
    updates = np.empty((2, room * w * w), dtype=working)
    if not _factor(*arrays, np.ascontiguousarray(diagonal), np.ascontiguousarray(off_diagonal), values, updates[0],
                   updates[1]):
        raise ArithmeticError("the matrix is not positive definite")
    return values.astype(kept, copy=False)


def memory(factor: Any) -> int:
    """Size of a factor [bytes]."""
    return int(factor.nbytes)


def solve(plan: Any, factor: Any, r: FloatArray, scale: float) -> FloatArray:
    """P^-1 r for r (V, w, columns), of which `scale` is the largest number."""
    first, own, boundary, starts, parent, _, vertices, places, _, fan, _ = plan
    result = np.empty_like(r)
    z = np.empty(starts[2, -1] * r.shape[1] * r.shape[2], dtype=factor.dtype)
    solve_fronts(first, own, boundary, starts, parent, vertices, places, fan, factor, r, scale, z, result)
    return result


@njit(cache=True, error_model="numpy")
def _assemble(front, first_child, children, own, boundary, starts, update,  # type: ignore[no-untyped-def]
              vertices, places, edges, diagonal, off_diagonal, values, updates, below):
    """A front's rows in `values` and its upper triangle of F_bb in `updates`: zero, A's blocks, the children's U."""
    w = diagonal.shape[1]
    o, b = own[front] * w, boundary[front] * w
    n = o + b
    base, rest = starts[3, front] * w * w, update[front] * w * w
    values[base:base + o * n] = 0.0
    updates[rest:rest + b * b] = 0.0
    for row in range(own[front]):
        vertex = vertices[starts[0, front] + row]
        for i in range(w):
            for j in range(i, w):
                values[base + (w * row + i) * n + w * row + j] = diagonal[vertex, i, j]
    for e in range(starts[4, front], starts[4, front + 1]):
        number, row, column, swapped = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
        for i in range(w):
            for j in range(w):
                at = base + (w * row + i) * n + w * column + j
                values[at] = off_diagonal[number, j, i] if swapped else off_diagonal[number, i, j]
    for child in range(first_child, first_child + children):
        size = boundary[child] * w
        place = places[starts[1, child]:starts[1, child + 1]]
        at = np.empty(size, dtype=np.int64)
        for i in range(size):
            at[i] = w * place[i // w] + i % w
        given = update[child] * w * w
        for i in range(size):
            if at[i] < o:
                line = base + at[i] * n
                for j in range(i, size):
                    values[line + at[j]] += below[given + i * size + j]
            else:
                line = rest + (at[i] - o) * b - o
                for j in range(i, size):
                    updates[line + at[j]] += below[given + i * size + j]


@njit(cache=True, parallel=True, error_model="numpy")
def _factor(first, own, boundary, starts, parent, update, vertices, places,  # type: ignore[no-untyped-def]
            edges, fan, diagonal, off_diagonal, values, even, odd):
    w = diagonal.shape[1]
    fine = np.ones(len(own), dtype=np.bool_)
    for level in range(len(first) - 1):
        a, count = first[level], first[level + 1] - first[level]
        children = fan if level else 0
        under = first[level - 1] if level else 0
        updates, below = (odd, even) if level % 2 else (even, odd)
        if count >= FEW:
            for node in prange(count):
                front = a + node
                _assemble(front, under + node * children, children, own, boundary, starts, update, vertices, places,
                          edges, diagonal, off_diagonal, values, updates, below)
                fine[front] = eliminate(values, starts[3, front] * w * w, (own[front] + boundary[front]) * w,
                                        own[front] * w, updates, update[front] * w * w)
        else:
            for node in range(count):
                front = a + node
                _assemble(front, under + node * children, children, own, boundary, starts, update, vertices, places,
                          edges, diagonal, off_diagonal, values, updates, below)
                o, base, rest = own[front] * w, starts[3, front] * w * w, update[front] * w * w
                n = o + boundary[front] * w
                for k in range(0, o, 8):
                    end = min(k + 8, o)
                    fine[front] &= eliminate_panel(values, base, n, k, end)
                    if n - end > SHARED_ROWS:
                        for lane in prange(LANES):
                            eliminate_rest(values, base, n, o, updates, rest, k, end, end + lane, LANES)
                    else:
                        eliminate_rest(values, base, n, o, updates, rest, k, end, end, 1)
                invert(values, base, n, o)
        if not fine.all():
            return False
    return True
