# SPDX-License-Identifier: GPL-3.0-or-later
"""The multifrontal Cholesky factor, compiled: every front of its own size, a tree of two children each.

With a front's own rows o and its boundary b, F = [F_oo F_ob; . F_bb],

    R^T R = F_oo,    X = R^-1,    M = X^T F_ob,    U = F_bb - M^T M   (added to the parent's front)

and A x = r is solved by t = X^T y_o, y_b -= M^T t from the leaves to the root, x_o = X (t - M x_b) back. Rows of R and
M are rows of one array, U is kept as its upper triangle; so one inner loop, of `tiles`, does nearly all of it.

Branches are independent, and so are the fronts of a level above them: whichever thread works on one, every number is
the same sum in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray, IntArray
from ..numpy.multifrontal import TINY
from .front_elimination import eliminate
from .front_solve import solve_fronts
from .gemm_tiles import CHUNK
from .options import INLINED, INNER, KERNEL
from .thread_pool import in_parts, lanes

SCALAR_SHAPE = (16, 1)
"""Vertices in a leaf and cuts eliminated together, for scalar matrices."""
BLOCK_SHAPE = (24, 1)
"""The same for 3x3 blocks."""
WORTH, IN_CONTACT = (15, 0.11), (13, 0.06)
"""Iterations of multigrid that are worth a direct solve on a sheet, the first + the second sqrt(vertices): where
nothing touches, and in contact, of which multigrid leaves more to second solves."""
LINE = 64
"""Bytes of a cache line: what is read across the end of one takes twice as long."""
LEAST = 50_000
"""Numbers in a factor worth another thread."""
BRANCHES, BRANCH = 16, 600
"""Branches of the tree that are eliminated side by side, at least, and the most vertices of one: its numbers should fit
the cache of a core."""


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
        self._updates: dict[Any, tuple[FloatArray, ...]] = {}

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


    def updates(self, w: int, working: Any, lanes: int) -> tuple[FloatArray, ...]:
        """Where fronts of blocks w x w leave U: for a level and for the one below it, and for each lane's branch."""
        room, key = self.room(w), (w, working, lanes)
        if key not in self._updates:                             # memory that is new costs more than what is done in it
            self._updates[key] = (aligned(room.largest, working), aligned(room.largest, working),
                                  aligned(lanes * room.branch, working).reshape(lanes, room.branch))
        return self._updates[key]


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


def aligned(size: int, dtype: Any) -> FloatArray:
    """Room for so many numbers that begins with a cache line."""
    room = np.empty(size * np.dtype(dtype).itemsize + LINE, dtype=np.uint8)
    begin = -room.ctypes.data % LINE
    return room[begin:len(room) - LINE + begin].view(dtype)


def plan(levels: Sequence[Any], slots: int) -> Plan:
    """What the kernels want to know of a tree of `FrontLevel`s."""
    return Plan(levels, slots)


def numbers(plan: Plan) -> int:
    """Numbers in the factor of a scalar matrix; padding to whole chunks not counted."""
    return int((plan.own * (plan.own + plan.boundary)).sum())


def factor(plan: Plan, diagonal: FloatArray, off_diagonal: FloatArray, working: Any, kept: Any, old: Any = None) -> Any:
    """The factor of diagonal (V, w, w) and off_diagonal (E, w, w): computed in the type `working`, kept in `kept`; in
    the place of the factor `old` of this plan, if given and of that type.

    Raises:
        ArithmeticError: the matrix is not positive definite.
    """
    w = diagonal.shape[1]
    room, split = plan.room(w), plan.split
    size = int(room.at[-1]) + CHUNK
    values = old if old is not None and old.dtype == working and len(old) == size else aligned(size, working)
    values[-CHUNK:] = 0.0
    updates, below, rooms = plan.updates(w, working, lanes.get() if size > LEAST else 1)
    tree = (plan.first, plan.own, plan.boundary, plan.starts, plan.run_starts, room.stride, room.at, room.update,
            plan.vertices, plan.runs, plan.edges, plan.fan, np.ascontiguousarray(diagonal),
            np.ascontiguousarray(off_diagonal), working(TINY[working]), values, room.scratch)
    fine = np.ones(len(plan.own), dtype=np.bool_)
    for level in range(split, len(plan.first) - 1):
        rooms = rooms[:plan.first[level + 1] - plan.first[level]]        # not more lanes than branches
        in_parts(_branches, [(lane, lane + 1) for lane in range(len(rooms))], 0 if level == split else level, level,
                 *tree, updates, below, rooms, fine)
        if not fine.all():
            raise ArithmeticError("the matrix is not positive definite")
        updates, below = below, updates
    return values.astype(kept, copy=False)


def memory(factor: Any) -> int:
    """Size of a factor [bytes]."""
    return int(factor.nbytes)


def solve(plan: Plan, factor: Any, r: FloatArray, scale: float, size: float) -> FloatArray:
    """size P^-1 r / scale for r (V, w, columns), of which `scale` is the largest number."""
    room = plan.room(r.shape[1])
    result = np.empty_like(r)
    z = np.empty(plan.starts[2, -1] * r.shape[1] * r.shape[2] + CHUNK, dtype=factor.dtype)
    solve_fronts(len(factor), plan.first, plan.own, plan.boundary, plan.starts, room.stride, room.at, plan.parent,
                 plan.vertices, plan.places, plan.fan, int(room.stride.max()), factor, r, scale, size,
                 factor.dtype.type(TINY[factor.dtype.type]), z, result)
    return result


@njit(**INNER)
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
    cleared = 0
    for child in range(first_child, first_child + children):
        skip = own[child] * w % CHUNK                            # of a row of U, before its first column
        length = stride[child] - own[child] * w + skip
        last = run_starts[child + 1]
        for first in range(run_starts[child], last):
            for i in range(w * runs[first, 0], w * (runs[first, 0] + runs[first, 2])):
                row = w * (runs[first, 1] - runs[first, 0]) + i
                _clear(values, updates, base, n, rest, size, o, cleared, row + 1)     # rows that are about to be read
                cleared = max(cleared, row + 1)
                top = given[child] + i * length + skip
                target, line = values, base + row * n
                if row >= o:
                    target, line = updates, rest + (row - o) * size - skipped
                for run in range(first, last):
                    a = max(w * runs[run, 0], i)
                    to = u(line + w * (runs[run, 1] - runs[run, 0]) + a)
                    source = u(top + a)
                    count = u(w * (runs[run, 0] + runs[run, 2]) - a)
                    for j in range(count):
                        target[to + j] += below[source + j]
        _clear(values, updates, base, n, rest, size, o, cleared, o + b)
        cleared = o + b
    _clear(values, updates, base, n, rest, size, o, cleared, o + b)
    for row in range(own[front]):
        vertex = vertices[starts[0, front] + row]
        for i in range(w):
            for j in range(i, w):
                values[base + (w * row + i) * n + w * row + j] += diagonal[vertex, i, j]
    for e in range(starts[3, front], starts[3, front + 1]):
        number, row, column, swapped = edges[e, 0], edges[e, 1], edges[e, 2], edges[e, 3]
        for i in range(w):
            for j in range(w):
                place = base + (w * row + i) * n + w * column + j
                values[place] += off_diagonal[number, j, i] if swapped else off_diagonal[number, i, j]


@njit(**INLINED)
def _clear(values, updates, base, n, rest, size, o, begin, end):  # type: ignore[no-untyped-def]
    """Zeros in rows begin..end - 1 of a front, from the chunk on that the row's diagonal is in."""
    u = np.uintp
    for i in range(begin, min(end, o)):
        for j in range(u(base + i * n + i - i % CHUNK), u(base + (i + 1) * n)):
            values[j] = 0.0
    for i in range(max(begin, o), end):
        line = rest + (i - o) * size
        for j in range(u(line + i - i % CHUNK - (o - o % CHUNK)), u(line + size)):
            updates[j] = 0.0


@njit(**KERNEL)
def _branches(begin, end, bottom, crown, first, own, boundary, starts, run_starts,  # type: ignore[no-untyped-def]
              stride, at, update, vertices, runs, edges, fan, diagonal, off_diagonal, tiny, values, scratch, updates,
              below, rooms, fine):
    """The branches of levels bottom to crown that fall to lanes begin..end - 1, children before parents: U stays in a
    row of `rooms`, which fits the cache, but that of the crown goes to `updates`, and those of a level under the bottom
    are in `below`. Which fronts are positive definite goes to `fine`."""
    w, lanes, count = diagonal.shape[1], len(rooms), first[crown + 1] - first[crown]
    fronts, wide = 0, 1                                                  # of a branch
    for _ in range(bottom, crown + 1):
        fronts += wide
        wide *= fan
    for lane in range(begin, end):
        done = np.zeros(crown + 1, dtype=np.int64)                       # of each level, fronts of this branch
        for step in range(lane * count // lanes * fronts, (lane + 1) * count // lanes * fronts):
            if step % fronts == 0:
                done[:] = 0
            level = crown                                                # the first from above whose children are done
            while level > bottom and done[level - 1] < fan * (done[level] + 1):
                level -= 1
            number = step // fronts * fan ** (crown - level) + done[level]
            front, child = first[level] + number, (first[level - 1] + number * fan) if level else 0
            done[level] += 1
            target, place = (updates, update) if level == crown else (rooms[lane], scratch)
            source, given = (below, update) if level == bottom else (rooms[lane], scratch)
            _assemble(front, child, fan if level else 0, own, boundary, starts, run_starts, stride, at, place, given,
                      vertices, runs, edges, diagonal, off_diagonal, values, target, source)
            fine[front] = eliminate(values, at[front], stride[front], own[front] * w,
                                    (own[front] + boundary[front]) * w, target, place[front], tiny)
