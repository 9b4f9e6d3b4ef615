# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve with the factor of `multifrontal`: forward substitution up the tree, back substitution down the tree.

Every front has a vector, its own rows first, then its boundary, column after column. On the way up a front adds the
vectors of its children's boundaries; on the way down it reads its boundary from its parent. No front writes to numbers
that another one reads, so that branches of the tree are solved in parallel.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .gemm_tiles import CHUNK
from .kernel_cache import njit
from .options import INNER, KERNEL, MAKING
from .parallel_loop import share_parts
from .row_products import ROWS_ADDED, ROWS_DOTTED, add_rows, dot_rows, flushed
from .thread_pool import LEAST_SUMMANDS, run_together

BRANCHES = 16
"""Fewest branches of the tree that are worked on in parallel [-]."""


@njit(**INNER)
def _up(front, first_child, children, own, boundary, starts, stride, begins, vertices,  # type: ignore[no-untyped-def]
        places, values, r, by, tiny, z, y, sums, rest):
    """Compute t = X^T y of a front, and y_b - M^T t for its parent."""
    u = np.uintp                                     # an unsigned index needs no test for negative values
    w, columns = r.shape[1], r.shape[2]
    o, b = own[front] * w, boundary[front] * w
    n, line, base = o + b, stride[front], begins[front]
    wide, left = (o + CHUNK - 1) // CHUNK * CHUNK, o - o % CHUNK         # end of X, and begin of M
    vertex, place = u(starts[u(0), front]), u(starts[u(1), u(first_child)])
    for c in range(u(columns)):
        mine = u(starts[u(2), front] * w * columns) + c * u(n)
        for row in range(u(own[front])):
            for a in range(u(w)):
                y[u(w) * row + a] = r[u(vertices[vertex + row]), a, c] * by
        for j in range(u(o), u(n)):
            y[j] = 0.0
        given_place = place
        for child in range(u(first_child), u(first_child + children)):
            skip, size = own[child], u(boundary[child])
            given = u((starts[u(2), child] * columns + skip) * w) + c * u((skip + boundary[child]) * w)
            for j in range(size):
                at = u(w) * u(places[given_place + j])
                for a in range(u(w)):
                    y[at + a] += z[given + u(w) * j + a]
            given_place += size
        for j in range(u(line)):
            sums[j] = 0.0
            rest[j] = 0.0
        for start in range(0, o, CHUNK):                                 # all products with a chunk of rows at once
            end = min(start + CHUNK, o)
            for i in range(start, end, ROWS_ADDED):
                add_rows(sums, start, (wide - start) // CHUNK, y, i, values, base + i * line + start, line,
                         min(ROWS_ADDED, end - i))
            for i in range(u(start), u(end)):
                sums[i] = flushed(tiny, sums[i])
            for i in range(start, end if b else start, ROWS_ADDED):
                add_rows(rest, left, (line - left) // CHUNK, sums, i, values, base + i * line + left, line,
                         min(ROWS_ADDED, end - i))
        for i in range(u(o)):
            z[mine + i] = sums[i]
        for j in range(u(o), u(n)):
            z[mine + j] = y[j] - rest[j]


@njit(**INNER)
def _down(front, own, boundary, starts, stride, begins, parent, vertices,  # type: ignore[no-untyped-def]
          places, values, z, size, tiny, result, y, rest):
    """Compute x = X (t - M x_b) of a front."""
    u = np.uintp
    w, columns = result.shape[1], result.shape[2]
    o, b = own[front] * w, boundary[front] * w
    n, line, base, above = o + b, stride[front], begins[front], parent[front]
    wide, left = (o + CHUNK - 1) // CHUNK * CHUNK, o - o % CHUNK
    vertex, place = u(starts[u(0), front]), u(starts[u(1), front])
    for c in range(u(columns)):
        mine = u(starts[u(2), front] * w * columns) + c * u(n)
        for j in range(u(line)):
            rest[j] = 0.0
            y[j] = 0.0
        if b:
            theirs = u(starts[u(2), above] * w * columns) + c * u((own[above] + boundary[above]) * w)
            for j in range(u(boundary[front])):
                at = theirs + u(w) * u(places[place + j])
                for a in range(u(w)):
                    rest[u(o) + u(w) * j + a] = z[at + a]
            for j in range(u(o), u(n)):
                z[mine + j] = rest[j]
        for start in range(wide - CHUNK, -CHUNK, -CHUNK):                # x_i needs y_i and the numbers after it
            end = min(start + CHUNK, o)
            for i in range(start, end, ROWS_DOTTED):
                count = min(ROWS_DOTTED, end - i)
                products = dot_rows(values, base + i * line + left, line, count, rest, left,
                                    (line - left) // CHUNK if b else 0)
                for k in range(u(count)):
                    y[u(i) + k] = z[mine + u(i) + k] - products[k]
            for i in range(start, end, ROWS_DOTTED):
                count = min(ROWS_DOTTED, end - i)
                products = dot_rows(values, base + i * line + start, line, count, y, start, (wide - start) // CHUNK)
                for k in range(u(count)):
                    z[mine + u(i) + k] = flushed(tiny, products[k])
        for row in range(u(own[front])):
            for a in range(u(w)):
                result[u(vertices[vertex + row]), a, c] = z[mine + u(w) * row + a] * size


def solve_fronts(numbers: int, *tree: Any) -> None:
    """Solve up and down the whole tree.

    numbers: count of numbers in the factor. tree: the last arguments of `solve_all`, from `first` on.
    """
    run_together(solve_all, numbers // LEAST_SUMMANDS, *tree)


@njit(**KERNEL)
def solve_all(team, threads, first, own, boundary, starts, stride, begins, parent,  # type: ignore[no-untyped-def]
               vertices, places, fan, widest, values, r, scale, size, tiny, z, result):
    """Solve up and down the tree: first the branches, then the levels above them one after the other, and back.

    Fronts of a level are worked on in parallel where the level has `LEAST_SUMMANDS` numbers.
    """
    levels = len(first) - 1
    split = levels - 1                                                   # level at which branches begin
    while split > 0 and first[split + 1] - first[split] < BRANCHES:
        split -= 1
    upward = True
    for step in range(2 * (levels - split)):
        level = split + min(step, 2 * (levels - split) - 1 - step)
        upward = step < levels - split
        count = first[level + 1] - first[level]
        bottom = 0 if level == split else level
        parts = count if begins[first[level + 1]] - begins[first[bottom]] > LEAST_SUMMANDS else 1
        share_parts(team, threads, parts, count, _solve,
                    (bottom, level, upward, first, own, boundary, starts, stride, begins, parent, vertices, places, fan,
                     widest, values, r, scale, size, tiny, z, result))


@njit(**MAKING)
def _solve(begin, end, bottom, crown, upward, first, own, boundary, starts, stride,  # type: ignore[no-untyped-def]
           begins, parent, vertices, places, fan, widest, values, r, scale, size, tiny, z, result):
    """Solve one part of the tree: up, or down, for size P^-1 r / scale with r (V, w, columns).

    The part is the fronts of levels bottom to crown that are below fronts begin..end - 1 of the crown. Down, the
    solution is written to `result`. first .. fan: the tree, as of `Plan`. widest: largest number of numbers in a row of
    a front. values: the factor. z: workspace for the vectors of all fronts. Numbers below `tiny` become zero.
    """
    count, by = first[crown + 1] - first[crown], 1.0 / scale
    y, sums, rest = np.empty(widest, z.dtype), np.empty(widest, z.dtype), np.empty(widest, z.dtype)
    for step in range(crown + 1 - bottom):
        level = bottom + step if upward else crown - step
        wide = (first[level + 1] - first[level]) // count
        for node in range(np.uintp(begin * wide), np.uintp(end * wide)):
            front = np.uintp(first[level]) + node
            if upward:
                _up(front, first[max(level - 1, 0)] + np.int64(node) * fan, fan if level else 0, own, boundary,
                    starts, stride, begins, vertices, places, values, r, by, tiny, z, y, sums, rest)
            else:
                _down(front, own, boundary, starts, stride, begins, parent, vertices, places, values, z,
                      size, tiny, result, y, rest)
