# SPDX-License-Identifier: GPL-3.0-or-later
"""The multifrontal Cholesky factor: every front has its own size, and the tree is binary.

With a front's own rows o and its boundary b, F = [F_oo F_ob; . F_bb],

    R^T R = F_oo,    X = R^-1,    M = X^T F_ob,    U = F_bb - M^T M   (added to the parent's front)

and A x = r is solved by t = X^T y_o, y_b -= M^T t from the leaves to the root, then x_o = X (t - M x_b) from the root
to the leaves. Rows of R and M are rows of one array, and U is stored as its upper triangle; so one inner loop, in
`gemm_tiles`, does nearly all of the work.

Branches of the tree are independent, and so are the fronts of each level above them: every number is the same sum in
the same order, whichever thread computes it. NumPy pads the fronts of a level to one size, and
stores inverses instead of triangles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..numpy.multifrontal import TINY
from .front_elimination import eliminate
from .front_solve import BRANCHES, solve_fronts
from .gemm_tiles import CHUNK
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL, MAKING
from .parallel_loop import share_parts
from .thread_pool import LEAST_UPDATES, PARTS_PER_THREAD, run_together, thread_limit

CACHE_LINE = 64
"""Size of a cache line [bytes]: to read a vector across the end of one takes twice as long."""
BRANCH_VERTICES = 600
"""Largest mean number of vertices in a branch of the tree [-]: its numbers should fit into a core's cache."""


class Plan:
    """The tree of a nested dissection as arrays without padding, with workspaces for its factors.

    Attributes:
        first: (levels + 1,), number of each level's first front, leaves first.
        fan: children of a front.
        own, boundary, parent: (F,), number of own and of boundary vertices of every front, and its parent.
        starts: (4, F + 1), where a front's vertices, places, part of a solve's vector, and edges begin.
        vertices: in the order of elimination, front by front.
        places: of the vertices of each boundary in the parent's front.
        runs, run_starts: (.., 3), (F + 1,), the same as runs: first vertex of the boundary, place, length.
        edges: (.., 4), number, row, column, swapped.
        split: level at which branches that are worked on in parallel begin.
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
        wanted = max(BRANCHES, len(self.vertices) // BRANCH_VERTICES)
        while split > 0 and levels[split].nodes < wanted:
            split -= 1
        self.split = split
        self._layouts: dict[int, FrontLayout] = {}               # by width of blocks
        self._workspaces: dict[Any, tuple[FloatArray, ...]] = {}

    def layout(self, w: int) -> FrontLayout:
        """Return where the numbers of fronts of blocks w x w are."""
        if w not in self._layouts:
            o, n = self.own * w, (self.own + self.boundary) * w
            stride = -(-n // CHUNK) * CHUNK
            at = np.concatenate([[0], np.cumsum(o * stride)])
            size = -(-self.boundary * w // 4) * 4 * (stride - o // CHUNK * CHUNK)
            update, scratch, largest, branch = np.zeros_like(o), np.zeros_like(o), 0, 0
            for level, (a, b) in enumerate(zip(self.first[:-1], self.first[1:], strict=True)):
                if level < self.split:
                    most = int(size[a:b].max(initial=0))
                    scratch[a:b] = branch + most * (np.arange(b - a) % self.fan)
                    branch += most * self.fan
                else:
                    ends = np.cumsum(size[a:b])
                    update[a:b], largest = ends - size[a:b], max(largest, int(ends[-1]))
            self._layouts[w] = FrontLayout(stride, at, update, scratch, largest, branch)
        return self._layouts[w]

    def workspace(self, w: int, working: Any, parts: int) -> tuple[FloatArray, ...]:
        """Return memory for U of fronts of blocks w x w: of a level, of the level below, and of a branch for each part.

        It is kept, because the first write to new memory takes longer than the computation.
        """
        layout, key = self.layout(w), (w, working, parts)
        if key not in self._workspaces:
            self._workspaces[key] = (aligned(layout.largest, working), aligned(layout.largest, working),
                                     aligned(parts * layout.branch, working).reshape(parts, layout.branch))
        return self._workspaces[key]


@dataclass(frozen=True)
class FrontLayout:
    """Places of the numbers of all fronts in the factor and in the workspaces.

    Attributes:
        stride: (F,), numbers in a row of each front, in whole chunks.
        at: (F + 1,), where a front's own rows begin in the factor.
        update: (F,), where its U begins in the numbers of its level.
        scratch: (F,), where its U begins in the numbers of its branch.
        largest: most numbers of U in a level.
        branch: numbers of U in a branch.
    """

    stride: IntArray
    at: IntArray
    update: IntArray
    scratch: IntArray
    largest: int
    branch: int


def _runs(places: IntArray, starts: IntArray) -> tuple[IntArray, IntArray]:
    """Return places (n,) of the fronts' boundaries, which begin at starts (F + 1,), as runs of successive places."""
    new = np.ones(len(places), dtype=np.bool_)
    new[1:] = np.diff(places) != 1
    new[starts[:-1][starts[:-1] < len(places)]] = True
    begin = np.flatnonzero(new)
    front = np.searchsorted(starts, begin, side="right") - 1
    runs = np.column_stack([begin - starts[front], places[begin], np.diff(begin, append=len(places))])
    return runs, np.searchsorted(begin, starts)


def aligned(size: int, dtype: Any) -> FloatArray:
    """Return an uninitialised array of `size` numbers that begins at a cache line."""
    room = np.empty(size * np.dtype(dtype).itemsize + CACHE_LINE, dtype=np.uint8)
    begin = -room.ctypes.data % CACHE_LINE
    return room[begin:len(room) - CACHE_LINE + begin].view(dtype)


def plan(levels: Sequence[Any], slots: int) -> Plan:
    """Return a tree of `FrontLevel`s as the functions of this module take it."""
    return Plan(levels, slots)


def numbers(plan: Plan) -> int:
    """Return the count of numbers in the factor of a scalar matrix, without the padding to whole chunks."""
    return int((plan.own * (plan.own + plan.boundary)).sum())


def factor(plan: Plan, diagonal: FloatArray, off_diagonal: FloatArray, working: Any, kept: Any, old: Any = None) -> Any:
    """Return the factor of diagonal (V, w, w) and off_diagonal (E, w, w), computed in `working`, kept in `kept`.

    Both are types of numbers. It overwrites the factor `old` of this plan, if given and of the type `working`.

    Raises:
        ArithmeticError: the matrix is not positive definite.
    """
    w = diagonal.shape[1]
    layout, split = plan.layout(w), plan.split
    size = int(layout.at[-1]) + CHUNK
    values = old if old is not None and old.dtype == working and len(old) == size else aligned(size, working)
    values[-CHUNK:] = 0.0
    threads = min(thread_limit.get(), size // LEAST_UPDATES)
    updates, below, branches = plan.workspace(w, working, PARTS_PER_THREAD * threads if threads > 1 else 1)
    if not run_together(_factor, threads, split, plan.first, plan.own, plan.boundary, plan.starts, plan.run_starts,
                        layout.stride, layout.at, layout.update, plan.vertices, plan.runs, plan.edges, plan.fan,
                        np.ascontiguousarray(diagonal), np.ascontiguousarray(off_diagonal), working(TINY[working]),
                        values, layout.scratch, updates, below, branches):
        raise ArithmeticError("the matrix is not positive definite")
    return values.astype(kept, copy=False)


def memory(factor: Any) -> int:
    """Return the size of a factor [bytes]."""
    return int(factor.nbytes)


def solve(plan: Plan, factor: Any, r: FloatArray, scale: float, size: float) -> FloatArray:
    """Return size P^-1 r / scale for r (V, w, columns), whose largest absolute value is `scale`."""
    result = np.empty_like(r)
    tree, last = solve_arguments(plan, factor, r.shape[1], r.shape[2])
    solve_fronts(len(factor), *tree, factor, r, scale, size, *last, result)
    return result


def solve_arguments(plan: Plan, factor: Any, w: int, columns: int) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return arguments of `solve_all` for r (V, w, columns): those from `first` to `widest`, and `tiny` and `z`."""
    layout = plan.layout(w)
    z = np.empty(plan.starts[2, -1] * w * columns + CHUNK, dtype=factor.dtype)
    return ((plan.first, plan.own, plan.boundary, plan.starts, layout.stride, layout.at, plan.parent, plan.vertices,
             plan.places, plan.fan, int(layout.stride.max())), (factor.dtype.type(TINY[factor.dtype.type]), z))


@njit(**INNER)
def _assemble(front, first_child, children, own, boundary, starts, run_starts,  # type: ignore[no-untyped-def]
              stride, at, update, given, vertices, runs, edges, diagonal, off_diagonal, values, updates, below):
    """Assemble a front: its own rows in `values`, and the upper triangle of F_bb in `updates`, at `update`.

    They are the sum of A's blocks and of the children's U, which begin at `given` in `below`.
    """
    u = np.uintp
    w = diagonal.shape[1]
    o, b, n = own[front] * w, boundary[front] * w, stride[front]
    base, rest = at[front], update[front]
    skipped = o - o % CHUNK
    size = n - skipped
    cleared = 0
    for child in range(first_child, first_child + children):
        skip = own[child] * w % CHUNK                            # numbers of a row of U before its first column
        length = stride[child] - own[child] * w + skip
        last = run_starts[child + 1]
        for first in range(run_starts[child], last):
            for i in range(w * runs[first, 0], w * (runs[first, 0] + runs[first, 2])):
                row = w * (runs[first, 1] - runs[first, 0]) + i
                _clear(values, updates, base, n, rest, size, o, cleared, row + 1)     # rows that are written next
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
    """Set rows begin..end - 1 of a front to zero, from the chunk of the row's diagonal on."""
    u = np.uintp
    for i in range(begin, min(end, o)):
        for j in range(u(base + i * n + i - i % CHUNK), u(base + (i + 1) * n)):
            values[j] = 0.0
    for i in range(max(begin, o), end):
        line = rest + (i - o) * size
        for j in range(u(line + i - i % CHUNK - (o - o % CHUNK)), u(line + size)):
            updates[j] = 0.0


@njit(**KERNEL)
def _factor(team, threads, split, first, own, boundary, starts, run_starts, stride,  # type: ignore[no-untyped-def]
            at, update, vertices, runs, edges, fan, diagonal, off_diagonal, tiny, values, scratch, updates, below,
            branches):
    """Eliminate the whole tree, with the arguments of `_branches`; return whether all fronts are positive definite.

    First the branches, then the levels above them one after the other, each in as many parts as there is memory for.
    """
    fine = np.ones(len(own), dtype=np.bool_)
    for level in range(split, len(first) - 1):
        lanes = min(len(branches), first[level + 1] - first[level])
        share_parts(team, threads, lanes, lanes, _branches,
                    (lanes, 0 if level == split else level, level, first, own, boundary, starts, run_starts, stride, at,
                     update, vertices, runs, edges, fan, diagonal, off_diagonal, tiny, values, scratch, updates, below,
                     branches, fine))
        for front in range(first[level + 1]):
            if not fine[front]:
                return False
        updates, below = below, updates
    return True


@njit(**MAKING)
def _branches(begin, end, lanes, bottom, crown, first, own, boundary, starts, run_starts,  # type: ignore[no-untyped-def]
              stride, at, update, vertices, runs, edges, fan, diagonal, off_diagonal, tiny, values, scratch, updates,
              below, branches, fine):
    """Eliminate parts begin..end - 1 of `lanes` of the branches of levels bottom to crown, children before parents.

    U stays in a row of `branches`, which fits into the cache; U of the crown goes to `updates`, and U of the level
    under the bottom is in `below`. `fine` gets which fronts are positive definite.
    """
    w, count = diagonal.shape[1], first[crown + 1] - first[crown]
    fronts, wide = 0, 1                                                  # in a branch
    for _ in range(bottom, crown + 1):
        fronts += wide
        wide *= fan
    for lane in range(begin, end):
        done = np.zeros(crown + 1, dtype=np.int64)                       # fronts of this branch, per level
        for step in range(lane * count // lanes * fronts, (lane + 1) * count // lanes * fronts):
            if step % fronts == 0:
                done[:] = 0
            level = crown                                                # the highest one whose children are done
            while level > bottom and done[level - 1] < fan * (done[level] + 1):
                level -= 1
            number = step // fronts * fan ** (crown - level) + done[level]
            front, child = first[level] + number, (first[level - 1] + number * fan) if level else 0
            done[level] += 1
            target, place = (updates, update) if level == crown else (branches[lane], scratch)
            source, given = (below, update) if level == bottom else (branches[lane], scratch)
            _assemble(front, child, fan if level else 0, own, boundary, starts, run_starts, stride, at, place, given,
                      vertices, runs, edges, diagonal, off_diagonal, values, target, source)
            fine[front] = eliminate(values, at[front], stride[front], own[front] * w,
                                    (own[front] + boundary[front]) * w, target, place[front], tiny)
