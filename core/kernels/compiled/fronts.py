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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

from ...arrays import FloatArray, IntArray
from .dense_rows import CHUNK, PANEL, eliminate, eliminate_panel, eliminate_rest, invert
from .front_solve import solve_fronts

SCALAR_SHAPE = (16, 1)
"""Vertices in a leaf and cuts eliminated together, for scalar matrices."""
BLOCK_SHAPE = (12, 1)
"""The same for 3x3 blocks."""
WORTH = (16, 0.1)
"""Iterations of multigrid that cost as much as a direct solve on a sheet: the first + the second sqrt(vertices)."""
SHARED_ROWS = 200
"""Fronts with more rows than this left are eliminated by all threads together, where a level has few of them."""
FEW = 4
"""Fronts of a level below which it has few."""
BRANCHES, BRANCH = 16, 600
"""Branches of the tree that are eliminated side by side, at least, and the most vertices of one: its numbers should fit
the cache of a core."""
LANES = 8
"""Parts that the rows of a large front are dealt out in."""


class Plan:
    """A tree as arrays without padding.

    Attributes:
        first (levels + 1,): number of each level's first front, leaves first; fan: children of a front;
        own, boundary (F,): vertices of every front; parent (F,);
        starts (4, F + 1): of a front's vertices, places, part of a local vector, and edges;
        vertices: eliminated, front by front; places: of a boundary's vertices in the parent's front;
        runs (.., 3): the same as pieces, first vertex of the boundary, place, length; run_starts (F + 1,);
        edges (.., 4): number, row, column, swapped.
    """

    def __init__(self, levels: Sequence[Any], slots: int) -> None:
        fronts = sum(level.nodes for level in levels)
        self.first = first = np.cumsum([0, *(level.nodes for level in levels)])
        self.own = own = np.concatenate([np.bincount(level.node, minlength=level.nodes) for level in levels])
        self.boundary = boundary = np.concatenate([(level.outer < slots).sum(axis=1) for level in levels])
        self.parent, self.fan = np.full(fronts, -1), 1
        places, edges, edge_counts = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 4), dtype=np.int64)], []
        for number, level in enumerate(levels):
            here = np.arange(first[number], first[number + 1])
            if number + 1 < len(levels):
                above = levels[number + 1]
                self.fan = level.nodes // above.nodes
                self.parent[here] = first[number + 1] + np.arange(level.nodes) // self.fan
                place = level.parent_place.reshape(level.nodes, -1)
                place = np.where(place < above.own, place, place - above.own + own[self.parent[here]][:, None])
                places.append(place[np.arange(place.shape[1]) < boundary[here][:, None]])
            column = np.where(level.edge_column < level.own, level.edge_column,
                              level.edge_column - level.own + own[here][level.edge_node])
            order = np.argsort(level.edge_node, kind="stable")
            edges.append(np.column_stack([level.edges, level.edge_row, column, level.swapped])[order])
            edge_counts.append(np.bincount(level.edge_node, minlength=level.nodes))
        self.starts = np.zeros((4, fronts + 1), dtype=np.int64)
        self.starts[:, 1:] = np.cumsum([own, boundary, own + boundary, np.concatenate(edge_counts)], axis=1)
        self.vertices = np.concatenate([level.vertices for level in levels])
        self.places, self.edges = np.concatenate(places), np.concatenate(edges)
        self.runs, self.run_starts = _runs(self.places, self.starts[1])
        split = len(levels) - 1
        wanted = max(BRANCHES, len(self.vertices) // BRANCH)
        while split > 0 and levels[split].nodes < wanted:
            split -= 1
        self.split = split
        self._rooms: dict[int, Room] = {}

    def room(self, w: int) -> Room:
        """Where the numbers of fronts of blocks w x w lie."""
        if w not in self._rooms:
            o, n = self.own * w, (self.own + self.boundary) * w
            stride = -(-n // CHUNK) * CHUNK
            at = np.concatenate([[0], np.cumsum(o * stride)])
            size = -(-self.boundary * w // 4) * 4 * (stride - o // CHUNK * CHUNK)
            update, scratch, largest, room = np.zeros_like(o), np.zeros_like(o), 0, 0
            for level, (a, b) in enumerate(zip(self.first[:-1], self.first[1:], strict=True)):
                if level < self.split:
                    most = int(size[a:b].max(initial=0))
                    scratch[a:b] = room + most * (np.arange(b - a) % self.fan)
                    room += most * self.fan
                else:
                    ends = np.cumsum(size[a:b])
                    update[a:b], largest = ends - size[a:b], max(largest, int(ends[-1]))
            self._rooms[w] = Room(stride, at, update, scratch, largest, room)
        return self._rooms[w]


@dataclass(frozen=True)
class Room:
    """stride (F,): numbers in a row of each front, whole chunks; at (F + 1,): where its own rows begin in the
    factor; update (F,): where its U begins among those of its level, of which all take `largest` at most; within a
    branch, scratch (F,): where it begins in the branch's `branch` numbers."""

    stride: IntArray
    at: IntArray
    update: IntArray
    scratch: IntArray
    largest: int
    branch: int


def _runs(places: IntArray, starts: IntArray) -> tuple[IntArray, IntArray]:
    """Places (n,) of the fronts' boundaries that begin at starts (F + 1,) as runs of successive ones."""
    new = np.ones(len(places), dtype=np.bool_)
    new[1:] = np.diff(places) != 1
    new[starts[:-1][starts[:-1] < len(places)]] = True
    begin = np.flatnonzero(new)
    front = np.searchsorted(starts, begin, side="right") - 1
    runs = np.column_stack([begin - starts[front], places[begin], np.diff(begin, append=len(places))])
    return runs, np.searchsorted(begin, starts)


def plan(levels: Sequence[Any], slots: int) -> Plan:
    """What the kernels want to know of a tree of `FrontLevel`s."""
    return Plan(levels, slots)


def numbers(plan: Plan) -> int:
    """Numbers in the factor of a scalar matrix; padding to whole chunks not counted."""
    return int((plan.own * (plan.own + plan.boundary)).sum())


def factor(plan: Plan, diagonal: FloatArray, off_diagonal: FloatArray, working: Any, kept: Any) -> Any:
    """The factor of diagonal (V, w, w) and off_diagonal (E, w, w): computed in the type `working`, kept in `kept`.

    Raises:
        ArithmeticError: the matrix is not positive definite.
    """
    room = plan.room(diagonal.shape[1])
    values = np.empty(int(room.at[-1]) + CHUNK, dtype=working)
    values[-CHUNK:] = 0.0
    updates = np.empty((2, room.largest), dtype=working)
    rooms = np.empty((get_num_threads(), room.branch), dtype=working)
    if not _factor(plan.first, plan.own, plan.boundary, plan.starts, plan.run_starts, room.stride, room.at,
                   room.update, room.scratch, plan.vertices, plan.runs, plan.edges, plan.fan, plan.split,
                   np.ascontiguousarray(diagonal), np.ascontiguousarray(off_diagonal), values, updates[0], updates[1],
                   rooms):
        raise ArithmeticError("the matrix is not positive definite")
    return values.astype(kept, copy=False)


def memory(factor: Any) -> int:
    """Size of a factor [bytes]."""
    return int(factor.nbytes)


def solve(plan: Plan, factor: Any, r: FloatArray, scale: float) -> FloatArray:
    """P^-1 r for r (V, w, columns), of which `scale` is the largest number."""
    room = plan.room(r.shape[1])
    result = np.empty_like(r)
    z = np.empty(plan.starts[2, -1] * r.shape[1] * r.shape[2] + CHUNK, dtype=factor.dtype)
    solve_fronts(plan.first, plan.own, plan.boundary, plan.starts, room.stride, room.at, plan.parent, plan.vertices,
                 plan.places, plan.fan, factor, r, scale, z, result)
    return result


@njit(cache=True, error_model="numpy")
def _assemble(front, first_child, children, own, boundary, starts, run_starts,  # type: ignore[no-untyped-def]
              stride, at, update, given, vertices, runs, edges, diagonal, off_diagonal, values, updates, below):
    """A front's rows in `values` and its upper triangle of F_bb in `updates`, at `update`: zero, A's blocks, and the
    children's U, which begin at `given` in `below`."""
    u = np.uintp
    w = diagonal.shape[1]
    o, b, n = own[front] * w, boundary[front] * w, stride[front]
    base, rest = at[front], update[front]
    skipped = o - o % CHUNK
    size = n - skipped
    values[base:base + o * n] = 0.0
    for i in range(o, o + b):
        line = rest + (i - o) * size
        for j in range(u(line + i - i % CHUNK - skipped), u(line + size)):
            updates[j] = 0.0
    for row in range(own[front]):
        vertex = vertices[starts[0, front] + row]
        for i in range(w):
            for j in range(i, w):
                values[base + (w * row + i) * n + w * row + j] = diagonal[vertex, i, j]
    for e in range(starts[3, front], starts[3, front + 1]):
        number, row, column, swapped = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
        for i in range(w):
            for j in range(w):
                place = base + (w * row + i) * n + w * column + j
                values[place] = off_diagonal[number, j, i] if swapped else off_diagonal[number, i, j]
    for child in range(first_child, first_child + children):
        skip = own[child] * w % CHUNK                            # of a row of U, before its first column
        length = stride[child] - own[child] * w + skip
        last = run_starts[child + 1]
        for first in range(run_starts[child], last):
            for i in range(w * runs[first, 0], w * (runs[first, 0] + runs[first, 2])):
                row = w * (runs[first, 1] - runs[first, 0]) + i
                top = given[child] + i * length + skip
                inner = row < o
                line = base + row * n if inner else rest + (row - o) * size - skipped
                for run in range(first, last):
                    a = max(w * runs[run, 0], i)
                    to = u(line + w * (runs[run, 1] - runs[run, 0]) + a)
                    source = u(top + a)
                    count = u(w * (runs[run, 0] + runs[run, 2]) - a)
                    if inner:
                        for j in range(count):
                            values[to + j] += below[source + j]
                    else:
                        for j in range(count):
                            updates[to + j] += below[source + j]


@njit(cache=True, error_model="numpy")
def _branch(top, first, level_of_top, fan, own, boundary, starts, run_starts,  # type: ignore[no-untyped-def]
            stride, at, update, scratch, vertices, runs, edges, diagonal, off_diagonal, values, updates, room):
    """The fronts under and with `top`, children before parents: U stays in `room`, which fits the cache, and that of
    `top` goes to `updates`. Whether all of them are positive definite."""
    w = diagonal.shape[1]
    done = np.zeros(level_of_top + 1, dtype=np.int64)            # of each level, fronts of this branch
    fine = True
    for _ in range(_fronts_below(level_of_top, fan)):
        level = level_of_top                                     # the first from above whose children are done
        while level > 0 and done[level - 1] < fan * (done[level] + 1):
            level -= 1
        wide = fan ** (level_of_top - level)
        number = top * wide + done[level]
        front, child = first[level] + number, (first[level - 1] + number * fan) if level else 0
        done[level] += 1
        target = updates if level == level_of_top else room
        _assemble(front, child, fan if level else 0, own, boundary, starts, run_starts, stride, at,
                  update if level == level_of_top else scratch, scratch, vertices, runs, edges, diagonal,
                  off_diagonal, values, target, room)
        fine &= eliminate(values, at[front], stride[front], own[front] * w, (own[front] + boundary[front]) * w,
                          target, update[front] if level == level_of_top else scratch[front])
    return fine


@njit(cache=True, error_model="numpy")
def _fronts_below(level, fan):  # type: ignore[no-untyped-def]
    """Fronts of a branch."""
    count, wide = 0, 1
    for _ in range(level + 1):
        count += wide
        wide *= fan
    return count


@njit(cache=True, parallel=True, error_model="numpy")
def _factor(first, own, boundary, starts, run_starts, stride, at, update, scratch,  # type: ignore[no-untyped-def]
            vertices, runs, edges, fan, split, diagonal, off_diagonal, values, even, odd, rooms):
    w = diagonal.shape[1]
    fine = np.ones(len(own), dtype=np.bool_)
    lanes, branches = len(rooms), first[split + 1] - first[split]
    start = odd if split % 2 else even
    few = min(FEW, lanes)
    for lane in prange(lanes):
        for top in range(lane * branches // lanes, (lane + 1) * branches // lanes):
            fine[first[split] + top] = _branch(top, first, split, fan, own, boundary, starts, run_starts, stride, at,
                                               update, scratch, vertices, runs, edges, diagonal, off_diagonal, values,
                                               start, rooms[lane])
    if not fine.all():
        return False
    for level in range(split + 1, len(first) - 1):
        a, count = first[level], first[level + 1] - first[level]
        under = first[level - 1]
        updates, below = (odd, even) if level % 2 else (even, odd)
        if count >= few:
            for node in prange(count):
                front = a + node
                _assemble(front, under + node * fan, fan, own, boundary, starts, run_starts, stride, at, update,
                          update, vertices, runs, edges, diagonal, off_diagonal, values, updates, below)
                fine[front] = eliminate(values, at[front], stride[front], own[front] * w,
                                        (own[front] + boundary[front]) * w, updates, update[front])
        else:
            for node in range(count):
                front = a + node
                _assemble(front, under + node * fan, fan, own, boundary, starts, run_starts, stride, at, update,
                          update, vertices, runs, edges, diagonal, off_diagonal, values, updates, below)
                o, n, base, rest = own[front] * w, stride[front], at[front], update[front]
                all_rows = o + boundary[front] * w
                done = 0
                while done < o:
                    end = done + ((o - done) % PANEL or PANEL)
                    fine[front] &= eliminate_panel(values, base, n, done, end)
                    if all_rows - end > SHARED_ROWS:
                        for part in prange(LANES):
                            eliminate_rest(values, base, n, o, all_rows, updates, rest, done, end, end + 4 * part,
                                           4 * LANES)
                    else:
                        eliminate_rest(values, base, n, o, all_rows, updates, rest, done, end, end, 4)
                    done = end
                invert(values, base, n, o)
        if not fine.all():
            return False
    return True
